"""A worker, or the relay of the outbox, to be run in a process of its own.

Its handlers record each job's effect as an event. Jobs of type `slow` wait until the file named
in their payload exists; those of type `failing` fail as often as theirs says; those of type
`poison` end their process when theirs says so.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from messor.jobs.broker.app import build_app
from messor.jobs.broker.options import Options
from messor.jobs.broker.publisher import Publisher
from messor.jobs.broker.relay import Relay
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.jobs.outcomes import Backoff
from messor.jobs.runner import Runner, RunnerLimits
from messor.ledger import events
from messor.ledger.events import Event
from messor.runtime.broker_thread import EngineSetup
from messor.runtime.broker_worker import run_celery_worker
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.store.session import Session


def build_handlers(given: dict[str, Any]) -> Handlers:
    handlers = Handlers()

    async def note(connection: Connection, job: Job) -> Result:
        await events.record(connection, [Event("jobs.requeued", job.dedupe_key)])
        return {"worker": given["name"]}

    async def slow(job: Job) -> Effects:
        while not os.path.exists(job.payload["file"]):  # noqa: ASYNC110, ASYNC240, PTH110 - a file has no event
            await asyncio.sleep(0.05)
        return lambda connection: note(connection, job)

    async def poison(job: Job) -> Effects:
        await asyncio.sleep(0.2)  # until the others have begun
        if job.payload["kills"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return lambda connection: note(connection, job)

    async def failing(connection: Connection, job: Job) -> Result:
        await note(connection, job)
        if job.attempts <= job.payload["times"]:
            raise RuntimeError("for now")
        return None

    special = {"slow": slow, "poison": poison}
    for job_type in given["job_types"]:
        if job_type in special:
            handlers.prepares(job_type)(special[job_type])
        else:
            handlers.handles(job_type)(failing if job_type == "failing" else note)
    return handlers


async def run_in_process(given: dict[str, Any], limits: RunnerLimits) -> None:
    async with Database(given["dsn"], pool_size=6) as database:
        runner = Runner(database, build_handlers(given), "runner", limits)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, runner.stop)
        Path(given["ready"]).touch()  # noqa: ASYNC240 - once
        await runner.run()


async def feed(given: dict[str, Any]) -> None:
    options = Options(**given["options"])
    async with Database(given["dsn"], pool_size=2) as database:
        relay = Relay(
            database,
            Publisher(build_app(options), options),
            given["name"],
            given["job_types"],
            options,
            repair=nothing,
        )
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, relay.stop)
        Path(given["ready"]).touch()  # noqa: ASYNC240 - once
        await relay.run()


async def nothing() -> None:
    """A given server is somebody else's to repair."""


def main(given: dict[str, Any]) -> None:
    sys.exit(work(given))


def relay(given: dict[str, Any]) -> None:
    asyncio.run(feed(given))


def work(given: dict[str, Any]) -> int:
    limits = RunnerLimits(
        concurrency=given["concurrency"],
        lease_seconds=given["lease_seconds"],
        poll_seconds=0.05,
        backoff=Backoff(0.1),
    )
    if given["options"] is None:
        asyncio.run(run_in_process(given, limits))
        return 0

    def compose(session: Session) -> EngineSetup:
        Path(given["ready"]).touch()
        return EngineSetup(build_handlers(given))

    settings = Settings(database_url=given["dsn"])
    return run_celery_worker(settings, compose, Options(**given["options"]), limits)
