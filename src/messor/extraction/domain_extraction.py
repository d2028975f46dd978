"""Extraction of one domain's pages beside a crawl of it, and what it found.

Other domains' pages are left to running extractors, so that a command that crawls one site does not
work off the backlog of all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from messor.core import clock
from messor.extraction import queue
from messor.extraction.extract import Extractor, Tally
from messor.extraction.model_selection import asking_plan
from messor.extraction.reader_pool import ReaderPool, wanted_kinds
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

POLL_SECONDS = 0.5
LONGEST_SECONDS = 60.0  # without progress: pages of another machine, or held by another extractor


class DomainExtraction:
    """Extracts a domain's waiting pages, again and again, until nothing more comes."""

    def __init__(self, database: Database, settings: Settings, domain_id: UUID) -> None:
        self._database = database
        self._settings = settings
        self._domain_id = domain_id
        self._readers: ReaderPool | None = None
        self.tally = Tally()

    async def follow(self) -> None:
        """Extract what comes in, until cancelled."""
        while True:
            try:
                if not await self._step():
                    await asyncio.sleep(POLL_SECONDS)
            except LOST_CONNECTION + TRY_AGAIN:
                await asyncio.sleep(POLL_SECONDS)

    async def finish(self) -> int:
        """Extract the rest; returns the number of pages that remain for other extractors."""
        until = clock.now() + LONGEST_SECONDS
        while waiting := await queue.waiting_of(self._database, self._domain_id):
            if await self._extract(waiting):
                until = clock.now() + LONGEST_SECONDS
            elif clock.now() > until:
                return len(waiting)
            else:
                await asyncio.sleep(POLL_SECONDS)
        return 0

    async def close(self) -> None:
        if self._readers is not None:
            await self._readers.close()

    async def _step(self) -> int:
        waiting = await queue.waiting_of(self._database, self._domain_id)
        return await self._extract(waiting) if waiting else 0

    async def _extract(self, page_ids: Sequence[int]) -> int:
        """Extract these pages; returns how many were read."""
        if self._readers is None:
            self._readers = ReaderPool(1)
        extractor = Extractor(
            self._database,
            self._settings.data_dir / "archive",
            self._readers,
            plan=asking_plan(self._settings),
            kinds=wanted_kinds(self._settings.record_kinds),
            page_ids=page_ids,
        )
        done = await extractor.run()
        self.tally.pages += done.pages
        self.tally.records += done.records
        return done.pages + done.set_aside
