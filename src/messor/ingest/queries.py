"""Queries of ingestion runs: progress, results, and the tiles they left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from messor.errors import NotFoundError
from messor.ingest.runs import LONGEST_RUN_SECONDS
from messor.store.database import Connection, Database

RUNS = """
SELECT r.id, r.trace_id, r.orbit_slug, r.mode, r.url, r.requested_by, r.stage, r.started_at,
       r.completed_at, r.outcome, r.evidence,
       r.completed_at IS NULL AND r.started_at < messor.clock() - make_interval(secs => $1) AS lost,
       (SELECT count(*) FROM messor.ingestion_pages i WHERE i.run_id = r.id) AS planned,
       (SELECT count(*) FROM messor.ingestion_pages i JOIN messor.crawl_tasks t USING (page_id)
         WHERE i.run_id = r.id AND NOT i.cached AND t.last_fetched_at >= r.started_at) AS fetched
  FROM messor.ingestion_runs r
 WHERE ($2::text IS NULL OR r.trace_id = $2) AND ($3::text IS NULL OR r.orbit_slug = $3)
   AND ($4::bigint IS NULL OR r.id < $4)
 ORDER BY r.id DESC LIMIT $5
"""
TILES = """
SELECT t.id, t.category, t.title, t.summary, t.items, t.source_url AS "sourceUrl",
       t.snapshot_id AS "snapshotId", t.confidence
  FROM messor.tiles t WHERE t.run_id = $1 ORDER BY t.position LIMIT 100
"""
ORBIT = """
SELECT o.id, o.slug, o.name, d.domain, o.created_at, o.updated_at
  FROM messor.orbits o LEFT JOIN messor.domains d ON d.id = o.domain_id WHERE o.slug = $1
"""
ORBIT_TILES = """
SELECT t.id, t.category, t.title, t.summary, t.items, t.source_url AS "sourceUrl",
       t.snapshot_id AS "snapshotId", t.confidence
  FROM messor.tiles t WHERE t.orbit_id = $1 ORDER BY t.position LIMIT 500
"""


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run in progress or ended."""

    id: int
    trace_id: str
    orbit_slug: str
    mode: str
    url: str
    requested_by: str
    stage: str
    started_at: datetime
    completed_at: datetime | None
    outcome: str | None
    evidence: dict[str, Any] | None
    lost: bool  # it has no end, and its process is certainly gone
    planned: int
    fetched: int


@dataclass(frozen=True, slots=True)
class Orbit:
    """What an orbit shows."""

    slug: str
    name: str
    domain: str | None
    created_at: datetime
    updated_at: datetime
    tiles: list[dict[str, Any]]


async def runs(
    source: Connection | Database,
    *,
    orbit: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[KnownRun]:
    """Runs, newest first."""
    rows = await source.fetch(RUNS, LONGEST_RUN_SECONDS, None, orbit, before, limit)
    return [_run(row) for row in rows]


async def run(source: Connection | Database, trace_id: str) -> KnownRun:
    rows = await source.fetch(RUNS, LONGEST_RUN_SECONDS, trace_id, None, None, 1)
    if not rows:
        raise NotFoundError(f"Unknown ingestion {trace_id[:100]}.")
    return _run(rows[0])


async def tiles(source: Connection | Database, run_id: int) -> list[dict[str, Any]]:
    """The tiles that a run left and no later run removed."""
    return [_tile(row) for row in await source.fetch(TILES, run_id)]


async def orbit(source: Connection | Database, slug: str) -> Orbit:
    row = await source.fetchrow(ORBIT, slug)
    if row is None:
        raise NotFoundError(f"Unknown orbit {slug[:100]}.")
    shown = [_tile(one) for one in await source.fetch(ORBIT_TILES, row["id"])]
    return Orbit(
        row["slug"], row["name"], row["domain"], row["created_at"], row["updated_at"], shown
    )


def _run(row: Any) -> KnownRun:
    evidence = msgspec.json.decode(row["evidence"]) if row["evidence"] else None
    return KnownRun(**{**row, "evidence": evidence})


def _tile(row: Any) -> dict[str, Any]:
    return {**row, "items": msgspec.json.decode(row["items"])}
