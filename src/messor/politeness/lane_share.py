"""Sharing: how many lanes a worker takes while others want some, too.

A worker could hold far more lanes than it can serve at once, and would leave none to another that
has nothing to do. So each takes its even share of what there is, and of the rest only what nobody
took for a while.
"""

from __future__ import annotations

import math

from messor.core import clock
from messor.store.database import Database

FRESH_SECONDS = 1.0
# Lanes beyond a worker's share that have waited so long are taken by whoever has room.
PATIENCE = 2.0

# Live workers, and the lanes that are held or due; of the due ones no more than matter are counted.
STANDING = """
SELECT (SELECT count(*) FROM messor.worker_leases
         WHERE ended_at IS NULL AND expires_at > messor.clock()) AS workers,
       (SELECT count(*) FROM messor.lanes WHERE worker_id IS NOT NULL) AS held,
       (SELECT count(*) FROM (SELECT FROM messor.lanes
          WHERE worker_id IS NULL AND claim_at <= messor.clock() + interval '1 second'
          LIMIT $1) d) AS due
"""


class FairShare:
    """A worker's share, asked for again when it has become old."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._most = most  # lanes that one worker may hold
        self._share = most
        self._asked_at = -math.inf

    async def lanes(self) -> int:
        """How many lanes this worker should hold at most just now."""
        if clock.now() - self._asked_at >= FRESH_SECONDS:
            row = await self._database.fetchrow(STANDING, 16 * self._most)
            assert row is not None
            workers = max(1, row["workers"])
            share = math.ceil((row["held"] + row["due"]) / workers)
            self._share = self._most if workers == 1 else min(self._most, max(1, share))
            self._asked_at = clock.now()
        return self._share
