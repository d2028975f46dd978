"""What was recorded in the ledger."""

from __future__ import annotations

from messor.ledger.queries import EVENTS, EventFilter, ListedEvent
from messor.store.database import Database
from messor.store.listing import Position


async def read_after(database: Database, after: Position, limit: int = 500) -> list[ListedEvent]:
    """The next events of all types in commit order."""
    found, _ = await EVENTS.select(
        database, EventFilter(with_audit=True), "committed", after, limit
    )
    return found
