"""Jobs: leased units of background work other than requests to sites.

Here they are enqueued, cancelled and counted. A job is unique by its dedupe key, which names its
window, so the same work may be enqueued again in the next one. `jobs.leases` is about holding
jobs, `jobs.outcomes` about how they end, `jobs.history` about finished ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.errors import ConflictError
from messor.store.database import Connection, Database

DEFAULT_PRIORITY = 5
MAX_ATTEMPTS = 3
AT_ONCE = timedelta()
SUBMIT_TRIES = 5

# In key order, so that two batches with common keys at worst wait for each other.
ENQUEUE = """
INSERT INTO messor.jobs (id, job_type, target_kind, target_id, target_url, input_hash,
                         prompt_version, model, dedupe_key, payload, priority, max_attempts,
                         available_at, window_ends_at)
SELECT id, job_type, target_kind, target_id, target_url, input_hash, prompt_version, model,
       dedupe_key, payload, priority, max_attempts, (SELECT messor.clock()) + delay,
       coalesce(window_ends_at, (SELECT messor.clock()) + interval '31 days')
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[],
              $8::text[], $9::text[], $10::jsonb[], $11::smallint[], $12::smallint[],
              $13::interval[], $14::timestamptz[])
       AS job (id, job_type, target_kind, target_id, target_url, input_hash, prompt_version,
               model, dedupe_key, payload, priority, max_attempts, delay, window_ends_at)
 ORDER BY dedupe_key COLLATE "C"
ON CONFLICT (dedupe_key) DO NOTHING
RETURNING id
"""

BY_KEY = """
SELECT id, job_type, target_kind, dedupe_key, created_at FROM messor.jobs WHERE dedupe_key = $1
"""

CANCEL = """
WITH chosen AS (
  SELECT id FROM messor.jobs WHERE id = ANY($1::uuid[]) AND state IN ('queued', 'running')
   ORDER BY id FOR UPDATE
)
UPDATE messor.jobs j
   SET state = 'cancelled', finished_at = (SELECT messor.clock()),
       locked_by = NULL, locked_at = NULL, lock_expires_at = NULL
  FROM chosen WHERE j.id = chosen.id
RETURNING j.id
"""

# Jobs enqueued after $2 are left alone, so that this terminates.
CANCEL_TYPE = """
WITH chosen AS (
  SELECT id FROM messor.jobs
   WHERE job_type = $1 AND state IN ('queued', 'running') AND created_at <= $2
   ORDER BY id LIMIT $3 FOR UPDATE
)
UPDATE messor.jobs j
   SET state = 'cancelled', finished_at = (SELECT messor.clock()),
       locked_by = NULL, locked_at = NULL, lock_expires_at = NULL
  FROM chosen WHERE j.id = chosen.id
RETURNING j.id
"""

COUNTS = "SELECT job_type, state, count(*) FROM messor.jobs GROUP BY job_type, state"


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to enqueue; `delay` counts from the database's now.

    Its key is taken until `window_ends_at`, by default for 31 days, even if it is done earlier.
    """

    job_type: str
    dedupe_key: str
    target_kind: str
    target_id: UUID | None = None
    target_url: str | None = None
    payload: dict[str, Any] = field(default_factory=dict)
    input_hash: str | None = None
    prompt_version: str | None = None
    model: str | None = None
    priority: int = DEFAULT_PRIORITY
    max_attempts: int = MAX_ATTEMPTS
    delay: timedelta = AT_ONCE
    window_ends_at: datetime | None = None
    id: UUID = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class Job:
    """A job held under a lease; `token` identifies this holding."""

    id: UUID
    job_type: str
    dedupe_key: str
    target_kind: str
    target_id: UUID | None
    target_url: str | None
    payload: dict[str, Any]
    input_hash: str | None
    prompt_version: str | None
    model: str | None
    priority: int
    token: int
    attempts: int  # including this one
    max_attempts: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """The job of a key, whoever enqueued it first."""

    id: UUID
    job_type: str
    target_kind: str
    dedupe_key: str
    created_at: datetime


async def enqueue(connection: Connection, jobs: Sequence[NewJob]) -> list[NewJob]:
    """Enqueue work in the caller's transaction; return the jobs whose keys were new."""
    if not jobs:
        return []
    rows = await connection.fetch(
        ENQUEUE,
        [job.id for job in jobs],
        [job.job_type for job in jobs],
        [job.target_kind for job in jobs],
        [job.target_id for job in jobs],
        [job.target_url for job in jobs],
        [job.input_hash for job in jobs],
        [job.prompt_version for job in jobs],
        [job.model for job in jobs],
        [job.dedupe_key for job in jobs],
        [msgspec.json.encode(job.payload).decode() for job in jobs],
        [job.priority for job in jobs],
        [job.max_attempts for job in jobs],
        [job.delay for job in jobs],
        [job.window_ends_at for job in jobs],
    )
    new = {row["id"] for row in rows}
    return [job for job in jobs if job.id in new]


async def submit(connection: Connection, job: NewJob) -> Receipt:
    """Enqueue one job idempotently: everyone who uses the key gets the same job."""
    for _ in range(SUBMIT_TRIES):
        await enqueue(connection, [job])
        row = await connection.fetchrow(BY_KEY, job.dedupe_key)
        if row is None:  # retired in between, so the key is free again
            continue
        receipt = Receipt(**dict(row))
        if (receipt.job_type, receipt.target_kind) != (job.job_type, job.target_kind):
            raise ConflictError(
                f"The key {job.dedupe_key!r} is already used by a job of type {receipt.job_type!r}."
            )
        return receipt
    raise ConflictError(f"The key {job.dedupe_key!r} is being retired; try again.")


async def cancel(connection: Connection, job_ids: Sequence[UUID]) -> list[UUID]:
    """Cancel waiting or running jobs; a worker that runs one learns it with its next heartbeat."""
    return [row["id"] for row in await connection.fetch(CANCEL, job_ids)]


async def cancel_type(database: Database, job_type: str, batch: int = 5000) -> int:
    """Cancel all waiting or running jobs of a type, in batches; return how many."""
    started_at = await database.fetchval("SELECT messor.clock()")
    total = 0
    while True:
        rows = await database.fetch(CANCEL_TYPE, job_type, started_at, batch)
        total += len(rows)
        if len(rows) < batch:
            return total


async def counts(database: Database) -> dict[str, dict[str, int]]:
    """Number of jobs by type and state."""
    table: dict[str, dict[str, int]] = defaultdict(dict)
    for job_type, state, count in await database.fetch(COUNTS):
        table[job_type][state] = count
    return dict(table)
