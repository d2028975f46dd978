"""A Celery worker whose only task hands hints to the process's engine and returns.

A message is acknowledged once the lease is taken in PostgreSQL, so no broker time limit applies to
the work itself. While the broker is unavailable the engine polls for jobs.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from typing import Any

from celery import Celery, bootsteps, signals
from celery.exceptions import Reject
from celery.worker import state
from celery.worker.consumer.tasks import Tasks

from messor.core.logs import configure_logs
from messor.jobs.broker.app import build_app, queue_of, register
from messor.jobs.broker.options import Options
from messor.jobs.runner import RunnerLimits
from messor.runtime.broker_thread import POOL_SIZE, Compose, EngineThread, NewLoop
from messor.settings import Settings

REFUSED_SECONDS = 1.0  # the broker may redeliver a hint immediately, and would forever


def run_celery_worker(
    settings: Settings,
    compose: Compose,
    options: Options,
    limits: RunnerLimits | None = None,
    *,
    new_loop: NewLoop = asyncio.new_event_loop,
    connections: int = POOL_SIZE,
) -> int:
    """Work until SIGTERM or SIGINT; return the exit code. Runs in the main thread."""
    configure_logs(settings.log_level, settings.log_format, default="info")
    logging.getLogger("celery.app.trace").setLevel(logging.ERROR)  # a rejected hint is normal
    name = f"{socket.gethostname()}:{os.getpid()}"
    app = build_app(options)
    engine = EngineThread(
        settings,
        compose,
        options,
        limits=limits or RunnerLimits(),
        name=name,
        new_loop=new_loop,
        connections=connections,
    )
    for number in (signal.SIGTERM, signal.SIGINT):  # until Celery sets its own
        signal.signal(number, lambda *_: _stop(engine))
    job_types = engine.start()
    app.conf.task_queues = [queue_of(job_type, options) for job_type in job_types]
    _connect(app, engine)
    worker = app.Worker(
        hostname=f"messor-{os.getpid()}@{socket.gethostname()}",
        pool="threads",
        concurrency=options.threads,
        loglevel="WARNING",
        task_events=True,
        quiet=True,
    )
    try:
        worker.start()
    finally:
        engine.stop()
        engine.join()
    return int(worker.exitcode or 0)


def _connect(app: Celery, engine: EngineThread) -> None:
    """Connect Celery and the engine: hints, connection state, and the end of either."""

    def hint(job_id: str, job_type: str) -> None:  # noqa: ARG001 - shown by Flower
        if not engine.hand_over(job_type):
            time.sleep(REFUSED_SECONDS)
            raise Reject("no slot is free here", requeue=True)

    class BrokerIsThere(bootsteps.StartStopStep):  # type: ignore[misc] # Celery has no types
        """Started after each connect and stopped with each loss of the connection."""

        requires = (Tasks,)

        def start(self, consumer: Any) -> None:  # noqa: ARG002 - given by Celery
            engine.set_hinted(True)

        def stop(self, consumer: Any) -> None:  # noqa: ARG002 - given by Celery
            engine.set_hinted(False)

    def stop_engine(**_: Any) -> None:
        engine.stop()

    register(app, hint)
    app.steps["consumer"].add(BrokerIsThere)
    # A strong reference: nothing else holds one.
    signals.worker_shutting_down.connect(stop_engine, weak=False)
    engine.on_end = lambda: _stop(engine)


def _stop(engine: EngineThread) -> None:
    """Stop both; for Celery, as its own SIGTERM handler does."""
    state.should_stop = 0
    engine.stop()
