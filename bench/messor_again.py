"""Messor's second crawl of a web that has not changed, over what the first one left."""

from __future__ import annotations

from typing import Any

import uvloop
from bench.contender import Job, read_job, ready, report
from bench.messor_full import crawl, settings_for

from messor.crawl.worker import Worker
from messor.fetch.outcome import Outcome
from messor.frontier import tasks
from messor.store.database import Database
from messor.web.suffixes import registrable_domain

KEPT = """
SELECT (SELECT count(*) FROM messor.page_snapshots) AS snapshots,
       (SELECT count(*) FROM messor.snapshot_texts) AS texts,
       (SELECT count(*) FROM messor.page_changes) AS changes
"""


async def main(job: Job) -> dict[str, Any]:
    assert job.dsn is not None
    async with Database(job.dsn) as database:
        before = await _kept(database)
        async with database.transaction() as connection:
            await tasks.recrawl(connection)
        worker = Worker(settings_for(job), database)
        # The list of suffixes is read before the clocks start, as it is in the first crawl.
        registrable_domain("any.test")
        round_trips = database.round_trips
        ready()
        await crawl(worker, job.pages, Outcome.UNCHANGED)
        round_trips = database.round_trips - round_trips
        after = await _kept(database)
        new = {f"new_{name}": after[name] - before[name] for name in after}
        return {"pages": worker.outcomes[Outcome.UNCHANGED], "round_trips": round_trips, **new}


async def _kept(database: Database) -> dict[str, int]:
    row = await database.fetchrow(KEPT)
    assert row is not None
    return dict(row)


if __name__ == "__main__":
    report(**uvloop.run(main(read_job())))
