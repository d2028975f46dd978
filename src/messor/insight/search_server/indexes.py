"""The registered indexes: which is live, which is being filled, and how far each follows the outbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from messor.store.database import Connection, Database

Source = Connection | Database

LISTED = """
SELECT i.name, i.state, i.filled_to, i.refused, i.last_refusal, i.trouble, i.started_at, i.live_at,
       i.sent_at, (SELECT count(*) FROM (SELECT FROM messor.search_outbox o
                     WHERE (o.tx, o.id) > (i.tx, i.outbox_id) LIMIT 1000001) w) AS waiting
  FROM messor.search_indexes i ORDER BY i.state, i.name
"""
REGISTER = """
INSERT INTO messor.search_indexes (name, state) VALUES ($1, 'filling')
ON CONFLICT (state) DO NOTHING RETURNING name
"""
NAME = "SELECT name FROM messor.search_indexes WHERE state = $1"
FILLED = "UPDATE messor.search_indexes SET filled_to = greatest(filled_to, $2) WHERE name = $1"
FILLED_TO = "SELECT filled_to FROM messor.search_indexes WHERE name = $1"
# The index that was live goes first: there is one of each state.
RETIRE = "DELETE FROM messor.search_indexes WHERE state = 'live' AND name <> $1"
RAISE = """
UPDATE messor.search_indexes SET state = 'live', live_at = messor.clock(), trouble = NULL WHERE name = $1
"""
FORGET = "DELETE FROM messor.search_indexes WHERE $1::text IS NULL OR name = $1 RETURNING name"
REFUSED = """
UPDATE messor.search_indexes SET refused = refused + $2, last_refusal = left($3, 1000) WHERE name = $1
"""
TROUBLED = "UPDATE messor.search_indexes SET trouble = left($2, 1000) WHERE name = $1"
# Nothing is noted without an index; what was noted for one that is gone is not needed.
PRUNE = """
DELETE FROM messor.search_outbox o
 WHERE NOT EXISTS (SELECT FROM messor.search_indexes)
    OR (o.tx, o.id) <= (SELECT i.tx, i.outbox_id FROM messor.search_indexes i
                         ORDER BY i.tx, i.outbox_id LIMIT 1)
"""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """An index at the search server."""

    name: str
    state: Literal["filling", "live"]
    waiting: int  # documents noted and not sent; at most 1,000,001 are counted
    filled_to: int
    refused: int
    last_refusal: str | None
    trouble: str | None
    started_at: datetime
    live_at: datetime | None
    sent_at: datetime | None


async def statuses(source: Source) -> list[IndexStatus]:
    """All registered indexes."""
    return [IndexStatus(**row) for row in await source.fetch(LISTED)]


async def name_of(source: Source, state: Literal["filling", "live"]) -> str | None:
    """The index in a state; there is at most one."""
    found: str | None = await source.fetchval(NAME, state)
    return found


async def register(source: Source, name: str) -> str:
    """Register an index to be filled; returns the one that is being filled already, if any."""
    return await source.fetchval(REGISTER, name) or await name_of(source, "filling") or name


async def note_filled(source: Source, name: str, number: int) -> None:
    await source.fetch(FILLED, name, number)


async def filled_to(source: Source, name: str) -> int:
    """The last document that was sent while filling."""
    return await source.fetchval(FILLED_TO, name) or 0


async def make_live(database: Database, name: str) -> None:
    """The index answers from now on; any other is forgotten."""
    async with database.transaction() as connection:
        await connection.execute(RETIRE, name)
        await connection.execute(RAISE, name)


async def forget(source: Source, name: str | None = None) -> Sequence[str]:
    """Forget an index, or all; returns their names."""
    return [row["name"] for row in await source.fetch(FORGET, name)]


async def note_refused(source: Source, name: str, count: int, reason: str) -> None:
    await source.fetch(REFUSED, name, count, reason)


async def note_trouble(source: Source, name: str, trouble: str | None) -> None:
    await source.fetch(TROUBLED, name, trouble)


async def prune(source: Source) -> None:
    """Delete what every index has got."""
    await source.fetch(PRUNE)
