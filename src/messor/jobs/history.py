"""The history of jobs: where they go when their dedupe keys expire.

Done and cancelled jobs move there when their window has ended; dead letters stay until someone
decides.
"""

from __future__ import annotations

from messor.store.database import Connection, Database

COLUMNS = """
 id, job_type, target_kind, target_id, target_url, input_hash, prompt_version, model, dedupe_key,
 state, payload, result_json, priority, available_at, locked_at, lock_expires_at, locked_by, token,
 attempts, max_attempts, created_at, started_at, finished_at, window_ends_at, dead_category,
 dead_type, dead_reason
"""

RETIRE = f"""
WITH chosen AS (
  SELECT id FROM messor.jobs
   WHERE state IN ('done', 'cancelled') AND window_ends_at <= (SELECT messor.clock())
   ORDER BY window_ends_at LIMIT $1 FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM messor.jobs j USING chosen WHERE j.id = chosen.id RETURNING j.*
), kept AS (
  INSERT INTO messor.jobs_history ({COLUMNS}) SELECT {COLUMNS} FROM gone
)
SELECT count(*) FROM gone
"""


async def retire(source: Connection | Database, limit: int = 5000) -> int:
    """Move up to `limit` jobs whose window has ended; return how many, 0 if none are left."""
    moved: int = await source.fetchval(RETIRE, limit)
    return moved
