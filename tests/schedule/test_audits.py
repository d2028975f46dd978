"""O-Audit asks for one audit a day, and the job says what it found."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import msgspec

from messor.jobs import jobs
from messor.jobs.handlers import handlers_for
from messor.jobs.runner import Runner, RunnerLimits
from messor.ops import audit_job
from messor.schedule.standard import AUDIT, AUDIT_JOB, QUALITY
from messor.settings import Settings
from messor.store.database import Database
from tests.schedule.conftest import Later
from tests.schedule.sites import run_steps


async def run_one_job(database: Database) -> None:
    """As a worker would."""
    handlers = handlers_for([audit_job.register], Settings(), database)
    runner = Runner(database, handlers, "runner", RunnerLimits(poll_seconds=0.01))
    running = asyncio.create_task(runner.run())
    async with asyncio.timeout(60):
        while not runner.outcomes:  # noqa: ASYNC110 - counts have no event
            await asyncio.sleep(0.01)
    runner.stop()
    await running


async def test_one_a_day(database: Database, later: Later) -> None:
    assert audit_job.JOB_TYPE == AUDIT_JOB
    assert (await run_steps(database, AUDIT))["audits_asked_for"] == 1
    assert (await run_steps(database, AUDIT))["audits_asked_for"] == 0
    tomorrow = await later(timedelta(days=1))
    assert (await run_steps(tomorrow, AUDIT))["audits_asked_for"] == 1


async def test_it_is_done_by_a_worker(database: Database) -> None:
    await run_steps(database, AUDIT)
    await run_one_job(database)
    assert await jobs.counts(database) == {"audit": {"done": 1}}
    said = await database.fetchval(
        "SELECT data::text FROM messor.events WHERE type = 'audit.completed'"
    )
    found = msgspec.json.decode(said)
    assert (found["clean"], found["requests"]) == (True, 0)


async def test_records_are_judged_once_a_week(database: Database) -> None:
    assert (await run_steps(database, QUALITY))["audits_asked_for"] == 1
    assert (await run_steps(database, QUALITY))["audits_asked_for"] == 0
    await run_one_job(database)
    said = await database.fetchval(
        "SELECT data::text FROM messor.events WHERE type = 'records.audited'"
    )
    found = msgspec.json.decode(said)
    assert (found["clean"], found["records"], len(found["checks"])) == (True, 0, 6)


async def test_an_order_that_cannot_be_understood_is_a_dead_letter(database: Database) -> None:
    async with database.transaction() as connection:
        order = jobs.NewJob(AUDIT_JOB, "audit:x", "log", payload={"since": "yesterday"})
        await jobs.enqueue(connection, [order])
    await run_one_job(database)
    assert await database.fetchval("SELECT dead_category FROM messor.jobs") == "validation"
