"""Reading events page by page in the order they were committed, forwards and backwards.

Who logged in and who changed whom is for those who may read the audit; others do not see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from messor.ledger.events import Cursor, Event, RecordedEvent
from messor.store.database import Connection, Database

# The first words of types that tell of people and secrets, not of the web.
AUDIT = ("session", "login", "member", "key", "link", "proxy", "webhook", "person")

# Ordered by the column, not by the output of the same name: only the former has an index.
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


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events are meant; what is not given does not matter."""

    types: Sequence[str] | None = None
    domain_id: UUID | None = None
    page_id: int | None = None
    with_audit: bool = False


async def events(
    source: Connection | Database,
    wanted: Wanted,
    *,
    beyond: Cursor | None = None,
    newest_first: bool = False,
    limit: int = 50,
) -> list[RecordedEvent]:
    """The next events in commit order, or in the opposite one."""
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
        list(AUDIT),
        limit,
    )
    return [_recorded(row) for row in rows]


async def newest(source: Connection | Database) -> Cursor:
    """Where the ledger ends now, for whoever waits for what comes."""
    row = await source.fetchrow(NEWEST)
    return Cursor() if row is None else Cursor(row["tx"], row["id"])


def _recorded(row: Any) -> RecordedEvent:
    data = msgspec.json.decode(row["data"])
    event = Event(row["type"], row["actor"], row["domain_id"], row["page_id"], data)
    return RecordedEvent(Cursor(row["tx"], row["id"]), row["occurred_at"], event)
