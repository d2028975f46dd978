"""The preview: what a watch would have told, before anybody is told anything.

It reads the change feed of the last days and applies the same conditions and filters, filters as
things are now. Nothing is stored.
"""

from __future__ import annotations

from datetime import timedelta

from messor.feed.queries import ChangeFilter, read_after
from messor.store.database import Database
from messor.store.listing import Position
from messor.watches.conditions import SWEPT
from messor.watches.evaluate import Telling, find
from messor.watches.sweep import would_sweep
from messor.watches.watches import Watch

DAYS = 30
MOST = 100  # alerts shown
MAX_READ = 200_000  # changes

FROM = """
SELECT tx::text, id::text FROM messor.changes
 WHERE occurred_at < (SELECT messor.clock()) - $1::interval
   AND tx < messor.commit_horizon()
 ORDER BY tx DESC, id DESC LIMIT 1
"""


async def preview(database: Database, watch: Watch) -> list[Telling]:
    """What it would have told in the last 30 days, newest first."""
    if watch.condition.when in SWEPT:
        return await would_sweep(database, watch)
    row = await database.fetchrow(FROM, timedelta(days=DAYS))
    at = Position("0", "0") if row is None else Position(*row)
    found: list[Telling] = []
    read = 0
    while True:
        changes, at, has_more = await read_after(database, ChangeFilter(), at, 5_000)
        found += await find(database, [watch], changes)
        read += len(changes)
        if not has_more or read >= MAX_READ:
            return found[: -MOST - 1 : -1]
