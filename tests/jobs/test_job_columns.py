"""The tables of jobs have the columns that were specified."""

from __future__ import annotations

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
