"""Queries of events: the list in commit order, and its newest position.

Logins and changes to members are visible only with the right to read the audit log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from messor.ledger.event_types import ADMIN_GROUPS
from messor.ledger.events import data_of
from messor.store.database import Connection, Database
from messor.store.listing import DomainText, Filters, Listing, Position, both_ways, where

NEWEST = """
SELECT e.tx::text, e.id::text FROM messor.events e
 WHERE e.tx < messor.commit_horizon() ORDER BY e.tx DESC, e.id DESC LIMIT 1
"""
_PREFIX = "split_part(e.type, '.', 1)"
_AUDIT_LIST = ", ".join(f"'{kind}'" for kind in ADMIN_GROUPS)


START = Position("0", "0")  # of the ledger


def is_audit(event_type: str) -> bool:
    """Whether an event is visible only with the right to read the audit log."""
    return event_type.partition(".")[0] in ADMIN_GROUPS


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """An event with the name of its domain; the id is its position in the ledger."""

    id: str
    occurred_at: datetime
    type: str
    actor: str
    domain_id: UUID | None
    domain: str | None
    page_id: int | None
    data: dict[str, Any]

    @property
    def position(self) -> Position:
        """Where to continue after this event."""
        return Position(*self.id.split("-"))


class EventFilter(Filters):
    """Filters of events."""

    q: str | None = where(
        "strpos(lower(e.type || ' ' || e.data::text), lower({})) > 0", "Search", max_length=200
    )
    type: str | None = where(
        "e.type = ANY (string_to_array({}, ','))",
        "Types, comma-separated, such as domain.approved",
        pattern=r"^[a-z_]{1,40}\.[a-z_]{1,60}(,[a-z_]{1,40}\.[a-z_]{1,60}){0,49}$",
    )
    kind: str | None = where(
        f"{_PREFIX} = {{}}", "First word of the type", pattern=r"^[a-z_]{1,40}$"
    )
    actor: str | None = where("e.actor = {}", "Actor", max_length=200)
    domain: DomainText | None = where(
        "e.domain_id = (SELECT id FROM messor.domains WHERE domain = {})", "Domain", indexed=True
    )
    page_id: int | None = where("e.page_id = {}", "Page", ge=1, le=2**63 - 1)
    with_audit: bool = where(
        {True: "", False: f"{_PREFIX} NOT IN ({_AUDIT_LIST})"}, "With audit events", default=False
    )


def _event(row: Mapping[str, Any]) -> ListedEvent:
    return ListedEvent(**{**row, "data": data_of(row["type"], row["data"])})


EVENTS = Listing(
    name="events",
    item=ListedEvent,
    filters=EventFilter,
    table="messor.events",
    alias="e",
    only="e.tx < messor.commit_horizon()",
    columns="""e.tx::text || '-' || e.id AS id, e.occurred_at, e.type, e.actor, e.domain_id,
               d.domain, e.page_id, e.data::text AS data""",
    joins="LEFT JOIN messor.domains d ON d.id = e.domain_id",
    orders=both_ways("-committed", "e.tx", "xid8", "Newest first", "Oldest first"),
    scan=10_000,
    make=_event,
)


async def newest(source: Connection | Database) -> Position:
    """The current end of the ledger, to wait for what follows."""
    row = await source.fetchrow(NEWEST)
    return START if row is None else Position(*row)
