"""Ingestion runs in the database: start, plan, progress and result.

A run whose process died has no end; readers show it as unfinished.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.errors import ConflictError
from messor.ingest.request import CheckedRequest
from messor.ingest.tiles import Tile
from messor.ledger.events import Event, record
from messor.registry.domains import Domain
from messor.store.database import Connection, Database

LONGEST_RUN_SECONDS = 1200.0  # an older run without an end has lost its process

MAKE_ORBIT = """
INSERT INTO messor.orbits (id, slug, name, owner, domain_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (slug) DO UPDATE SET updated_at = messor.clock(),
   domain_id = coalesce(messor.orbits.domain_id, excluded.domain_id)
RETURNING id, domain_id
"""

OPEN = """
INSERT INTO messor.ingestion_runs (trace_id, orbit_slug, mode, url, domain_id, requested_by)
VALUES ($1, $2, $3, $4, $5, $6) RETURNING id, trace_id, started_at
"""

PLAN = """
INSERT INTO messor.ingestion_pages (run_id, page_id, position, origin, reason, cached)
SELECT $1, * FROM unnest($2::bigint[], $3::smallint[], $4::text[], $5::text[], $6::bool[])
ON CONFLICT (run_id, page_id) DO NOTHING
"""

DROP = "DELETE FROM messor.ingestion_pages WHERE run_id = $1 AND page_id = ANY ($2::bigint[])"

STAGE = "UPDATE messor.ingestion_runs SET stage = $2 WHERE id = $1"

COMPLETE = """
UPDATE messor.ingestion_runs
   SET stage = 'done', completed_at = messor.clock(), outcome = $2, evidence = $3 WHERE id = $1
"""

# All of them, or those of pages with a result in this run: what could not be read this time does
# not delete what was read before.
REMOVE_TILES = """
DELETE FROM messor.tiles WHERE orbit_id = $1 AND ($2 OR source_url = ANY ($3::text[]))
"""

STORE_TILES = """
WITH older AS (
  UPDATE messor.tiles SET position = position + $10 WHERE orbit_id = $1
)
INSERT INTO messor.tiles (id, orbit_id, run_id, position, category, title, summary, items,
                          source_url, snapshot_id, confidence)
SELECT g.id, $1, $2, g.position - 1, g.category, g.title, g.summary, g.items, g.source_url,
       g.snapshot_id, g.confidence
  FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::text[],
              $9::bigint[], $11::real[]) WITH ORDINALITY
       AS g (id, category, title, summary, items, source_url, snapshot_id, confidence, position)
"""

FIND = """
SELECT r.id, r.trace_id, r.orbit_slug, r.mode, r.url, r.stage, r.started_at, r.completed_at,
       r.outcome, r.evidence,
       r.completed_at IS NULL AND r.started_at < messor.clock() - make_interval(secs => $3)
         AS lost
  FROM messor.ingestion_runs r
 WHERE ($1::text IS NULL OR r.trace_id = $1) AND (NOT $2 OR r.completed_at IS NULL)
 ORDER BY r.id DESC LIMIT $4
"""

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class RunKey:
    """Identifies a run."""

    id: int
    trace_id: str
    started_at: datetime
    orbit_id: UUID


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as stored."""

    id: int
    trace_id: str
    orbit_slug: str
    mode: str
    url: str
    stage: str
    started_at: datetime
    completed_at: datetime | None
    outcome: str | None
    evidence: dict[str, Any] | None
    lost: bool  # it has no end, and its process is certainly gone


async def open_run(connection: Connection, checked: CheckedRequest, domain: Domain) -> RunKey:
    """Open a run, and create its orbit if there is none."""
    actor = checked.request.actor
    orbit = await connection.fetchrow(
        MAKE_ORBIT, new_id(), checked.slug, domain.domain, actor, domain.id
    )
    assert orbit is not None
    if orbit["domain_id"] != domain.id:
        raise ConflictError(
            f"Orbit {checked.slug} belongs to another domain than {domain.domain}; name another orbit."
        )
    row = await connection.fetchrow(
        OPEN, secrets.token_hex(16), checked.slug, checked.mode, checked.url.href, domain.id, actor
    )
    assert row is not None
    return RunKey(row["id"], row["trace_id"], row["started_at"], orbit["id"])


async def plan(
    connection: Connection, run: RunKey, pages: Sequence[tuple[int, int, str, str, bool]]
) -> None:
    """Store pages of the plan: page, position, origin, reason, whether the cache has it."""
    columns = [list(column) for column in zip(*pages, strict=True)] or [[], [], [], [], []]
    await connection.execute(PLAN, run.id, *columns)


async def drop(connection: Connection, run: RunKey, page_ids: Sequence[int]) -> None:
    """Remove pages from the plan: redirects of others used up what the mode allows."""
    await connection.execute(DROP, run.id, page_ids)


async def set_stage(connection: Connection, run: RunKey, stage: str) -> None:
    await connection.execute(STAGE, run.id, stage)


async def complete(
    connection: Connection, run: RunKey, outcome: str, evidence: dict[str, Any], fact: Event
) -> None:
    await connection.execute(COMPLETE, run.id, outcome, _encode(evidence).decode())
    await record(connection, [fact])


async def store_tiles(
    connection: Connection,
    run: RunKey,
    tiles: Sequence[Tile],
    *,
    answered: Sequence[str] | None,
) -> None:
    """Store a run's tiles first.

    `answered` names the pages whose older tiles are removed, None means all.
    """
    await connection.execute(REMOVE_TILES, run.orbit_id, answered is None, answered or [])
    await connection.execute(
        STORE_TILES,
        run.orbit_id,
        run.id,
        [tile.id for tile in tiles],
        [tile.category for tile in tiles],
        [tile.title for tile in tiles],
        [tile.summary for tile in tiles],
        [_encode(tile.items).decode() for tile in tiles],
        [tile.source_url for tile in tiles],
        [tile.snapshot_id for tile in tiles],
        len(tiles),
        [tile.confidence for tile in tiles],
    )


async def find(database: Database, trace_id: str) -> StoredRun | None:
    """Progress or result of a run."""
    rows = await database.fetch(FIND, trace_id, False, LONGEST_RUN_SECONDS, 1)
    return _stored(rows[0]) if rows else None


async def unfinished(database: Database, limit: int = 100) -> list[StoredRun]:
    """Runs without an end, newest first."""
    rows = await database.fetch(FIND, None, True, LONGEST_RUN_SECONDS, limit)
    return [_stored(row) for row in rows]


def _stored(row: Any) -> StoredRun:
    evidence = msgspec.json.decode(row["evidence"]) if row["evidence"] else None
    return StoredRun(**{**row, "evidence": evidence})
