"""Many jobs in one transaction: still each for itself."""

from __future__ import annotations

import asyncio

from messor.jobs import jobs
from messor.jobs.handlers import Handlers, Result
from messor.jobs.jobs import Job
from messor.jobs.runner import RunnerLimits
from messor.store.database import Connection, Database
from tests.jobs.test_runner import FAST, ask, note, notes, running, until


async def test_jobs_that_are_ready_together_share_a_transaction(database: Database) -> None:
    handlers, transactions = Handlers(), set()

    @handlers.handles("score")
    async def score(connection: Connection, job: Job) -> Result:
        transactions.add(await connection.fetchval("SELECT pg_current_xact_id()::text"))
        return await note(connection, job)

    await ask(database, *(str(number) for number in range(32)))
    async with running(
        database, handlers, RunnerLimits(concurrency=32, poll_seconds=0.01)
    ) as runner:
        await until(database, done=32)
    assert len(transactions) < 32
    assert len(await notes(database)) == 32
    assert runner.outcomes == {"done": 32}


async def test_one_failure_in_a_batch_touches_no_other_job(database: Database) -> None:
    handlers = Handlers()

    @handlers.handles("score")
    async def score(connection: Connection, job: Job) -> Result:
        await note(connection, job)
        if job.dedupe_key in {"c", "f"}:
            await connection.execute("SELECT 1/0")
        return None

    await ask(database, *"abcdefgh", max_attempts=1)
    async with running(database, handlers) as runner:
        await until(database, done=6, dead=2)
    assert await notes(database) == list("abdegh")
    assert runner.outcomes == {"done": 6, "dead": 2}
    logged = await database.fetch("SELECT error_type FROM messor.error_logs")
    assert [row["error_type"] for row in logged] == ["DivisionByZeroError"] * 2


async def test_a_job_lost_before_its_batch_commits_leaves_no_effects(database: Database) -> None:
    handlers, ready = Handlers(), asyncio.Barrier(4)

    @handlers.prepares("score")
    async def score(job: Job):  # type: ignore[no-untyped-def]
        if job.dedupe_key == "b":
            async with database.transaction() as connection:
                await jobs.cancel(connection, [job.id])
        await ready.wait()
        return lambda connection: note(connection, job)

    await ask(database, *"abcd")
    async with running(database, handlers) as runner:
        await until(database, done=3, cancelled=1)
    assert await notes(database) == ["a", "c", "d"]
    assert runner.outcomes == {"done": 3, "lost": 1}


async def test_effects_that_end_their_own_job_are_undone(database: Database) -> None:
    handlers = Handlers()

    @handlers.handles("score")
    async def score(connection: Connection, job: Job) -> Result:
        await note(connection, job)
        if job.dedupe_key == "b":
            await jobs.cancel(connection, [job.id])
        return None

    await ask(database, "a", "b")
    async with running(database, handlers, FAST):
        async with asyncio.timeout(60):
            while await notes(database) != ["a"]:  # noqa: ASYNC110 - a database has no event
                await asyncio.sleep(0.01)
    assert (await jobs.counts(database))["score"]["done"] == 1
