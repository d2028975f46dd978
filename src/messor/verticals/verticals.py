"""Verticals in the database: applied from files, each version kept, with dependent rows.

Applying happens in the caller's transaction. Profiles and services that a file no longer names are
deactivated rather than removed, because keywords and snapshots refer to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database
from messor.verticals.differences import KeyDifference, between
from messor.verticals.files import VerticalFile
from messor.verticals.model import Vertical

COLUMNS = """id, name, title, version, on_block, definition, source, source_hash, applied_by,
  applied_at"""

# A version stands for one content: versions only grow and are never reused.
APPLY = f"""
INSERT INTO messor.verticals AS v (id, name, title, version, on_block, definition, source,
                                   source_hash, applied_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (name) DO UPDATE
   SET title = excluded.title, version = excluded.version, on_block = excluded.on_block,
       definition = excluded.definition, source = excluded.source,
       source_hash = excluded.source_hash, applied_by = excluded.applied_by,
       applied_at = messor.clock()
 WHERE v.version < excluded.version
RETURNING {COLUMNS}
"""
KEEP_VERSION = """
INSERT INTO messor.vertical_versions (vertical_id, version, source, source_hash, applied_by)
VALUES ($1, $2, $3, $4, $5)
"""
SERVICES = """
WITH given AS (
  SELECT * FROM unnest($2::text[], $3::text[], $4::text[]) AS g (name, synonyms, intent)
), dropped AS (
  UPDATE messor.vertical_services SET active = false
   WHERE vertical_id = $1 AND service_name <> ALL ($2) AND active
)
INSERT INTO messor.vertical_services (vertical_id, service_name, synonyms, intent)
SELECT $1, name, ARRAY(SELECT jsonb_array_elements_text(synonyms::jsonb)), intent FROM given
ON CONFLICT (vertical_id, service_name) DO UPDATE
   SET synonyms = excluded.synonyms, intent = excluded.intent, active = true
"""
PROFILES = """
WITH dropped AS (
  UPDATE messor.serp_profiles SET active = false
   WHERE vertical_id = $1 AND name <> ALL ($2) AND active
)
INSERT INTO messor.serp_profiles (vertical_id, name, gl, hl, device, location, uule)
SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
ON CONFLICT (vertical_id, name) DO UPDATE
   SET gl = excluded.gl, hl = excluded.hl, device = excluded.device,
       location = excluded.location, uule = excluded.uule, active = true
"""
GEO_SETS = """
INSERT INTO messor.geo_sets (vertical_id, name, modifiers, priority_order)
SELECT $1, name, ARRAY(SELECT jsonb_array_elements_text(modifiers::jsonb)), priority
  FROM unnest($2::text[], $3::text[], $4::int[]) AS g (name, modifiers, priority)
"""
TEMPLATES = """
INSERT INTO messor.keyword_templates (vertical_id, template, geo_set_id, language)
SELECT $1, t.template, g.id, t.language
  FROM unnest($2::text[], $3::text[], $4::text[]) AS t (template, geo_set, language)
  LEFT JOIN messor.geo_sets g ON g.name = t.geo_set
"""
VERSIONS = """
SELECT version, applied_by, applied_at FROM messor.vertical_versions
 WHERE vertical_id = $1 ORDER BY version DESC
"""


@dataclass(frozen=True, slots=True)
class Applied:
    """A vertical as applied."""

    id: UUID
    vertical: Vertical
    source: str
    source_hash: bytes
    applied_by: str
    applied_at: datetime

    @classmethod
    def of(cls, row: Any) -> Applied:
        definition = Vertical.model_validate_json(row["definition"])
        return cls(
            row["id"],
            definition,
            row["source"],
            row["source_hash"],
            row["applied_by"],
            row["applied_at"],
        )


@dataclass(frozen=True, slots=True)
class VerticalVersion:
    version: int
    applied_by: str
    applied_at: datetime


async def apply(
    connection: Connection, file: VerticalFile, *, actor: str
) -> tuple[Applied, list[KeyDifference]]:
    """Apply a vertical.

    Returns it and what changed. Applying the same file again changes nothing.
    """
    vertical = file.vertical
    before = await find(connection, vertical.name)
    if before is not None and before.source_hash == file.source_hash:
        return before, []
    row = await connection.fetchrow(
        APPLY,
        before.id if before else new_id(),
        vertical.name,
        vertical.title,
        vertical.version,
        vertical.on_block,
        vertical.model_dump_json(exclude_none=True),
        file.source,
        file.source_hash,
        actor,
    )
    if row is None:
        now = await get(connection, vertical.name)
        raise ConflictError(
            f"Version {now.vertical.version} of {vertical.name} is applied and differs from this file "
            f"of version {vertical.version}: give the file a higher version."
        )
    after = Applied.of(row)
    await _spread(connection, after, actor)
    changes = between(before.vertical if before else None, vertical)
    data = {"vertical": vertical.name, "version": vertical.version, "changes": len(changes)}
    await record(connection, [Event("vertical.applied", actor, data=data)])
    return after, changes


async def _spread(connection: Connection, applied: Applied, actor: str) -> None:
    """Write a vertical's dependent rows."""
    key, vertical = applied.id, applied.vertical
    await connection.execute(
        KEEP_VERSION, key, vertical.version, applied.source, applied.source_hash, actor
    )
    services, profiles = vertical.services, vertical.profiles
    await connection.execute(
        SERVICES,
        key,
        [service.name for service in services],
        [_json(service.synonyms) for service in services],
        [service.intent for service in services],
    )
    values = list(profiles.values())
    await connection.execute(
        PROFILES,
        key,
        list(profiles),
        [profile.gl for profile in values],
        [profile.hl for profile in values],
        [profile.device for profile in values],
        [profile.location for profile in values],
        [profile.uule for profile in values],
    )
    await _write_templates(connection, key, vertical)


async def _write_templates(connection: Connection, key: UUID, vertical: Vertical) -> None:
    await connection.execute("DELETE FROM messor.keyword_templates WHERE vertical_id = $1", key)
    await connection.execute("DELETE FROM messor.geo_sets WHERE vertical_id = $1", key)
    sets = vertical.geo_sets
    await connection.execute(
        GEO_SETS,
        key,
        [f"{vertical.name}.{name}" for name in sets],
        [_json(geo.modifiers) for geo in sets.values()],
        [geo.priority for geo in sets.values()],
    )
    await connection.execute(
        TEMPLATES,
        key,
        [row.template for row in vertical.templates],
        [f"{vertical.name}.{row.geo_set}" if row.geo_set else None for row in vertical.templates],
        [row.language for row in vertical.templates],
    )


async def find(source: Connection | Database, name: str) -> Applied | None:
    row = await source.fetchrow(f"SELECT {COLUMNS} FROM messor.verticals WHERE name = $1", name)
    return None if row is None else Applied.of(row)


async def get(source: Connection | Database, name: str) -> Applied:
    found = await find(source, name)
    if found is None:
        raise NotFoundError(f"{name} is not applied. Apply it: messor verticals apply {name}")
    return found


async def listing(source: Connection | Database) -> list[Applied]:
    rows = await source.fetch(f"SELECT {COLUMNS} FROM messor.verticals ORDER BY name")
    return [Applied.of(row) for row in rows]


async def history(source: Connection | Database, applied: Applied) -> list[VerticalVersion]:
    """Every applied version, newest first."""
    return [VerticalVersion(**row) for row in await source.fetch(VERSIONS, applied.id)]


def _json(texts: tuple[str, ...]) -> str:
    return msgspec.json.encode(texts).decode()
