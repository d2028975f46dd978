"""A worker, to be run in a process of its own.

Its handlers record each job's effect as an event. Jobs of type `slow` wait until the file named
in their payload exists.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from messor.ledger import events
from messor.ledger.events import Event
from messor.queue.broker.engine_thread import Crew
from messor.queue.broker.options import Options
from messor.queue.broker.worker import run_celery_worker
from messor.queue.handlers import Effects, Handlers, Result
from messor.queue.jobs import Job
from messor.queue.outcomes import Backoff
from messor.queue.runner import Limits, Runner
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.store.session import Session


def build_handlers(given: dict[str, Any]) -> Handlers:
    handlers = Handlers()

    async def note(connection: Connection, job: Job) -> Result:
        await events.record(connection, [Event("job.made", job.dedupe_key)])
        return {"worker": given["name"]}

    async def slow(job: Job) -> Effects:
        while not os.path.exists(job.payload["file"]):  # noqa: ASYNC110, ASYNC240, PTH110 - a file has no event
            await asyncio.sleep(0.05)
        return lambda connection: note(connection, job)

    for job_type in given["job_types"]:
        if job_type == "slow":
            handlers.prepares(job_type)(slow)
        else:
            handlers.handles(job_type)(note)
    return handlers


async def run_in_process(given: dict[str, Any], limits: Limits) -> None:
    async with Database(given["dsn"], pool_size=6) as database:
        runner = Runner(database, build_handlers(given), "runner", limits)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, runner.stop)
        Path(given["ready"]).touch()  # noqa: ASYNC240 - once
        await runner.run()


def main(given: dict[str, Any]) -> None:
    sys.exit(work(given))


def work(given: dict[str, Any]) -> int:
    limits = Limits(
        concurrency=given["concurrency"], lease_seconds=2.0, look_seconds=0.05, backoff=Backoff(0.1)
    )
    if given["options"] is None:
        asyncio.run(run_in_process(given, limits))
        return 0

    def compose(session: Session) -> Crew:
        Path(given["ready"]).touch()
        return Crew(build_handlers(given))

    settings = Settings(database_url=given["dsn"])
    return run_celery_worker(settings, compose, Options(**given["options"]), limits)
