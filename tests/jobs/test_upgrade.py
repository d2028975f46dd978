"""What becomes of jobs that were there before their reasons and windows were recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest

from messor.jobs import history
from messor.jobs.dead_letter_queries import DEAD_LETTERS, DeadLetterFilter
from messor.store import migrate
from messor.store.database import Database
from tests.conftest import with_database

SPECIFIED = {
    "id", "job_type", "target_kind", "target_id", "target_url", "input_hash", "prompt_version",
    "model", "dedupe_key", "state", "result_json", "priority", "available_at", "locked_at",
    "lock_expires_at", "locked_by", "attempts", "max_attempts", "created_at", "started_at",
    "finished_at",
}  # fmt: skip
OLD_JOB = """
INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key, state, finished_at)
VALUES ($1, 'score', 'page', $2, $3, messor.clock())
"""
OLD_ERROR = """
INSERT INTO messor.error_logs (job_id, category, error_type, error_message, occurred_at)
VALUES ($1, 'network', 'OSError', $2, messor.clock() - $3::interval)
"""


@pytest.fixture
async def old_dsn(server_dsn: str) -> AsyncIterator[str]:
    """A database as the release before left it: two dead letters and a job that is done."""
    raw = await asyncpg.connect(server_dsn, ssl=False)
    name = f"old_{uuid4().hex}"
    await raw.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    dsn = with_database(server_dsn, name)
    await asyncio.to_thread(migrate.upgrade, dsn, "002")
    old = await asyncpg.connect(dsn, ssl=False)
    explained = uuid4()
    for job_id, key, state in [
        (explained, "a", "dead"),
        (uuid4(), "b", "dead"),
        (uuid4(), "c", "done"),
    ]:
        await old.execute(OLD_JOB, job_id, key, state)
    for message, age in [("first", "2 hours"), ("last", "1 hour")]:
        await old.execute(OLD_ERROR.replace("$3", f"'{age}'"), explained, message)
    await old.close()
    yield dsn
    await raw.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await raw.close()


async def test_old_dead_letters_get_their_reasons_and_old_keys_a_window(old_dsn: str) -> None:
    await asyncio.to_thread(migrate.upgrade, old_dsn, "003")
    async with Database(old_dsn) as database:
        found = (await DEAD_LETTERS.read(database, DeadLetterFilter())).items
        reasons = {letter.dedupe_key: (letter.category, letter.reason) for letter in found}
        assert reasons == {
            "a": ("network", "last"),
            "b": ("internal", "The reason was not recorded."),
        }
        assert await history.retire(database) == 0
    async with Database(f"{old_dsn}?messor.clock_offset=32%20days") as later:
        assert await history.retire(later) == 1


async def test_jobs_have_the_columns_that_were_specified(database: Database) -> None:
    rows = await database.fetch(
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = 'messor' AND table_name IN ('jobs', 'jobs_history')"
    )
    columns = {(row["table_name"], row["column_name"]) for row in rows}
    jobs = {name for table, name in columns if table == "jobs"}
    kept = {name for table, name in columns if table == "jobs_history"}
    assert jobs >= SPECIFIED
    assert kept == jobs | {"retired_at"}
