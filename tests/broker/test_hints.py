"""A runner that follows hints: places, urgency, and what it does without a broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from messor.jobs.broker.hints import Hints
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.jobs.runner import Runner, RunnerLimits
from messor.ledger import events
from messor.ledger.events import Event
from messor.store.database import Connection, Database
from tests.broker.conftest import PATIENCE, QUICK, ask, made, until, until_so


class Bench:
    """A runner with two places, whose slow jobs wait for `go`."""

    def __init__(self, database: Database) -> None:
        self.go = asyncio.Event()
        handlers = Handlers()
        handlers.handles("score")(self._note)
        handlers.prepares("slow")(self._slow)
        limits = RunnerLimits(concurrency=2, drain_seconds=PATIENCE)
        self.hints = Hints(handlers.job_types, QUICK)
        self.runner = Runner(database, handlers, "worker", limits, job_source=self.hints)

    async def _note(self, connection: Connection, job: Job) -> Result:
        await events.record(connection, [Event("jobs.requeued", job.dedupe_key)])
        return None

    async def _slow(self, job: Job) -> Effects:
        await self.go.wait()
        return lambda connection: self._note(connection, job)


@pytest.fixture
async def bench(database: Database) -> AsyncIterator[Bench]:
    made_up = Bench(database)
    made_up.hints.set_hinted(True)
    running = asyncio.create_task(made_up.runner.run())
    yield made_up
    made_up.runner.stop()
    async with asyncio.timeout(PATIENCE):
        await running


async def test_a_hint_takes_the_most_urgent_job_of_its_type(
    database: Database, bench: Bench
) -> None:
    await ask(database, "later", priority=7)
    await ask(database, "first", priority=1)
    await ask(database, "another", job_type="slow", priority=1)
    assert await bench.hints.take("score", PATIENCE)
    await until(database, done=1, queued=2)
    assert await made(database) == ["first"]
    # The commit is seen before the runner hears of it.
    await until_so(lambda: bench.runner.outcomes == {"done": 1})
    assert bench.hints.counts == {"hinted": 1}


async def test_a_hint_at_nothing_is_followed_too(database: Database, bench: Bench) -> None:
    assert await bench.hints.take("score", PATIENCE)
    assert bench.hints.counts["hinted"] == 0


async def test_hints_wait_for_a_place_and_then_go_elsewhere(
    database: Database, bench: Bench
) -> None:
    await ask(database, *"abc", job_type="slow")
    assert await asyncio.gather(*(bench.hints.take("slow", PATIENCE) for _ in range(2))) == [
        True,
        True,
    ]
    assert not await bench.hints.take("slow", 0.05)
    waiting = asyncio.create_task(bench.hints.take("slow", PATIENCE))
    bench.go.set()
    assert await waiting
    await until(database, done=3)


async def test_without_the_broker_jobs_are_found(database: Database, bench: Bench) -> None:
    await ask(database, *"abcde")
    bench.hints.set_hinted(False)
    await until(database, done=5)
    assert bench.hints.counts["found"] == 5


async def test_a_stopped_runner_sends_hints_elsewhere(database: Database, bench: Bench) -> None:
    await ask(database, *"abc", job_type="slow")
    for _ in range(2):
        assert await bench.hints.take("slow", PATIENCE)
    waiting = asyncio.create_task(bench.hints.take("slow", PATIENCE))
    await asyncio.sleep(0)
    bench.runner.stop()
    assert not await waiting
    assert not await bench.hints.take("slow", PATIENCE)
    bench.go.set()
    await until(database, done=2, queued=1)
