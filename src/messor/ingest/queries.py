"""Queries of ingestions and orbits: the lists, single ones, and the tiles they left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.ingest.runs import LONGEST_RUN_SECONDS
from messor.store.database import Connection, Database
from messor.store.listing import DomainText, Filters, Listing, Moment, both_ways, where

ModeName = Literal["light", "standard", "user_assisted"]
Stage = Literal["discovering", "fetching", "done"]
Outcome = Literal["success", "partial", "blocked", "error"]

_COLUMNS = f"""r.id, r.trace_id, r.orbit_slug, r.mode, r.url, r.requested_by, r.stage, r.started_at,
  r.completed_at, r.outcome, r.evidence,
  r.completed_at IS NULL
    AND r.started_at < messor.clock() - make_interval(secs => {LONGEST_RUN_SECONDS}) AS lost,
  (SELECT count(*) FROM messor.ingestion_pages i WHERE i.run_id = r.id) AS planned,
  (SELECT count(*) FROM messor.ingestion_pages i JOIN messor.crawl_tasks t USING (page_id)
    WHERE i.run_id = r.id AND NOT i.cached AND t.last_fetched_at >= r.started_at) AS fetched"""
RUN = f"SELECT {_COLUMNS} FROM messor.ingestion_runs r WHERE r.trace_id = $1"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionRun:
    """A running or finished ingestion."""

    id: int
    trace_id: str
    orbit_slug: str
    mode: ModeName
    url: str
    requested_by: str
    stage: Stage
    started_at: datetime
    completed_at: datetime | None
    outcome: Outcome | None
    evidence: dict[str, Any] | None
    lost: bool  # unfinished, and its process no longer exists
    planned: int  # pages so far
    fetched: int  # planned pages fetched by this run

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> IngestionRun:
        evidence = msgspec.json.decode(row["evidence"]) if row["evidence"] else None
        return cls(**{**row, "evidence": evidence})


@dataclass(frozen=True, slots=True)
class ShownTile:
    """A tile, with the specified names."""

    id: UUID
    category: str
    title: str
    summary: str
    items: list[dict[str, Any]]
    sourceUrl: str  # noqa: N815
    snapshotId: int  # noqa: N815
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionWithTiles(IngestionRun):
    """An ingestion with the tiles that it left and no later one removed."""

    tiles: list[ShownTile]


@dataclass(frozen=True, slots=True)
class Orbit:
    """What an orbit shows."""

    slug: str
    name: str
    domain: str | None
    created_at: datetime
    updated_at: datetime
    tiles: list[ShownTile]


@dataclass(frozen=True, slots=True)
class ListedOrbit:
    """An orbit, and the state of its newest run."""

    slug: str
    name: str
    domain: str | None
    updated_at: datetime
    tiles: int
    mode: ModeName | None
    outcome: Outcome | None
    started_at: datetime | None
    completed_at: datetime | None


class IngestionFilter(Filters):
    """Filters of ingestions."""

    orbit: str | None = where("r.orbit_slug = {}", "Orbit", max_length=100)
    mode: ModeName | None = where("r.mode = {}", "Mode")
    outcome: Outcome | None = where("r.outcome = {}", "Outcome")
    since: Moment | None = where("r.started_at >= {}", "Started since")
    until: Moment | None = where("r.started_at < {}", "Started before")


INGESTIONS = Listing(
    name="ingestions",
    item=IngestionRun,
    filters=IngestionFilter,
    table="messor.ingestion_runs",
    alias="r",
    columns=_COLUMNS,
    make=IngestionRun.of,
    orders=both_ways("-started_at", "r.started_at", "timestamptz", "Newest first", "Oldest first"),
)


class OrbitFilter(Filters):
    """Filters of orbits."""

    q: str | None = where(
        "strpos(o.slug, lower({})) > 0 OR strpos(lower(o.name), lower({})) > 0",
        "Part of the name", max_length=100,
    )  # fmt: skip
    domain: DomainText | None = where(
        "o.domain_id = (SELECT id FROM messor.domains WHERE domain = {})", "Domain"
    )


ORBITS = Listing(
    name="orbits",
    item=ListedOrbit,
    filters=OrbitFilter,
    table="messor.orbits",
    alias="o",
    columns="""o.slug, o.name, d.domain, o.updated_at,
      (SELECT count(*) FROM messor.tiles t WHERE t.orbit_id = o.id) AS tiles,
      r.mode, r.outcome, r.started_at, r.completed_at""",
    joins="""LEFT JOIN messor.domains d ON d.id = o.domain_id
      LEFT JOIN LATERAL (
        SELECT * FROM messor.ingestion_runs r WHERE r.orbit_slug = o.slug
         ORDER BY r.started_at DESC LIMIT 1) r ON true""",
    key_type="uuid",
    orders={
        **both_ways(
            "-updated_at", "o.updated_at", "timestamptz", "Recently changed first",
            "Least recently changed",
        ),
        **both_ways("slug", "o.slug", "text", "Name, A to Z", "Name, Z to A"),
    },
)  # fmt: skip


async def run(source: Connection | Database, trace_id: str) -> IngestionRun:
    row = await source.fetchrow(RUN, trace_id)
    if row is None:
        raise NotFoundError(f"Unknown ingestion {trace_id[:100]}.")
    return IngestionRun.of(row)


async def run_with_tiles(source: Connection | Database, trace_id: str) -> IngestionWithTiles:
    found = await run(source, trace_id)
    tiles = [_tile(row) for row in await source.fetch(TILES, found.id)]
    facts = {one.name: getattr(found, one.name) for one in fields(found)}
    return IngestionWithTiles(**facts, tiles=tiles)


async def orbit(source: Connection | Database, slug: str) -> Orbit:
    row = await source.fetchrow(ORBIT, slug)
    if row is None:
        raise NotFoundError(f"Unknown orbit {slug[:100]}.")
    facts = {name: value for name, value in row.items() if name != "id"}
    shown = [_tile(one) for one in await source.fetch(ORBIT_TILES, row["id"])]
    return Orbit(**facts, tiles=shown)


def _tile(row: Mapping[str, Any]) -> ShownTile:
    return ShownTile(**{**row, "items": msgspec.json.decode(row["items"])})
