"""The tables of jobs have the columns that were specified."""

from __future__ import annotations

import asyncpg
import pytest

from messor.jobs.jobs import NewJob
from messor.store.database import Database

SPECIFIED = {
    "id", "job_type", "target_kind", "target_id", "target_url", "input_hash", "prompt_version",
    "model", "dedupe_key", "state", "result_json", "priority", "available_at", "locked_at",
    "lock_expires_at", "locked_by", "attempts", "max_attempts", "created_at", "started_at",
    "finished_at",
}  # fmt: skip


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


INSERT = """
INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key)
VALUES (gen_random_uuid(), $1, $2, $3) RETURNING state, priority, attempts, max_attempts
"""


async def test_a_job_needs_type_target_and_a_key_of_its_own(database: Database) -> None:
    (row,) = await database.fetch(INSERT, "score", "domain", "key")
    assert tuple(row) == ("queued", 5, 0, 3)
    with pytest.raises(asyncpg.UniqueViolationError):
        await database.fetch(INSERT, "other", "page", "key")
    for lacking in ((None, "domain", "a"), ("score", None, "b"), ("score", "domain", None)):
        with pytest.raises(asyncpg.NotNullViolationError):
            await database.fetch(INSERT, *lacking)


def test_a_job_is_attempted_three_times_by_default() -> None:
    assert NewJob("score", "key", "domain").max_attempts == 3
