"""Fair share: how many lanes a worker claims while other workers want some.

A worker could hold far more lanes than it can serve at once and leave none for an idle one. So
each takes an even share, and of the rest only lanes that have stayed unclaimed for a while.
"""

from __future__ import annotations

import math

from messor.core import clock
from messor.store.database import Database

FRESH_SECONDS = 1.0
# Lanes beyond a worker's share are claimed once they have waited this long.
PATIENCE = 2.0

# Live workers, and lanes held or due; due lanes are counted only up to a limit.
STANDING = """
SELECT (SELECT count(*) FROM messor.worker_leases
         WHERE ended_at IS NULL AND expires_at > messor.clock()) AS workers,
       (SELECT count(*) FROM messor.lanes WHERE worker_id IS NOT NULL) AS held,
       (SELECT count(*) FROM (SELECT FROM messor.lanes
          WHERE worker_id IS NULL AND claim_at <= messor.clock() + interval '1 second'
          LIMIT $1) d) AS due
"""


class FairShare:
    """A worker's share of lanes, refreshed when outdated."""

    def __init__(self, database: Database, max_lanes: int) -> None:
        self._database = database
        self._max_lanes = max_lanes  # maximum lanes per worker
        self._share = max_lanes
        self._measured_at = -math.inf

    async def lanes(self) -> int:
        """Maximum number of lanes this worker should hold now."""
        if clock.now() - self._measured_at >= FRESH_SECONDS:
            row = await self._database.fetchrow(STANDING, 16 * self._max_lanes)
            assert row is not None
            workers = max(1, row["workers"])
            share = math.ceil((row["held"] + row["due"]) / workers)
            self._share = self._max_lanes if workers == 1 else min(self._max_lanes, max(1, share))
            self._measured_at = clock.now()
        return self._share
