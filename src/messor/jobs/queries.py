"""Queries of jobs: the list of those in the queue, one job in full with its errors, and figures.

A job is found in the queue or in the history; nothing here changes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.jobs.history import COLUMNS
from messor.store.database import Database
from messor.store.listing import Filters, Listing, both_ways, where

MANY = 20_000  # jobs counted at once; counting more takes too long for a web page

State = Literal["queued", "running", "done", "dead", "cancelled"]

GET = f"""
SELECT {COLUMNS}, NULL::timestamptz AS retired_at FROM messor.jobs WHERE id = $1
UNION ALL
SELECT {COLUMNS}, retired_at FROM messor.jobs_history WHERE id = $1
 LIMIT 1
"""

ERRORS_OF = """
SELECT occurred_at, category, error_type, error_message, stack_trace
  FROM messor.error_logs WHERE job_id = $1 ORDER BY occurred_at DESC LIMIT 20
"""

STATS = """
SELECT job_type,
       count(*) FILTER (WHERE state = 'queued') AS queued,
       count(*) FILTER (WHERE state = 'queued' AND available_at <= m.now) AS due,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'running' AND lock_expires_at <= m.now) AS left_behind,
       count(*) FILTER (WHERE state = 'done') AS done,
       count(*) FILTER (WHERE state = 'dead') AS dead,
       count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
       m.now - min(available_at) FILTER (WHERE state = 'queued' AND available_at <= m.now) AS oldest_wait,
       avg(finished_at - started_at) FILTER (WHERE state = 'done') AS mean_run
  FROM messor.jobs CROSS JOIN (SELECT messor.clock() AS now) m
 GROUP BY job_type, m.now ORDER BY job_type
"""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job in a list."""

    id: UUID
    job_type: str
    state: State
    priority: int
    attempts: int
    max_attempts: int
    dedupe_key: str
    locked_by: str | None
    created_at: datetime
    available_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class JobFigures:
    """Number of jobs of a type by state; done ones only until they move to the history."""

    job_type: str
    queued: int
    due: int
    running: int
    left_behind: int
    done: int
    dead: int
    cancelled: int
    oldest_wait: timedelta | None
    mean_run: timedelta | None


class JobFilter(Filters):
    """Filters of jobs."""

    state: State | None = where("j.state = {}", "State")
    job_type: str | None = where("j.job_type = {}", "Type", max_length=100)
    q: str | None = where("strpos(j.dedupe_key, {}) > 0", "Part of the key", max_length=500)


JOBS = Listing(
    name="jobs",
    item=JobRow,
    filters=JobFilter,
    table="messor.jobs",
    alias="j",
    columns="""j.id, j.job_type, j.state, j.priority, j.attempts, j.max_attempts, j.dedupe_key,
               j.locked_by, j.created_at, j.available_at, j.finished_at""",
    key_type="uuid",
    # Ids grow with time and have an index; a state may be rare.
    orders=both_ways("-created_at", "j.id", "uuid", "Newest first", "Oldest first"),
    scan=20_000,
)


async def get(database: Database, job_id: UUID) -> dict[str, Any]:
    """All columns of a job, and its latest errors as `errors`."""
    row = await database.fetchrow(GET, job_id)
    if row is None:
        raise NotFoundError(f"There is no job {job_id}.")
    job = dict(row)
    for name in ("payload", "result_json"):
        job[name] = None if job[name] is None else msgspec.json.decode(job[name])
    job["errors"] = [dict(error) for error in await database.fetch(ERRORS_OF, job_id)]
    return job


async def stats(database: Database) -> list[JobFigures]:
    return [JobFigures(**dict(row)) for row in await database.fetch(STATS)]


def are_many(figures: Sequence[JobFigures]) -> bool:
    """Whether there are too many to count again while someone waits."""
    return (
        sum(one.queued + one.running + one.done + one.dead + one.cancelled for one in figures)
        > MANY
    )
