"""The sent log: requests that a session sent but could not log before it ended.

Their worker keeps them until the database takes them: a request that reached a site is in the fetch
log, also when its session lost its lease while the database was slow or away.
"""

from __future__ import annotations

import asyncio
import contextlib

from messor.crawl.batch import FlushBatch
from messor.crawl.flush import Flusher
from messor.store.database import LOST_CONNECTION, TRY_AGAIN

RETRY_SECONDS = 0.1


class SentLog:
    """What the ended sessions of one worker have yet to log."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Flusher, list[FlushBatch]]] = []

    def add(self, flusher: Flusher, batches: list[FlushBatch]) -> None:
        """Keep the batches of a session that could not be committed, if requests are in them."""
        if any(leaf.results or leaf.cut_off for batch in batches for leaf in batch.leaves):
            self._waiting.append((flusher, batches))

    async def write(self, seconds: float) -> bool:
        """Log what waits; False if that was not possible in time, and it goes on waiting."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._waiting:
                    flusher, batches = self._waiting[0]
                    try:
                        await flusher.log_sent(batches)
                    except LOST_CONNECTION + TRY_AGAIN:
                        await asyncio.sleep(RETRY_SECONDS)
                    else:
                        del self._waiting[0]
        return not self._waiting
