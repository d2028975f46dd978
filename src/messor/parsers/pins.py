"""Pins: which parser version reads pages, everywhere or on one domain.

People set and remove them; each change is an event, and the previous version is kept for going
back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.errors import NotFoundError
from messor.ledger import events
from messor.ledger.events import Event
from messor.store.database import Connection, Database

LIST = """
SELECT n.parser, n.version, n.previous, d.domain, n.pinned_by, n.pinned_at
  FROM messor.parser_pins n LEFT JOIN messor.domains d ON d.id = n.domain_id
 ORDER BY n.parser, d.domain NULLS FIRST
"""
_NOWHERE = "'00000000-0000-0000-0000-000000000000'"
SET = f"""
INSERT INTO messor.parser_pins AS n (parser, domain_id, version, pinned_by)
VALUES ($1, $2, $3, $4)
ON CONFLICT (parser, coalesce(domain_id, {_NOWHERE})) DO UPDATE
   SET previous = CASE WHEN n.version = excluded.version THEN n.previous ELSE n.version END,
       version = excluded.version, pinned_by = excluded.pinned_by,
       pinned_at = (SELECT messor.clock())
"""
PINNED = """
SELECT version FROM messor.parser_pins
 WHERE parser = $1 AND domain_id IS NOT DISTINCT FROM $2 FOR UPDATE
"""
LIFT = """
DELETE FROM messor.parser_pins WHERE parser = $1 AND domain_id IS NOT DISTINCT FROM $2
RETURNING version, previous
"""


@dataclass(frozen=True, slots=True)
class Pin:
    """A pinned version, used instead of the newest."""

    parser: str
    version: str
    previous: str | None
    domain: str | None  # None: everywhere
    pinned_by: str
    pinned_at: datetime


async def listing(source: Connection | Database) -> list[Pin]:
    return [Pin(**row) for row in await source.fetch(LIST)]


async def pin(
    connection: Connection, parser: str, version: str, *, domain_id: UUID | None, actor: str
) -> None:
    """Pin a version from now on; a replay reads stored pages again."""
    await connection.execute(SET, parser, domain_id, version, actor)
    data = {"parser": parser, "version": version}
    await events.record(connection, [Event("parser.pinned", actor, domain_id, None, data)])


async def pinned(connection: Connection, parser: str, domain_id: UUID | None) -> str | None:
    """Return the version pinned in a scope, and lock it until the transaction ends."""
    version: str | None = await connection.fetchval(PINNED, parser, domain_id)
    return version


async def lift(
    connection: Connection, parser: str, *, domain_id: UUID | None, actor: str
) -> str | None:
    """Return to the previously pinned version, or the newest; returns which."""
    row = await connection.fetchrow(LIFT, parser, domain_id)
    if row is None:
        raise NotFoundError(f"No version of {parser} is pinned there.")
    previous: str | None = row["previous"]
    if previous is not None:
        await connection.execute(SET, parser, domain_id, previous, actor)
    data = {"parser": parser, "version": previous, "instead_of": row["version"]}
    await events.record(connection, [Event("parser.unpinned", actor, domain_id, None, data)])
    return previous
