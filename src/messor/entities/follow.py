"""Following the change feed: the entities of records that are new, changed, removed or erased.

Older records are read once by their id. A batch is one transaction with the position after it, and
reads the records as they are now, so that it may come twice.
"""

from __future__ import annotations

from messor.entities.kinds import SOURCES
from messor.entities.regroup import regroup
from messor.entities.statements import place
from messor.errors import CursorExpiredError
from messor.feed.queries import newest, read_entries
from messor.store.database import Connection, Database
from messor.store.listing import Position
from messor.store.rounds import Rounds

BATCH = 1_000
HANG_SECONDS = 300.0

# One process follows at a time; another waits for nothing.
TAKE = """
SELECT tx::text, change_id::text, filled_to FROM messor.entity_position FOR UPDATE SKIP LOCKED
"""
ADVANCE = "UPDATE messor.entity_position SET tx = $1::text::xid8, change_id = $2, filled_to = $3"
OLDER = """
SELECT id FROM messor.records WHERE id > $1 AND kind = ANY ($2::text[]) ORDER BY id LIMIT $3
"""


async def follow(database: Database, limit: int = BATCH) -> int | None:
    """Take the next batch; returns how many records it had, None if there is nothing to do."""
    async with database.transaction() as connection:
        row = await connection.fetchrow(TAKE)
        if row is None:
            return None
        at, filled_to = Position(row["tx"], row["change_id"]), row["filled_to"]
        if filled_to is not None:
            return await _fill(connection, at, filled_to, limit)
        return await _follow(connection, at, limit)


async def _fill(connection: Connection, at: Position, filled_to: int, limit: int) -> int:
    """The next older records; what changes meanwhile follows from where the feed stood at the start."""
    if filled_to == 0:
        at = await newest(connection)
    ids = [row[0] for row in await connection.fetch(OLDER, filled_to, sorted(SOURCES), limit)]
    await _update(connection, ids)
    reached = ids[-1] if len(ids) == limit else None
    await connection.execute(ADVANCE, at.value, int(at.key), reached)
    return len(ids)


async def _follow(connection: Connection, at: Position, limit: int) -> int | None:
    try:
        entries, reached, has_more = await read_entries(connection, at, limit)
    except CursorExpiredError:  # a long standstill: all is read again
        await connection.execute(ADVANCE, at.value, int(at.key), 0)
        return 0
    ids = sorted({each.subject for each in entries if each.kind == "record" and each.subject})
    await _update(connection, ids)
    if reached != at:
        await connection.execute(ADVANCE, reached.value, int(reached.key), None)
    return len(ids) if entries or has_more else None


async def _update(connection: Connection, record_ids: list[int]) -> None:
    touched = await place(connection, record_ids) if record_ids else set()
    if touched:
        await regroup(connection, sorted(touched))


def follower(database: Database) -> Rounds:
    """The component that follows as long as it runs; any number may run, one at a time works."""

    async def work() -> bool:
        return await follow(database) is not None

    return Rounds("following records", work, hang_seconds=HANG_SECONDS)
