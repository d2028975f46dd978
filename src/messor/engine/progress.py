"""Progress: how far a crawl is, asked of the database, for whoever watches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.store.database import Database

# A lane in a long cool-down holds nothing up: it is left for a later visit. Neither does a
# retry that is not due yet.
PATIENCE_SECONDS = 30.0

STANDING = """
SELECT count(*) FILTER (WHERE l.worker_id IS NOT NULL) AS held,
       count(*) FILTER (WHERE l.worker_id IS NULL
                          AND l.due_at <= messor.clock() + interval '1 second'
                          AND l.ready_at <= messor.clock() + make_interval(secs => $2))
         AS waiting
  FROM messor.lanes l JOIN messor.domains d ON d.id = l.domain_id
 WHERE ($1::uuid[] IS NULL OR l.domain_id = ANY ($1)) AND d.status = 'approved' AND d.active
"""

OUTCOMES = """
SELECT coalesce(t.outcome, 'waiting') AS outcome, count(*)::int AS pages
  FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
 WHERE ($1::uuid[] IS NULL OR h.domain_id = ANY ($1)) AND t.kind = 'page' GROUP BY 1 ORDER BY 2 DESC
"""


CHANGES = """
SELECT c.state, count(*)::int AS pages FROM messor.page_changes c
  JOIN messor.pages p ON p.id = c.page_id JOIN messor.hosts h ON h.id = p.host_id
 WHERE c.seen_at >= $2 AND ($1::uuid[] IS NULL OR h.domain_id = ANY ($1)) GROUP BY 1 ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """Lanes at work and lanes that soon will be."""

    held: int
    waiting: int

    @property
    def idle(self) -> bool:
        return self.held == 0 and self.waiting == 0


async def standing(
    database: Database,
    domain_ids: Sequence[UUID] | None = None,
    patience: float = PATIENCE_SECONDS,
) -> Standing:
    row = await database.fetchrow(STANDING, domain_ids, patience)
    assert row is not None
    return Standing(row["held"], row["waiting"])


async def outcomes(database: Database, domain_ids: Sequence[UUID] | None = None) -> dict[str, int]:
    """Pages by what came of their last fetch."""
    rows = await database.fetch(OUTCOMES, domain_ids)
    return {row["outcome"]: row["pages"] for row in rows}


async def changes(
    database: Database, since: datetime, domain_ids: Sequence[UUID] | None = None
) -> dict[str, int]:
    """Pages new, changed and removed since a moment on the database's clock."""
    rows = await database.fetch(CHANGES, domain_ids, since)
    return {row["state"]: row["pages"] for row in rows}
