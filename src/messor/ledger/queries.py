"""Events page by page in commit order, forwards and backwards.

Logins and changes to members are visible only with the right to read the audit log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from messor.ledger.event_types import ADMIN_GROUPS
from messor.ledger.events import Cursor, Event, RecordedEvent, data_of
from messor.store.database import Connection, Database

# Ordered by the column, not the output of the same name: only the column has an index.
READ = """
SELECT e.tx::text::bigint AS tx, e.id, occurred_at, type, actor, domain_id, page_id, data
  FROM messor.events e
 WHERE ($1::text IS NULL OR (e.tx, e.id) {beyond} ($1::text::xid8, $2::bigint))
   AND e.tx < pg_snapshot_xmin(pg_current_snapshot())
   AND ($3::text[] IS NULL OR type = ANY ($3)) AND ($4::uuid IS NULL OR domain_id = $4)
   AND ($5::bigint IS NULL OR page_id = $5)
   AND ($6 OR split_part(type, '.', 1) <> ALL ($7::text[]))
 ORDER BY e.tx {direction}, e.id {direction} LIMIT $8
"""
NEWEST = """
SELECT e.tx::text::bigint AS tx, e.id FROM messor.events e
 WHERE e.tx < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY e.tx DESC, e.id DESC LIMIT 1
"""

SLICE = 10_000  # events scanned per query
LEFT_OUT = 20  # events scanned per one wanted, if only audit events are left out

# The same over a slice of the ledger, as a rare type would otherwise require reading all of it.
# The first row says how far the scan got.
SCAN = """
WITH stretch AS MATERIALIZED (
  SELECT e.tx, e.id, e.occurred_at, e.type, e.actor, e.domain_id, e.page_id, e.data
    FROM messor.events e
   WHERE (e.tx, e.id) {beyond} (coalesce($1::text, '{start}')::xid8, coalesce($2::bigint, {start_id}))
     AND e.tx < pg_snapshot_xmin(pg_current_snapshot()) AND {whose}
   ORDER BY e.tx {direction}, e.id {direction} LIMIT $9
), fitting AS (
  SELECT s.* FROM stretch s
   WHERE ($3::text[] IS NULL OR s.type = ANY ($3)) AND ($5::bigint IS NULL OR s.page_id = $5)
     AND ($6 OR split_part(s.type, '.', 1) <> ALL ($7::text[]))
   ORDER BY s.tx {direction}, s.id {direction} LIMIT $8
), last AS (
  SELECT s.tx, s.id FROM stretch s WHERE (SELECT count(*) FROM stretch) = $9
   ORDER BY s.tx {opposite}, s.id {opposite} LIMIT 1
)
SELECT f.tx::text::bigint AS tx, f.id, f.occurred_at, f.type, f.actor, f.domain_id, f.page_id, f.data,
       l.tx::text::bigint AS last_tx, l.id AS last_id
  FROM (SELECT 1) once LEFT JOIN last l ON true LEFT JOIN fitting f ON true
 ORDER BY f.tx {direction}, f.id {direction}
"""
_OF_ALL, _OF_DOMAIN = "$4::uuid IS NULL", "e.domain_id = $4::uuid"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Filter of events; None matches everything."""

    types: Sequence[str] | None = None
    domain_id: UUID | None = None
    page_id: int | None = None
    with_audit: bool = False


async def events(
    source: Connection | Database,
    wanted: EventFilter,
    *,
    beyond: Cursor | None = None,
    newest_first: bool = False,
    limit: int = 50,
) -> list[RecordedEvent]:
    """The next events in commit order, or in reverse."""
    sql = READ.format(
        beyond="<" if newest_first else ">", direction="DESC" if newest_first else "ASC"
    )
    rows = await source.fetch(
        sql,
        None if beyond is None else str(beyond.tx),
        None if beyond is None else beyond.id,
        None if wanted.types is None else list(wanted.types),
        wanted.domain_id,
        wanted.page_id,
        wanted.with_audit,
        list(ADMIN_GROUPS),
        limit,
    )
    return [_recorded(row) for row in rows]


@dataclass(frozen=True, slots=True)
class EventSlice:
    """Matching events, and where the next slice begins; None at the ledger's end."""

    events: list[RecordedEvent]
    reached: Cursor | None


async def look(
    source: Connection | Database,
    wanted: EventFilter,
    *,
    beyond: Cursor | None = None,
    newest_first: bool = False,
    limit: int = 50,
    stretch: int = SLICE,
) -> EventSlice:
    """The next events, as `events` returns them, from a bounded slice of the ledger."""
    sql = SCAN.format(
        beyond="<" if newest_first else ">",
        direction="DESC" if newest_first else "ASC",
        opposite="ASC" if newest_first else "DESC",
        start=2**64 - 1 if newest_first else 0,
        start_id=2**63 - 1 if newest_first else 0,
        whose=_OF_ALL if wanted.domain_id is None else _OF_DOMAIN,
    )
    rows = await source.fetch(
        sql,
        None if beyond is None else str(beyond.tx),
        None if beyond is None else beyond.id,
        None if wanted.types is None else list(wanted.types),
        wanted.domain_id,
        wanted.page_id,
        wanted.with_audit,
        list(ADMIN_GROUPS),
        limit + 1,
        stretch if wanted.types or wanted.page_id else limit * LEFT_OUT + 1,
    )
    found = [_recorded(row) for row in rows if row["tx"] is not None]
    if len(found) > limit:
        return EventSlice(found[:limit], found[limit - 1].cursor)
    last = rows[0]["last_tx"]
    return EventSlice(found, None if last is None else Cursor(last, rows[0]["last_id"]))


async def newest(source: Connection | Database) -> Cursor:
    """The current end of the ledger, to wait for what follows."""
    row = await source.fetchrow(NEWEST)
    return Cursor() if row is None else Cursor(row["tx"], row["id"])


def _recorded(row: Any) -> RecordedEvent:
    data = data_of(row["type"], row["data"])
    event = Event(row["type"], row["actor"], row["domain_id"], row["page_id"], data)
    return RecordedEvent(Cursor(row["tx"], row["id"]), row["occurred_at"], event)
