"""Crawl tasks by status, one slice of the frontier at a time.

A task's status also depends on its lane and domain: `frontier.stretches` skips what cannot match,
and the view then decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from messor.frontier import stretches
from messor.frontier.queries import TASKS, KnownTask
from messor.frontier.stretches import EVERY, TaskFilter
from messor.store.database import Connection, Database

SPARE = 200  # tasks read in full beyond those wanted, as the view may exclude some

# What each status of the view can be derived from.
POSSIBLE = """
CASE WHEN $6::text = 'queued' THEN k.due_at <= (SELECT messor.clock()) AND k.host_id <> ALL (ARRAY(SELECT id FROM held))
     WHEN $6 = 'crawling' THEN k.due_at <= (SELECT messor.clock()) AND k.host_id = ANY (ARRAY(SELECT id FROM held))
     WHEN $6 = 'paused' THEN k.status = 'paused' OR k.host_id = ANY (ARRAY(SELECT id FROM held))
     ELSE k.status = $6 END
"""
HELD = """, held AS MATERIALIZED (
  SELECT l.host_id AS id FROM messor.lanes l WHERE l.worker_id IS NOT NULL AND $6::text IN ('queued', 'crawling')
  UNION ALL
  SELECT h.id FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
   WHERE NOT d.active AND $6::text = 'paused'
)"""


@dataclass(frozen=True, slots=True)
class TaskSlice:
    """Matching tasks, and where the next slice begins; None at the frontier's end."""

    tasks: list[KnownTask]
    reached: int | None


async def read(
    source: Connection | Database,
    status: str | None = None,
    *,
    after: int = 0,
    domain: str | None = None,
    batch_id: UUID | None = None,
    limit: int = 50,
    stretch: int | None = None,
) -> TaskSlice:
    """Tasks in the order their pages were found."""
    wanted = EVERY if status is None else TaskFilter(POSSIBLE, (status,), beside=HELD)
    look = await stretches.look(
        source,
        wanted,
        after=after,
        limit=limit if status is None else limit + SPARE,
        domain=domain,
        batch_id=batch_id,
        stretch=stretch,
    )
    rows = await source.fetch(TASKS, look.ids) if look.ids else []
    found = [KnownTask(**row) for row in rows if status is None or row["status"] == status]
    if len(found) > limit:
        return TaskSlice(found[:limit], found[limit - 1].page_id)
    return TaskSlice(found, look.reached)
