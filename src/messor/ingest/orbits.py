"""Orbits as a list: what each shows, and the state of its newest run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.store.database import Connection, Database

LISTING = """
SELECT o.slug, o.name, d.domain, o.updated_at,
       (SELECT count(*) FROM messor.tiles t WHERE t.orbit_id = o.id) AS tiles,
       r.mode, r.outcome, r.started_at, r.completed_at
  FROM (SELECT * FROM messor.orbits
         WHERE $1::text IS NULL OR strpos(slug, $1) > 0 OR strpos(lower(name), $1) > 0
         ORDER BY updated_at DESC, id LIMIT $2) o
  LEFT JOIN messor.domains d ON d.id = o.domain_id
  LEFT JOIN LATERAL (
    SELECT * FROM messor.ingestion_runs r WHERE r.orbit_slug = o.slug
     ORDER BY r.started_at DESC LIMIT 1) r ON true
 ORDER BY o.updated_at DESC, o.id
"""


@dataclass(frozen=True, slots=True)
class ListedOrbit:
    slug: str
    name: str
    domain: str | None
    updated_at: datetime
    tiles: int
    mode: str | None  # of the newest run
    outcome: str | None
    started_at: datetime | None
    completed_at: datetime | None


async def listing(
    source: Connection | Database, *, containing: str | None = None, limit: int = 50
) -> list[ListedOrbit]:
    """Orbits, most recently changed first."""
    return [ListedOrbit(**row) for row in await source.fetch(LISTING, containing, limit)]
