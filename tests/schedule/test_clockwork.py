"""Processes that stand by and lead: killed, put to sleep, stopped; and a database that goes away."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from messor.schedule import clockwork as room
from messor.schedule import leader
from messor.schedule.clockwork import Clockwork
from messor.schedule.orchestrators import Orchestrator, Registry, RunPosition, StepResult
from messor.schedule.standard import standard_registry
from messor.settings import Settings
from messor.store import migrate
from messor.store.database import Connection, Database
from messor.store.server import EmbeddedServer
from tests.moments import crash
from tests.schedule.conftest import failing, history, ran, schedule_row
from tests.schedule.leading import LEASE_SECONDS
from tests.schedule.marks import counting

ROOT = Path(__file__).parents[2]
USUAL = (
    "O-Daily",
    "O-Sweeper",
    "O-Robots",
    "O-Audit",
    "O-Quality",
    "O-Domains",
    "O-Index",
    "O-Retention",
    "O-Rollup",
    "O-Refresh",
    "O-Parsers",
    "O-Classify",
    "O-Score",
    "O-Judge",
    "O-Candidates",
    "O-Keywords",
    "O-Exports",
    "O-Notices",
    "O-Seal",
    "O-Analytics",
    "O-Alerts",
)
PATIENCE = 120.0  # processes take long to start on a busy machine
Start = Callable[[str], Awaitable[asyncio.subprocess.Process]]


@asynccontextmanager
async def processes(dsn: str) -> AsyncIterator[Start]:
    async with AsyncExitStack() as ending:

        async def start(holder: str) -> asyncio.subprocess.Process:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.schedule.leading", dsn, holder, cwd=ROOT
            )
            ending.push_async_callback(_end, process)
            return process

        yield start


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
        await process.wait()


async def led(database: Database, holder: str | None = None, patience: float = PATIENCE) -> None:
    """Until somebody leads, or that one does."""
    async with asyncio.timeout(patience):
        while True:
            found = await leader.find(database)
            if found is not None and found.holder == (holder or found.holder):
                return
            await asyncio.sleep(0.02)


async def runs_of(database: Database, holder: str, count: int, patience: float = PATIENCE) -> None:
    """Until a process has run something so many times."""
    async with asyncio.timeout(patience):
        while True:
            done = [run for run in await history(database) if run["started_by"] == holder]
            if len(done) >= count:
                return
            await asyncio.sleep(0.02)


def never_twice(runs: list[dict[str, object]]) -> None:
    """Each due time was answered by one run that came to its end, and tokens only grow."""
    done = [run for run in runs if run["outcome"] == "ok"]
    assert len({run["due_at"] for run in done}) == len(done)
    tokens = [run["token"] for run in done]
    assert tokens == sorted(tokens, key=lambda token: int(str(token)))


async def is_once_each(database: Database) -> bool:
    """Whether each run that came to its end left its mark; of one moment, as a last one may come."""
    same: bool = await database.fetchval(
        """SELECT (SELECT count(*) FROM messor.events WHERE type = 'test.ran')
                = (SELECT count(*) FROM messor.schedule_runs WHERE outcome = 'ok')"""
    )
    return same


async def test_a_leader_that_is_killed_is_followed_by_another(dsn: str, database: Database) -> None:
    async with processes(dsn) as start:
        first = await start("first")
        await runs_of(database, "first", 2)
        second = await start("second")
        first.kill()
        await first.wait()
        expires_at = await database.fetchval("SELECT expires_at FROM messor.leaders")
        await runs_of(database, "second", 2)
        taken_at = await database.fetchval("SELECT taken_at FROM messor.leaders")
        assert taken_at >= expires_at  # not before the lease had run out
        assert second.returncode is None
    runs = await history(database)
    never_twice(runs)
    assert await is_once_each(database)


async def test_a_leader_that_was_asleep_wakes_up_and_stands_by(
    dsn: str, database: Database
) -> None:
    async with processes(dsn) as start:
        sleeper = await start("sleeper")
        await runs_of(database, "sleeper", 2)
        os.kill(sleeper.pid, signal.SIGSTOP)
        await start("watcher")
        await runs_of(database, "watcher", 2)
        before = [run for run in await history(database) if run["started_by"] == "sleeper"]
        os.kill(sleeper.pid, signal.SIGCONT)
        await runs_of(database, "watcher", 5)
        after = [run for run in await history(database) if run["started_by"] == "sleeper"]
        assert before == after
        assert sleeper.returncode is None  # it stands by
        await led(database, "watcher")
    runs = await history(database)
    never_twice(runs)
    assert await is_once_each(database)


async def test_a_leader_that_is_stopped_makes_room_at_once(dsn: str, database: Database) -> None:
    async with processes(dsn) as start:
        first = await start("first")
        await runs_of(database, "first", 1)
        await start("second")
        first.terminate()
        assert await first.wait() == 0
        await led(database, "second")
        taken_at, expires_at = await database.fetchval(
            "SELECT (taken_at, expires_at) FROM messor.leaders"
        )
        assert (expires_at - taken_at).total_seconds() >= LEASE_SECONDS
    never_twice(await history(database))


async def test_a_database_that_is_killed_comes_back_and_the_schedule_goes_on(
    tmp_path: Path,
) -> None:
    server = EmbeddedServer(tmp_path)
    dsn = await asyncio.to_thread(server.acquire)
    stop = asyncio.Event()
    try:
        await asyncio.to_thread(migrate.upgrade, dsn)

        async def repair() -> None:
            await asyncio.to_thread(server.ensure_running)

        async with Database(dsn) as database, Database(dsn) as looking:
            registry = Registry(counting(cadence="@every 1s"))
            work = Clockwork(database, registry, stop, repair=repair, holder="h")
            running = asyncio.create_task(work.run())
            await runs_of(looking, "h", 2)
            await asyncio.to_thread(crash, server)
            await asyncio.to_thread(server.ensure_running)
            await runs_of(looking, "h", 5)
            stop.set()
            await asyncio.wait_for(running, PATIENCE)
            never_twice(await history(looking))
    finally:
        await asyncio.to_thread(server.release)


async def test_connections_that_are_cut_cost_nothing_but_time(dsn: str, database: Database) -> None:
    cut = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()"""
    stop = asyncio.Event()
    async with Database(dsn) as own:
        work = Clockwork(own, Registry(counting(cadence="@every 1s")), stop, holder="h")
        running = asyncio.create_task(work.run())
        for count in (1, 2, 3):
            await runs_of(database, "h", count)
            async with database.connection() as connection:
                await connection.fetch(cut)
        await runs_of(database, "h", 5)
        stop.set()
        await asyncio.wait_for(running, PATIENCE)
    runs = await history(database)
    never_twice(runs)
    assert await is_once_each(database)


def interrupted(stop: asyncio.Event) -> Orchestrator:
    """A long one that is told to stop in its second step."""

    async def step(connection: Connection, place: RunPosition) -> StepResult:
        if place.chore == 1:
            stop.set()
        await connection.execute("INSERT INTO messor.events (type, actor) VALUES ('test.ran', 'x')")
        return StepResult({"ran": 1}, RunPosition(place.chore + 1) if place.chore < 5 else None)

    return Orchestrator("O-Long", "takes many steps", "@every 1s", step)


async def test_a_run_that_is_stopped_ends_between_steps_and_stays_due(database: Database) -> None:
    stop = asyncio.Event()
    work = Clockwork(database, Registry(interrupted(stop)), stop, holder="h")
    await asyncio.wait_for(work.run(), PATIENCE)
    (run,) = await history(database)
    assert (run["outcome"], run["detail"]) == ("interrupted", '{"ran": 2}')
    assert await ran(database) == 2
    row = await schedule_row(database, "O-Long")
    assert row["next_run_at"] <= run["started_at"]
    again = Clockwork(database, Registry(interrupted(asyncio.Event())), asyncio.Event(), holder="i")
    await again.turn()
    assert await ran(database) == 8


def stubborn(times: int) -> Orchestrator:
    """One whose statement is cancelled a few times before it gets through."""
    tries = itertools.count()

    async def step(connection: Connection, _: RunPosition) -> StepResult:
        await connection.execute("INSERT INTO messor.events (type, actor) VALUES ('test.ran', 'x')")
        if next(tries) < times:
            await connection.execute("SET LOCAL statement_timeout = 5")
            await connection.execute("SELECT pg_sleep(60)")
        return StepResult({"ran": 1})

    return Orchestrator("O-Test", "gets through in the end", "@every 1s", step)


@pytest.mark.parametrize("times, outcome, marks", [(2, "ok", 1), (9, "failed", 0)])
async def test_a_step_that_met_another_is_tried_again_but_not_for_ever(
    database: Database, times: int, outcome: str, marks: int
) -> None:
    work = Clockwork(database, Registry(stubborn(times)), asyncio.Event(), holder="h")
    await work.turn()
    await database.fetch("UPDATE messor.schedules SET next_run_at = messor.clock()")
    await work.turn()
    assert [run["outcome"] for run in await history(database)] == [outcome]
    assert await ran(database) == marks


async def test_a_schema_that_is_missing_for_a_while_is_waited_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LOST_SECONDS", 0.05)
    await database.fetch("ALTER TABLE messor.leaders RENAME TO elsewhere")
    stop = asyncio.Event()
    work = Clockwork(database, Registry(counting(cadence="@every 1s")), stop, holder="h")
    running = asyncio.create_task(work.run())
    await asyncio.sleep(0.2)
    assert not running.done()
    await database.fetch("ALTER TABLE messor.elsewhere RENAME TO leaders")
    await runs_of(database, "h", 1)
    stop.set()
    await asyncio.wait_for(running, PATIENCE)


async def test_the_orchestrators_of_this_release_run_together(database: Database) -> None:
    registry = standard_registry(Settings())
    assert sorted(orchestrator.name for orchestrator in registry) == sorted(USUAL)
    registry.register(failing("O-SERP", RuntimeError("no engine")))
    work = Clockwork(database, registry, asyncio.Event(), holder="h")
    await work.turn()
    await database.fetch("UPDATE messor.schedules SET next_run_at = messor.clock()")
    await work.turn()
    outcomes = {run["name"]: run["outcome"] for run in await history(database)}
    assert outcomes == {**dict.fromkeys(USUAL, "ok"), "O-SERP": "failed"}


async def test_told_to_stop_it_makes_room(database: Database) -> None:
    work = Clockwork(database, standard_registry(Settings()), asyncio.Event())
    running = asyncio.create_task(work.run())
    await led(database)
    work.stop()
    await asyncio.wait_for(running, PATIENCE)
    found = await leader.find(database)
    assert found is not None
    assert not found.leads
