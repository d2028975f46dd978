"""Messor at a pace: every host is asked as often as its delay allows, until the runner lets go."""

from __future__ import annotations

import uvloop
from bench.contender import Job, read_job, ready
from bench.messor_full import approve, settings_for

from messor.crawl.worker import Worker
from messor.store.database import Database


async def main(job: Job) -> None:
    assert job.dsn is not None
    delay, concurrency = job.options
    async with Database(job.dsn) as database:
        await approve(database, job, delay=float(delay))
        worker = Worker(settings_for(job, concurrency=int(concurrency)), database)
        ready()
        await worker.run()


if __name__ == "__main__":
    uvloop.run(main(read_job()))
