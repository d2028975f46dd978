"""Messor's full path in one process and what extraction makes of every page in others.

The first process crawls, takes what changed from the queue and stores what was found; a second one,
or with the option `every_core` one for each core, reads pages from the archive: main content,
metadata, type, flags, and records of the kinds that the other options name, all kinds when none is
named. The run ends when every page was fetched, read, and its records committed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Any

import uvloop
from bench.contender import Job, read_job, ready, report
from bench.messor_full import approve, crawl, settings_for

from messor.crawl.worker import Worker
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool, wanted_kinds
from messor.extraction.reader_protocol import ReadRequest, UnreadableError
from messor.settings import Settings
from messor.store.database import Database

EVERY_CORE = "every_core"
CONNECTIONS = 8  # batches of pages that are read keep theirs meanwhile
_LOOK_SECONDS = 0.02
_STALL_SECONDS = 120.0  # a batch is long, and a machine may be busy
FOUND = """
SELECT (SELECT count(*) FROM messor.extractions) AS pages,
       (SELECT count(*) FROM messor.records) AS records,
       (SELECT count(*) FROM messor.products) AS products
"""


async def main(job: Job) -> dict[str, Any]:
    assert job.dsn is not None
    kinds_asked_for = [option for option in job.options if option != EVERY_CORE]
    settings = settings_for(job, record_kinds=kinds_asked_for)
    async with Database(job.dsn, pool_size=CONNECTIONS) as database:
        await approve(database, job)
        readers = ReaderPool(None if EVERY_CORE in job.options else 1)
        await _start(readers, settings)
        worker = Worker(settings, database)
        kinds = wanted_kinds(settings.record_kinds)
        extractor = Extractor(database, archive_of(settings), readers, kinds=kinds)
        before = database.round_trips
        ready()
        own = time.process_time()
        extracting = asyncio.create_task(extractor.run(follow=True))
        await crawl(worker, job.pages + len(job.starts))
        crawled = time.process_time() - own
        await _emptied(extractor, job.pages)
        extractor.stop()
        await extracting
        own = time.process_time() - own
        round_trips = database.round_trips - before
        found = await database.fetchrow(FOUND)
        assert found is not None
        await readers.close()
        return {**found, "round_trips": round_trips, "own_cpu": own, "own_cpu_crawled": crawled}


def archive_of(settings: Settings) -> Path:
    return settings.data_dir / "archive"


async def _start(readers: ReaderPool, settings: Settings) -> None:
    """Have the reading processes do their imports before the clocks start, as all contenders do."""
    nothing = ReadRequest(
        str(archive_of(settings)), "none.warc.gz", 0, 0, None, "http://none.test/", 200
    )
    for asked in readers.ask([nothing] * readers.count):
        with contextlib.suppress(UnreadableError):
            await asked


async def _emptied(extractor: Extractor, pages: int) -> None:
    """Until all pages are extracted, or nothing comes of it any more; the database is not asked."""
    last, since = -1, time.monotonic()
    while (done := extractor.tally.pages + extractor.tally.set_aside) < pages:
        if done != last:
            last, since = done, time.monotonic()
        if time.monotonic() - since > _STALL_SECONDS:
            return
        await asyncio.sleep(_LOOK_SECONDS)


if __name__ == "__main__":
    report(**uvloop.run(main(read_job())))
