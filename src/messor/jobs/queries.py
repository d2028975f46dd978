"""Jobs and dead letters page by page, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from messor.jobs.dead_letters import DeadLetter, dead_letter_of
from messor.jobs.lists import JobRow
from messor.store.database import Connection, Database

# By id, which grows with time and has an index; a state may be rare, so the scan is bounded.
JOBS = """
WITH edge AS MATERIALIZED (
  SELECT count(*) AS looked, (array_agg(s.id ORDER BY s.id))[1] AS last FROM (
    SELECT id FROM messor.jobs WHERE id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     ORDER BY id DESC LIMIT $4) s
)
SELECT id, job_type, state, priority, attempts, max_attempts, dedupe_key, locked_by, created_at,
       available_at, finished_at, e.looked, e.last
  FROM edge e LEFT JOIN LATERAL (
    SELECT j.* FROM messor.jobs j
     WHERE j.id >= e.last AND j.id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       AND ($1::text IS NULL OR j.state = $1) AND ($2::text IS NULL OR j.job_type = $2)
     ORDER BY j.id DESC LIMIT $5) j ON true
 ORDER BY id DESC
"""
LETTERS = """
SELECT id, job_type, dedupe_key, attempts, dead_category AS category, dead_type AS error_type,
       dead_reason AS reason, finished_at AS died_at
  FROM messor.jobs
 WHERE state = 'dead' AND ($1::text IS NULL OR job_type = $1)
   AND ($2::text IS NULL OR dead_category = $2)
   AND ($3::timestamptz IS NULL OR (finished_at, id) < ($3, $4::uuid))
 ORDER BY finished_at DESC, id DESC LIMIT $5
"""

STRETCH = 20_000  # jobs scanned per query

Before = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class JobSlice:
    """Matching jobs, and where the next slice begins; None at the queue's end."""

    jobs: list[JobRow]
    reached: UUID | None


async def jobs(
    source: Connection | Database,
    *,
    state: str | None = None,
    job_type: str | None = None,
    before: UUID | None = None,
    limit: int = 50,
    stretch: int = STRETCH,
) -> JobSlice:
    """Jobs before the last one seen, `before`; those in the history are not listed."""
    look = limit + 1 if state is None and job_type is None else stretch
    rows = await source.fetch(JOBS, state, job_type, before, look, limit + 1)
    edge = {name: rows[0][name] for name in ("looked", "last")}
    found = [_line(row) for row in rows if row["id"] is not None]
    if len(found) > limit:
        return JobSlice(found[:limit], found[limit - 1].id)
    return JobSlice(found, edge["last"] if edge["looked"] == look else None)


def _line(row: Any) -> JobRow:
    return JobRow(**{name: value for name, value in row.items() if name not in ("looked", "last")})


async def letters(
    source: Connection | Database,
    *,
    job_type: str | None = None,
    category: str | None = None,
    before: Before | None = None,
    limit: int = 50,
) -> list[DeadLetter]:
    """Dead letters before the last one seen, `before`: (died_at, id)."""
    since, last = before or (None, None)
    rows = await source.fetch(LETTERS, job_type, category, since, last, limit)
    return [dead_letter_of(row) for row in rows]
