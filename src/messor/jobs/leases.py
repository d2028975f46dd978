"""Leases on jobs: claim, heartbeat, confirm, give back, all on the database's clock.

Each claim raises the job's token, and every later statement about the job must present it: a
worker that lost the lease is refused. A *suspect* is a job whose worker died during its last
attempt but one: it may be what kills workers, and is claimed separately from others of its type.
`available_at` is when a job may be claimed: for a running one, the end of its lease, so one index
finds both waiting jobs and those of dead workers.
"""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
import msgspec

from messor.jobs.jobs import Job
from messor.ledger import errors
from messor.ledger.errors import LoggedError
from messor.store.database import Connection, Database

# `turns` uses one index probe per type and priority for the oldest job; the nested loops of
# `picked` then walk these in order and stop at the limit, so no row is locked in vain. Between
# types of one priority the order is oldest job first, a batch at a time.
SUSPECT = "(j.state = 'running' AND j.attempts = j.max_attempts - 1)"

_CLAIM = """
WITH moment AS MATERIALIZED (
  SELECT t AS now, t + make_interval(secs => $4) AS lease_end FROM messor.clock() AS t
), turns AS (
  SELECT kind.job_type, rank.priority
    FROM unnest($1::text[]) AS kind (job_type)
   CROSS JOIN generate_series(1, 10) AS rank (priority)
   CROSS JOIN LATERAL (
     SELECT j.available_at FROM messor.jobs j
      WHERE j.job_type = kind.job_type AND j.priority = rank.priority
        AND j.state IN ('queued', 'running') AND j.available_at <= (SELECT now FROM moment)
      ORDER BY j.available_at LIMIT 1) oldest
   ORDER BY rank.priority, oldest.available_at
), picked AS (
  SELECT job.* FROM turns CROSS JOIN LATERAL (
     SELECT j.id, j.available_at, j.locked_by, j.attempts < j.max_attempts AS may_run
       FROM messor.jobs j
      WHERE j.job_type = turns.job_type AND j.priority = turns.priority
        AND j.state IN ('queued', 'running') AND j.available_at <= (SELECT now FROM moment)
        AND {whom}
      ORDER BY j.available_at LIMIT $2 FOR UPDATE SKIP LOCKED) job
   LIMIT $2
)
UPDATE messor.jobs j
   SET state = CASE WHEN p.may_run THEN 'running' ELSE 'dead' END,
       token = j.token + 1,
       attempts = j.attempts + p.may_run::int,
       available_at = CASE WHEN p.may_run THEN m.lease_end ELSE j.available_at END,
       lock_expires_at = CASE WHEN p.may_run THEN m.lease_end END,
       locked_by = CASE WHEN p.may_run THEN $3 END,
       locked_at = CASE WHEN p.may_run THEN m.now END,
       started_at = CASE WHEN p.may_run THEN m.now ELSE j.started_at END,
       finished_at = CASE WHEN NOT p.may_run THEN m.now END,
       dead_category = CASE WHEN NOT p.may_run THEN 'internal' END,
       dead_type = CASE WHEN p.may_run THEN NULL
                        WHEN p.locked_by IS NULL THEN 'NoAttemptsLeft' ELSE 'LeaseExpired' END,
       dead_reason = CASE WHEN p.may_run THEN NULL
                          WHEN p.locked_by IS NULL THEN 'It has no attempts left.'
                          ELSE format('The lease of worker %s expired during attempt %s.',
                                      p.locked_by, j.attempts) END
  FROM picked p CROSS JOIN moment m WHERE j.id = p.id
RETURNING j.id, j.job_type, j.dedupe_key, j.target_kind, j.target_id, j.target_url, j.payload,
          j.input_hash, j.prompt_version, j.model, j.priority, j.token, j.attempts,
          j.max_attempts, p.may_run, p.available_at AS due_at, p.locked_by AS left_by
"""

CLAIM = _CLAIM.replace("{whom}", f"NOT {SUSPECT}")
CLAIM_SUSPECT = _CLAIM.replace("{whom}", SUSPECT)

# Rows locked by another transaction are skipped: it is completing, cancelling or claiming them,
# and the next heartbeat sees the outcome. A job completed meanwhile was not lost.
HEARTBEAT = """
WITH held AS (
  SELECT * FROM unnest($1::uuid[], $2::bigint[]) AS held (id, token)
), ours AS (
  SELECT j.id FROM messor.jobs j JOIN held USING (id, token)
   WHERE j.state = 'running' FOR UPDATE OF j SKIP LOCKED
), renewed AS (
  UPDATE messor.jobs j SET lock_expires_at = m.lease_end, available_at = m.lease_end
    FROM ours, (SELECT messor.clock() + make_interval(secs => $3) AS lease_end) m
   WHERE j.id = ours.id
)
SELECT held.id FROM held
 WHERE NOT EXISTS (SELECT FROM messor.jobs j WHERE j.id = held.id AND j.token = held.token
                      AND j.state IN ('running', 'done'))
"""

CONFIRM = """
SELECT j.id FROM messor.jobs j
  JOIN unnest($1::uuid[], $2::bigint[]) AS held (id, token) USING (id, token)
 WHERE j.state = 'running' ORDER BY j.id FOR UPDATE OF j
"""

GIVE_BACK = """
WITH ours AS (
  SELECT j.id FROM messor.jobs j
    JOIN unnest($1::uuid[], $2::bigint[]) AS held (id, token) USING (id, token)
   WHERE j.state = 'running' ORDER BY j.id FOR UPDATE OF j
)
UPDATE messor.jobs j
   SET state = 'queued', attempts = j.attempts - 1, available_at = (SELECT messor.clock()),
       locked_by = NULL, locked_at = NULL, lock_expires_at = NULL
  FROM ours WHERE j.id = ours.id
"""


async def claim(
    database: Database,
    worker_name: str,
    job_types: Sequence[str],
    limit: int,
    lease_seconds: float,
) -> list[Job]:
    """Claim up to `limit` due jobs, most urgent first, each with a new token.

    The death of a job's worker counts as an attempt; without one left the job becomes a dead
    letter.
    """
    return await _claim(database, CLAIM, list(job_types), limit, worker_name, lease_seconds)


async def claim_suspect(
    database: Database, worker_name: str, job_types: Sequence[str], lease_seconds: float
) -> list[Job]:
    """Claim one suspect, if there is one."""
    return await _claim(database, CLAIM_SUSPECT, list(job_types), 1, worker_name, lease_seconds)


async def _claim(database: Database, statement: str, *args: object) -> list[Job]:
    async with database.transaction() as connection:
        rows = await connection.fetch(statement, *args)
        left = [_left_behind(row) for row in rows if row["left_by"] is not None]
        if left:
            await errors.log(connection, left)
    rows.sort(key=lambda row: (row["priority"], row["due_at"], row["id"]))
    return [_job(row) for row in rows if row["may_run"]]


async def heartbeat(database: Database, jobs: Sequence[Job], lease_seconds: float) -> list[Job]:
    """Extend the leases; return the jobs no longer held by the caller."""
    if not jobs:
        return []
    rows = await database.fetch(HEARTBEAT, *holdings(jobs), lease_seconds)
    lost = {row["id"] for row in rows}
    return [job for job in jobs if job.id in lost]


async def confirm(connection: Connection, jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs still held by the caller; they stay so until the transaction ends."""
    rows = await connection.fetch(CONFIRM, *holdings(jobs))
    ours = {row["id"] for row in rows}
    return [job for job in jobs if job.id in ours]


async def give_back(connection: Connection, jobs: Sequence[Job]) -> None:
    """Return unfinished jobs at once, without counting the attempt; those of others are left alone."""
    await connection.execute(GIVE_BACK, *holdings(jobs))


def holdings(jobs: Sequence[Job]) -> tuple[list[object], list[int]]:
    """Ids and tokens, as statements about held jobs take them."""
    return [job.id for job in jobs], [job.token for job in jobs]


def _job(row: asyncpg.Record) -> Job:
    values = dict(row)
    for name in ("may_run", "due_at", "left_by"):
        del values[name]
    values["payload"] = msgspec.json.decode(values["payload"])
    return Job(**values)


def _left_behind(row: asyncpg.Record) -> LoggedError:
    attempt = row["attempts"] - row["may_run"]
    message = f"The lease of worker {row['left_by']} expired during attempt {attempt}."
    return LoggedError("internal", "LeaseExpired", message, None, job_id=row["id"])
