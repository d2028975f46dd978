"""Reading jobs and dead letters page by page, the newest first."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from messor.queue.letters import Letter
from messor.queue.listing import Line
from messor.store.database import Connection, Database

JOBS = """
SELECT id, job_type, state, priority, attempts, max_attempts, dedupe_key, locked_by, created_at,
       available_at, finished_at
  FROM messor.jobs
 WHERE ($1::text IS NULL OR state = $1) AND ($2::text IS NULL OR job_type = $2)
   AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4::uuid))
 ORDER BY created_at DESC, id DESC LIMIT $5
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

Before = tuple[datetime, UUID]


async def jobs(
    source: Connection | Database,
    *,
    state: str | None = None,
    job_type: str | None = None,
    before: Before | None = None,
    limit: int = 50,
) -> list[Line]:
    """`before` is (created_at, id) of the last one seen; those in the history are not listed."""
    since, last = before or (None, None)
    return [Line(**row) for row in await source.fetch(JOBS, state, job_type, since, last, limit)]


async def letters(
    source: Connection | Database,
    *,
    job_type: str | None = None,
    category: str | None = None,
    before: Before | None = None,
    limit: int = 50,
) -> list[Letter]:
    """`before` is (died_at, id) of the last one seen."""
    since, last = before or (None, None)
    rows = await source.fetch(LETTERS, job_type, category, since, last, limit)
    return [Letter(**row) for row in rows]
