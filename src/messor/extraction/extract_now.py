"""Extraction of a few pages for a caller who waits for their records.

A running extractor may be reading them already: rows are claimed, so nothing is read twice, and
this one reads what nobody has claimed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from messor.archive.storage import Archive
from messor.core import clock
from messor.extraction import queue
from messor.extraction.extract import Extractor
from messor.extraction.model_selection import asking_plan
from messor.extraction.reader_pool import ReaderPool, wanted_kinds
from messor.settings import Settings
from messor.store.database import Database

POLL_SECONDS = 0.1
LONGEST_SECONDS = 30.0  # a page in another machine's archive, or read by another extractor


async def extract_now(database: Database, settings: Settings, page_ids: Sequence[int]) -> bool:
    """Extract these pages unless that was done; returns whether all that can be read was."""
    if not await queue.is_awaited(database, page_ids):
        return True
    readers = ReaderPool(1)
    extractor = Extractor(
        database,
        Archive.of(settings),
        readers,
        plan=asking_plan(settings),
        kinds=wanted_kinds(settings.record_kinds),
        page_ids=page_ids,
    )
    until = clock.now() + LONGEST_SECONDS
    try:
        await extractor.run()
        while await queue.is_awaited(database, page_ids):
            if clock.now() > until:
                return False
            await asyncio.sleep(POLL_SECONDS)
            await extractor.run()
    finally:
        await readers.close()
    return True
