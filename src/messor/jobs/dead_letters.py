"""Dead letters: jobs that are not retried automatically, and the acts on them.

Bulk acts run in batches, one transaction and event each, and affect only jobs that were dead when
the act began: a job that dies again meanwhile is not taken twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from messor.core.masking import mask_text
from messor.errors import UsageError
from messor.jobs.history import COLUMNS
from messor.ledger import events
from messor.ledger.errors import CATEGORIES
from messor.ledger.events import Event
from messor.store.database import Database

BATCH = 5000

# $6 is when the act began; a pattern is searched for in the reason's own pattern.
CHOSEN = """
 state = 'dead'
 AND ($1::uuid[] IS NULL OR id = ANY($1)) AND ($2::text IS NULL OR job_type = $2)
 AND ($3::text IS NULL OR dead_category = $3)
 AND ($4::text IS NULL
      OR strpos(messor.error_pattern(dead_reason), messor.error_pattern($4)) > 0)
 AND ($5::interval IS NULL OR finished_at <= $6::timestamptz - $5) AND finished_at <= $6::timestamptz
"""

COUNT = f"SELECT count(*) FROM messor.jobs WHERE {CHOSEN}"

LISTING = f"""
SELECT id, job_type, dedupe_key, attempts, dead_category AS category, dead_type AS error_type,
       dead_reason AS reason, finished_at AS died_at
  FROM messor.jobs WHERE {CHOSEN} ORDER BY finished_at DESC, id LIMIT $7
"""

REQUEUE = f"""
WITH chosen AS (
  SELECT id FROM messor.jobs WHERE {CHOSEN} ORDER BY id LIMIT $7 FOR UPDATE
), again AS (
  UPDATE messor.jobs j
     SET state = 'queued', attempts = 0, available_at = (SELECT messor.clock()),
         finished_at = NULL, dead_category = NULL, dead_type = NULL, dead_reason = NULL
    FROM chosen WHERE j.id = chosen.id RETURNING j.id
)
SELECT count(*) FROM again
"""

PURGE = f"""
WITH chosen AS (
  SELECT id FROM messor.jobs WHERE {CHOSEN} ORDER BY id LIMIT $7 FOR UPDATE
), gone AS (
  DELETE FROM messor.jobs j USING chosen WHERE j.id = chosen.id RETURNING j.*
), kept AS (
  INSERT INTO messor.jobs_history ({COLUMNS}) SELECT {COLUMNS} FROM gone
)
SELECT count(*) FROM gone
"""


@dataclass(frozen=True, slots=True)
class DeadLetterFilter:
    """Filter of dead letters; None matches everything.

    `pattern` is part of an error pattern or message, as grouped by `jobs.patterns`.
    """

    job_ids: Sequence[UUID] | None = None
    job_type: str | None = None
    category: str | None = None
    pattern: str | None = None
    older_than: timedelta | None = None

    def __post_init__(self) -> None:
        if self.category is not None and self.category not in CATEGORIES:
            raise UsageError(
                f"{self.category!r} is not an error category; choose from: {', '.join(CATEGORIES)}."
            )
        if self.pattern is not None and not self.pattern.strip():
            raise UsageError(
                "An empty pattern would match every dead letter; leave it out to select all."
            )

    def __str__(self) -> str:
        parts = [
            self.job_ids is not None and "named by id",
            self.job_type and f"of type {self.job_type}",
            self.category and f"of category {self.category}",
            self.pattern and f"with the pattern {self.pattern!r}",
            self.older_than is not None and f"older than {self.older_than}",
        ]
        return ", ".join(part for part in parts if part) or "all"

    def as_data(self) -> dict[str, Any]:
        """The filter as event data."""
        return {
            "ids": [str(job_id) for job_id in self.job_ids or ()][:100],
            "type": self.job_type,
            "category": self.category,
            "pattern": self.pattern,
            "older_than_seconds": self.older_than and self.older_than.total_seconds(),
        }


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter, for display."""

    id: UUID
    job_type: str
    dedupe_key: str
    attempts: int
    category: str | None
    error_type: str | None
    reason: str | None
    died_at: datetime


async def count(database: Database, choice: DeadLetterFilter) -> int:
    found: int = await database.fetchval(COUNT, *await _arguments(database, choice))
    return found


async def listing(database: Database, choice: DeadLetterFilter, limit: int) -> list[DeadLetter]:
    """Dead letters, newest first."""
    rows = await database.fetch(LISTING, *await _arguments(database, choice), limit)
    return [dead_letter_of(row) for row in rows]


def dead_letter_of(row: Any) -> DeadLetter:
    """A row for display: a reason may contain a URL with a password."""
    reason = row["reason"]
    return DeadLetter(**{**row, "reason": reason and mask_text(reason)})


async def requeue(
    database: Database, choice: DeadLetterFilter, *, actor: str, batch: int = BATCH
) -> int:
    """Requeue dead letters with all their attempts; return how many."""
    event = Event("jobs.requeued", actor, data=choice.as_data())
    return await _act(database, REQUEUE, choice, event, batch)


async def purge(
    database: Database, choice: DeadLetterFilter, *, actor: str, batch: int = BATCH
) -> int:
    """Move dead letters to the history, which frees their keys; return how many."""
    event = Event("jobs.purged", actor, data=choice.as_data())
    return await _act(database, PURGE, choice, event, batch)


async def _act(
    database: Database, statement: str, choice: DeadLetterFilter, event: Event, batch: int
) -> int:
    """Act batch by batch; each batch's event says how many jobs it changed."""
    arguments = await _arguments(database, choice)
    total = 0
    while True:
        async with database.transaction() as connection:
            touched: int = await connection.fetchval(statement, *arguments, batch)
            if touched:
                fact = replace(event, data={"jobs": touched, **(event.data or {})})
                await events.record(connection, [fact])
        total += touched
        if touched < batch:
            return total


async def _arguments(database: Database, choice: DeadLetterFilter) -> tuple[object, ...]:
    started_at = await database.fetchval("SELECT messor.clock()")
    return (
        None if choice.job_ids is None else list(choice.job_ids),
        choice.job_type,
        choice.category,
        choice.pattern,
        choice.older_than,
        started_at,
    )
