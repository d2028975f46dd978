"""Messor's full path in one process: paced at delay 0, everything decided, recorded and archived."""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import time
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvloop
from bench.contender import Job, read_job, ready, report

from messor.crawl.worker import Worker
from messor.fetch.outcome import Outcome
from messor.governance import admission
from messor.registry import domains
from messor.settings import AllowedNetworks, Settings
from messor.store.database import Database

STALL_SECONDS = 20.0  # without a new page the crawl is given up, and falls short
_LOOK_SECONDS = 0.02
_MARKS = (10_000, 50_000)  # pages at which the memory is read
_PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
_STATM = os.open("/proc/self/statm", os.O_RDONLY)  # kept open: looking must cost next to nothing
_ACTOR = "bench"


def settings_for(job: Job, **values: Any) -> Settings:
    ports = sorted({port for _, port in job.targets.values()})
    return Settings(
        data_dir=Path(job.folder),
        database_url=job.dsn,
        contact="https://bench.test/",
        ca_file=Path(job.ca_file) if job.ca_file else None,
        allowed_networks=AllowedNetworks(addresses=["127.0.0.0/8"], ports=ports, names=job.names),
        **values,
    )


async def approve(database: Database, job: Job, *, delay: float = 0) -> None:
    """Register every host with a delay, 0 if not told, and no bound on its pages."""
    for start in job.starts:
        async with database.transaction() as connection:
            wanted = domains.Submission.understand(start)
            domain, _ = await domains.submit(connection, wanted, actor=_ACTOR)
            domain = await domains.configure(
                connection,
                domain,
                actor=_ACTOR,
                delay=delay,
                max_crawl_depth=100,
                page_budget=1_000_000,
                max_concurrent_requests=job.per_host,
            )
            await admission.approve(connection, domain, actor=_ACTOR)


async def crawl(worker: Worker, expected: int, outcome: Outcome = Outcome.OK) -> dict[str, float]:
    """Run the worker until all is committed, and stop it; tell its memory at the marks."""
    memory: dict[str, float] = {}
    # A batch comes and goes twice a second: a mark is the median of a few seconds before it.
    recent: deque[int] = deque(maxlen=int(3 / _LOOK_SECONDS))
    last, since = 0, time.monotonic()
    async with _running(worker) as task:
        while not task.done():
            done = worker.outcomes[outcome]
            recent.append(_rss())
            for mark in _MARKS:
                if done >= mark:
                    memory.setdefault(f"rss_{mark}", statistics.median(recent))
            if done > last:
                last, since = done, time.monotonic()
            if done >= expected or time.monotonic() - since > STALL_SECONDS:
                break
            await asyncio.sleep(_LOOK_SECONDS)
    return memory


@contextlib.asynccontextmanager
async def _running(worker: Worker) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(worker.run())
    try:
        yield task
    finally:
        worker.stop()
        await task


def _rss() -> int:
    return int(os.pread(_STATM, 200, 0).split()[1]) * _PAGE_SIZE


async def main(job: Job) -> dict[str, Any]:
    assert job.dsn is not None
    async with Database(job.dsn) as database:
        await approve(database, job)
        texts = "archive" if "--texts-in-archive" in job.options else "database"
        worker = Worker(settings_for(job, texts=texts), database)
        before = database.round_trips
        ready()
        # Every host is asked for its robots.txt, too.
        memory = await crawl(worker, job.pages + len(job.starts))
        round_trips = database.round_trips - before
        pages = await database.fetchval("SELECT count(*) FROM messor.page_snapshots")
        return {"pages": pages, "round_trips": round_trips, **memory}


if __name__ == "__main__":
    report(**uvloop.run(main(read_job())))
