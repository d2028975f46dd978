"""The database is away, slow or of no use: jobs wait, what was done is kept, nobody is blamed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from messor.errors import UnavailableError
from messor.jobs import completion, jobs
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.jobs.runner import Runner, RunnerLimits
from messor.store import migrate
from messor.store.database import LOST_CONNECTION, Connection, Database
from messor.store.server import EmbeddedServer
from tests.jobs.test_runner import FAST, PATIENCE, ask, note, notes, running, until
from tests.moments import crash, somebody_waits


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """A server of this test's own, which may be killed."""
    made = EmbeddedServer(tmp_path)
    migrate.upgrade(made.acquire())
    yield made
    made.release()


@pytest.fixture
async def doomed(server: EmbeddedServer) -> AsyncIterator[Database]:
    async with Database(server.acquire(), pool_size=6) as opened:
        yield opened


class Work:
    """Jobs that wait for `go` before their effects."""

    def __init__(self) -> None:
        self.handlers, self.begun, self.go = Handlers(), 0, asyncio.Event()
        self.handlers.prepares("score")(self._score)

    async def _score(self, job: Job) -> Effects:
        self.begun += 1
        await self.go.wait()
        return lambda connection: note(connection, job)

    async def under_way(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.begun < count:  # noqa: ASYNC110 - counts have no event
                await asyncio.sleep(0.01)


async def test_jobs_under_way_outlast_a_crash_of_the_database(
    doomed: Database, server: EmbeddedServer
) -> None:
    """An outage longer than a write is usually tried: the work is done once, in one attempt."""
    work, away = Work(), asyncio.Event()

    async def repair() -> None:
        if not away.is_set():
            raise UnavailableError("not yet")
        await asyncio.to_thread(server.ensure_running)

    await ask(doomed, *"abcdef")
    runner = Runner(doomed, work.handlers, "runner", FAST, repair=repair)
    task = asyncio.create_task(runner.run())
    await work.under_way(6)
    await asyncio.to_thread(crash, server)
    work.go.set()
    await asyncio.sleep(1)
    assert not runner.outcomes
    assert not task.done()
    away.set()
    await until_open(doomed)
    await until(doomed, done=6)
    await ask(doomed, "g")
    await until(doomed, done=7)
    runner.stop()
    await asyncio.wait_for(task, PATIENCE)
    assert await notes(doomed) == list("abcdefg")
    assert (work.begun, runner.outcomes) == (7, {"done": 7})
    assert await doomed.fetchval("SELECT max(attempts) FROM messor.jobs") == 1


async def until_open(database: Database) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                await database.fetchval("SELECT 1")
            except LOST_CONNECTION:
                await asyncio.sleep(0.05)
            else:
                return


async def test_a_runner_stops_in_time_without_a_database(
    doomed: Database, server: EmbeddedServer
) -> None:
    work = Work()
    await ask(doomed, "a")
    runner = Runner(
        doomed, work.handlers, "runner", RunnerLimits(drain_seconds=0.1, poll_seconds=0.01)
    )
    task = asyncio.create_task(runner.run())
    await work.under_way(1)
    await asyncio.to_thread(crash, server)
    runner.stop()
    await asyncio.wait_for(task, PATIENCE)
    await asyncio.to_thread(server.ensure_running)
    await until_open(doomed)
    assert await jobs.counts(doomed) == {"score": {"running": 1}}  # until its lease runs out


async def test_a_database_that_hangs_is_waited_for(database: Database, dsn: str) -> None:
    """Nothing is claimed beyond the places there are, and all goes on when it answers again."""
    work = Work()
    await ask(database, *"abcdefgh")
    limits = RunnerLimits(concurrency=4, poll_seconds=0.01)
    async with running(database, work.handlers, limits) as runner:
        await work.under_way(4)
        async with Database(dsn) as other, other.transaction() as locking:
            await locking.execute("LOCK TABLE messor.jobs IN ACCESS EXCLUSIVE MODE")
            work.go.set()
            await somebody_waits(locking)
            assert (work.begun, runner.outcomes) == (4, {})
        await until(database, done=8)
    assert await notes(database) == list("abcdefgh")
    assert await database.fetchval("SELECT max(attempts) FROM messor.jobs") == 1


async def test_effects_that_fail_like_an_outage_are_not_tried_for_ever(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "WRITE_PAUSES", (0.001, 0.001))
    handlers = Handlers()

    @handlers.handles("score")
    async def score(connection: Connection, job: Job) -> Result:
        raise ConnectionResetError("a server of the handler's own")

    await ask(database, "a", max_attempts=1)
    async with running(database, handlers):
        await until(database, dead=1)
    assert await database.fetchval("SELECT dead_category FROM messor.jobs") == "network"
