"""The newest events, for display.

To read on from a position without missing a row, use `ledger.events.read_after`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from messor.ledger.event_types import ADMIN_GROUPS
from messor.ledger.events import data_of
from messor.store.database import Connection, Database

WINDOW = 500  # newest events scanned, whatever their types

NEWEST = """
SELECT e.id, e.occurred_at, e.type, e.actor, e.domain_id, d.domain, e.page_id, e.data::text AS data
  FROM (SELECT * FROM messor.events ORDER BY tx DESC, id DESC LIMIT $2) e
  LEFT JOIN messor.domains d ON d.id = e.domain_id
 WHERE split_part(e.type, '.', 1) <> ALL ($3::text[])
 ORDER BY e.tx DESC, e.id DESC LIMIT $1
"""


@dataclass(frozen=True, slots=True)
class Recent:
    """An event with the name of its domain."""

    id: int
    occurred_at: datetime
    type: str
    actor: str
    domain_id: UUID | None
    domain: str | None
    page_id: int | None
    data: dict[str, Any]


async def newest(
    source: Connection | Database, limit: int = 12, *, audit: bool = False
) -> list[Recent]:
    """The newest events first; admin-only events only with `audit`."""
    hidden = [] if audit else list(ADMIN_GROUPS)
    rows = await source.fetch(NEWEST, limit, WINDOW, hidden)
    return [Recent(**{**row, "data": data_of(row["type"], row["data"])}) for row in rows]
