"""Events: append-only facts about governance and outcomes, read in commit order.

A plain id cursor loses rows: a transaction with a lower id may commit later. `ledger.queries` reads
by (tx, id), and only transactions older than every running one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import msgspec

from messor.core.masking import mask_except_pages, mask_path
from messor.ledger.event_types import EVENT_TYPES
from messor.store.database import Connection

RECORD = """
INSERT INTO messor.events (type, actor, domain_id, page_id, data)
SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[], $5::jsonb[])
"""


@dataclass(frozen=True, slots=True)
class Event:
    """A fact to record."""

    type: str
    actor: str
    domain_id: UUID | None = None
    page_id: int | None = None
    data: dict[str, Any] | None = None


async def record(connection: Connection, events: Sequence[Event]) -> None:
    """Record events in the caller's transaction, so that they exist exactly if it commits."""
    if not events:
        return
    undeclared = {event.type for event in events} - EVENT_TYPES.keys()
    if undeclared:
        raise ValueError(f"undeclared event types: {', '.join(sorted(undeclared))}")
    await connection.execute(
        RECORD,
        [event.type for event in events],
        [event.actor for event in events],
        [event.domain_id for event in events],
        [event.page_id for event in events],
        [msgspec.json.encode(event.data or {}).decode() for event in events],
    )


def data_of(event_type: str, stored: str) -> dict[str, Any]:
    """An event's data without secrets, whoever recorded it.

    The path of a webhook's URL is often its secret, so only the origin is kept. A page's own URL
    is kept: receivers look the page up by it.
    """
    data: dict[str, Any] = msgspec.json.decode(stored)
    if event_type.startswith("webhook.") and isinstance(data.get("url"), str):
        data["url"] = mask_path(data["url"])
    return mask_except_pages(data, _page_urls(event_type, data))


def _page_urls(event_type: str, data: dict[str, Any]) -> tuple[str, ...]:
    """The fields that contain a page's own URL, or page content."""
    declared = EVENT_TYPES.get(event_type)
    if declared is not None and declared.page_urls:
        return declared.page_urls
    is_of_page = event_type.startswith("tasks.") and data.get("scope") == "url"
    return ("name",) if is_of_page else ()
