"""The runner: effects and completion together, retries, draining, and what a crash leaves."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import asyncpg
import msgspec
import pytest

from messor.errors import UsageError
from messor.jobs import cancellation, jobs, leases
from messor.jobs.faults import JobError
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job, NewJob
from messor.jobs.outcomes import Backoff
from messor.jobs.runner import Runner, RunnerLimits
from messor.ledger import events
from messor.ledger.events import Event
from messor.runtime.stall import StallDetector
from messor.store.database import Connection, Database
from tests.jobs.conftest import Later

FAST = RunnerLimits(poll_seconds=0.01, backoff=Backoff(0.001))
PATIENCE = 60.0


async def ask(database: Database, *keys: str, **more: Any) -> None:
    async with database.transaction() as connection:
        await jobs.enqueue(connection, [NewJob("score", key, "domain", **more) for key in keys])


async def note(connection: Connection, job: Job) -> Result:
    """A handler's effect that can be counted."""
    await events.record(connection, [Event("domain.track_level_changed", job.dedupe_key)])
    return {"attempt": job.attempts}


async def notes(database: Database) -> list[str]:
    rows = await database.fetch("SELECT actor FROM messor.events ORDER BY actor")
    return [row["actor"] for row in rows]


async def until(database: Database, **wanted: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await jobs.counts(database)).get("score") != wanted:  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running(
    database: Database, handlers: Handlers, limits: RunnerLimits = FAST
) -> AsyncIterator[Runner]:
    runner = Runner(database, handlers, "runner", limits)
    task = asyncio.create_task(runner.run())
    try:
        yield runner
    finally:
        runner.stop()
        async with asyncio.timeout(PATIENCE):
            await task


async def test_jobs_are_done_with_their_effects(database: Database) -> None:
    handlers, keys = Handlers(), sorted(str(number) for number in range(50))
    handlers.handles("score")(note)
    await ask(database, *keys)
    async with running(database, handlers) as runner:
        await until(database, done=50)
    assert await notes(database) == keys
    assert runner.outcomes == {"done": 50}
    assert (
        await database.fetchval("SELECT result_json FROM messor.jobs LIMIT 1") == '{"attempt": 1}'
    )


async def test_slow_work_is_prepared_without_a_transaction(database: Database) -> None:
    handlers, busy, peak = Handlers(), 0, 0

    @handlers.prepares("score")
    async def score(job: Job) -> Effects:
        nonlocal busy, peak
        busy += 1
        peak = max(peak, busy)
        await asyncio.sleep(0.02)
        busy -= 1
        return lambda connection: note(connection, job)

    await ask(database, *"abcdefghijkl")
    async with running(database, handlers, RunnerLimits(concurrency=5, poll_seconds=0.01)):
        await until(database, done=12)
    assert peak == 5
    assert await notes(database) == list("abcdefghijkl")


async def test_a_failure_undoes_the_effects_and_is_tried_again(database: Database) -> None:
    handlers = Handlers()

    @handlers.handles("score")
    async def score(connection: Connection, job: Job) -> Result:
        await note(connection, job)
        if job.attempts < 3:
            raise RuntimeError("half \x00 a \ud800 thing")
        return None

    await ask(database, "a")
    async with running(database, handlers) as runner:
        await until(database, done=1)
    assert await notes(database) == ["a"]
    assert runner.outcomes == {"queued": 2, "done": 1}
    logged = await database.fetch("SELECT * FROM messor.error_logs")
    assert [entry["error_message"] for entry in logged] == ["half  a \\ud800 thing"] * 2
    assert all("in score" in entry["stack_trace"] for entry in logged)


@pytest.mark.parametrize(
    "error, category, attempts",
    [
        (JobError("odd answer", category="parse"), "parse", 1),
        (JobError("busy", category="http"), "http", 2),
        (JobError("refused", category="blocked", retryable=False), "blocked", 1),
        (UsageError("no such unit"), "validation", 1),
        (ConnectionResetError("gone"), "network", 2),
        (TimeoutError("no answer in time"), "network", 2),
        (msgspec.DecodeError("the JSON ends early"), "parse", 1),
        (msgspec.ValidationError("a number where a text belongs"), "validation", 1),
        (asyncpg.DataError("a date out of range"), "validation", 1),
        (asyncpg.TooManyConnectionsError("busy"), "storage", 2),
        (KeyError("bug"), "internal", 2),
    ],
)
async def test_the_kind_of_error_decides_about_another_try(
    database: Database, error: Exception, category: str, attempts: int
) -> None:
    handlers = Handlers()

    @handlers.prepares("score")
    async def score(job: Job) -> Effects:
        raise error

    await ask(database, "a", max_attempts=2)
    async with running(database, handlers):
        await until(database, dead=1)
    logged = await database.fetch("SELECT category, error_type FROM messor.error_logs")
    assert [tuple(entry) for entry in logged] == [(category, type(error).__name__)] * attempts


async def test_what_the_database_cannot_store_is_a_dead_letter(database: Database) -> None:
    handlers = Handlers()

    @handlers.handles("score")
    async def score(connection: Connection, job: Job) -> Result:
        return {"text": "\x00"}

    await ask(database, "a")
    async with running(database, handlers):
        await until(database, dead=1)
    assert await database.fetchval("SELECT category FROM messor.error_logs") == "validation"


async def test_a_cut_connection_repeats_the_effects_not_the_work(database: Database) -> None:
    handlers, prepared, written = Handlers(), 0, 0

    @handlers.prepares("score")
    async def score(job: Job) -> Effects:
        nonlocal prepared
        prepared += 1

        async def effects(connection: Connection) -> Result:
            nonlocal written
            written += 1
            await note(connection, job)
            if written == 1:
                mine = await connection.fetchval("SELECT pg_backend_pid()")
                await database.fetchval("SELECT pg_terminate_backend($1)", mine)
            return None

        return effects

    await ask(database, "a")
    async with running(database, handlers) as runner:
        await until(database, done=1)
    assert (prepared, written, runner.outcomes) == (1, 2, {"done": 1})
    assert await notes(database) == ["a"]


async def test_stop_lets_jobs_under_way_finish_and_claims_no_more(database: Database) -> None:
    handlers, begun, gate = Handlers(), asyncio.Event(), asyncio.Event()

    @handlers.prepares("score")
    async def score(job: Job) -> Effects:
        begun.set()
        await gate.wait()
        return lambda connection: note(connection, job)

    await ask(database, "a", "b")
    async with running(
        database, handlers, RunnerLimits(concurrency=1, poll_seconds=0.01)
    ) as runner:
        await begun.wait()
        runner.stop()
        await asyncio.sleep(0.05)
        gate.set()
    assert await jobs.counts(database) == {"score": {"done": 1, "queued": 1}}


async def test_a_drain_that_takes_too_long_gives_the_jobs_back(database: Database) -> None:
    handlers, begun = Handlers(), asyncio.Event()

    @handlers.prepares("score")
    async def score(job: Job) -> Effects:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    await ask(database, "a")
    async with running(database, handlers, RunnerLimits(drain_seconds=0.05)) as runner:
        await begun.wait()
    assert runner.outcomes == {"abandoned": 1}
    (job,) = await leases.claim(database, "other", ["score"], 1, 60)
    assert job.attempts == 1


async def test_a_cancelled_job_is_abandoned_at_the_next_heartbeat(database: Database) -> None:
    handlers, begun, ended = Handlers(), asyncio.Event(), asyncio.Event()

    @handlers.prepares("score")
    async def score(job: Job) -> Effects:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    await ask(database, "a")
    async with running(database, handlers, RunnerLimits(lease_seconds=3.0)) as runner:
        await begun.wait()
        async with database.transaction() as connection:
            ids = [row["id"] for row in await connection.fetch("SELECT id FROM messor.jobs")]
            await jobs.cancel(connection, ids)
        async with asyncio.timeout(PATIENCE):
            await ended.wait()
    assert runner.outcomes == {"abandoned": 1}
    assert await jobs.counts(database) == {"score": {"cancelled": 1}}


@pytest.mark.parametrize("is_deaf", [False, True])
async def test_a_job_that_never_returns_fails_and_the_others_go_on(
    database: Database, is_deaf: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancellation, "CANCEL_SECONDS", 0.01)
    handlers, released = Handlers(), asyncio.Event()

    @handlers.prepares("score", limit_seconds=0.05)
    async def score(job: Job) -> Effects:
        while job.dedupe_key == "stuck" and not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                if not is_deaf:
                    raise
        return lambda connection: note(connection, job)

    await ask(database, "stuck", max_attempts=2)
    await ask(database, *"abc")
    async with running(database, handlers, replace(FAST, concurrency=1)):
        await until(database, done=3, dead=1)
    released.set()
    logged = await database.fetch("SELECT error_message FROM messor.error_logs")
    assert [row["error_message"] for row in logged] == ["The job did not end within 0 s."] * 2
    assert await notes(database) == list("abc")


async def test_results_that_are_never_committed_are_noticed(database: Database) -> None:
    handlers, stuck = Handlers(), asyncio.Event()

    @handlers.handles("score")
    async def score(connection: Connection, job: Job) -> Result:
        stuck.set()
        return await asyncio.Event().wait()  # type: ignore[return-value]

    runner = Runner(database, handlers, "runner", replace(FAST, drain_seconds=0.01))
    runner.heartbeat.patience_seconds = 0.1
    detector = StallDetector(runner.heartbeat, database.responds, 0.05)
    task = asyncio.create_task(runner.run())
    await ask(database, "a")
    await stuck.wait()
    runner.heartbeat.end("renewing leases")  # beats every 20 s
    async with asyncio.timeout(PATIENCE):
        while (found := await detector.look()) is None:  # noqa: ASYNC110 - it is the look
            await asyncio.sleep(0.05)
    assert found.startswith("committing job ")
    runner.stop()
    await task


async def test_heartbeats_outlast_the_lease(database: Database) -> None:
    handlers = Handlers()

    @handlers.prepares("score")
    async def score(job: Job) -> Effects:
        await asyncio.sleep(4)
        return lambda connection: note(connection, job)

    await ask(database, "a")
    limits = RunnerLimits(lease_seconds=3.0, poll_seconds=0.01)
    async with running(database, handlers, limits), running(database, handlers, limits):
        await until(database, done=1)
    assert await database.fetchval("SELECT token FROM messor.jobs") == 1


CRASH = """
import asyncio, os, signal, sys
from messor.ledger import events
from messor.jobs import leases, outcomes
from messor.jobs.handlers import Handlers
from messor.jobs.runner import Runner
from messor.store.database import Database
from tests.jobs.conftest import Later

handlers = Handlers()

@handlers.handles("score")
async def score(connection, job):
    await events.record(connection, [events.Event("domain.track_level_changed", "crashed")])
    if sys.argv[2] == "completed":
        await outcomes.complete(connection, job)
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with Database(sys.argv[1]) as database:
        await Runner(database, handlers, "crashing").run()

asyncio.run(main())
"""


@pytest.mark.parametrize("stage", ["effects", "completed"])
async def test_a_process_killed_before_commit_leaves_neither_effects_nor_completion(
    database: Database, later: Later, stage: str
) -> None:
    await ask(database, "a")
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", CRASH, database.dsn, stage)
    assert await process.wait() == -signal.SIGKILL
    assert await notes(database) == []
    assert await jobs.counts(database) == {"score": {"running": 1}}
    handlers = Handlers()
    handlers.handles("score")(note)
    async with running(await later("61 seconds"), handlers):
        await until(database, done=1)
    assert await notes(database) == ["a"]
    assert await database.fetchval("SELECT attempts FROM messor.jobs") == 2


async def test_a_type_has_one_handler() -> None:
    handlers = Handlers()
    handlers.handles("score")(note)
    with pytest.raises(ValueError, match="score"):
        handlers.handles("score")(note)
    assert handlers.job_types == ["score"]
