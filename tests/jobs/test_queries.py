"""The list of jobs: by bounded scans, none missed, none listed twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from messor.jobs import jobs, queries
from messor.jobs.jobs import NewJob
from messor.jobs.queries import JOBS, JobFilter
from messor.store.database import Database


@pytest.mark.parametrize("limit, scan", [(50, 1_000), (2, 1_000), (50, 3), (1, 1)])
async def test_none_is_missed(database: Database, limit: int, scan: int) -> None:
    for number in range(12):
        kind = "score" if number % 4 else "export"
        async with database.transaction() as connection:
            await jobs.enqueue(connection, [NewJob(kind, f"{kind}:{number:02}", "log")])
    await database.fetch("UPDATE messor.jobs SET state = 'done' WHERE dedupe_key LIKE '%5'")
    listing = replace(JOBS, scan=scan)

    async def found(filters: JobFilter) -> list[str]:
        keys: list[str] = []
        cursor = None
        while True:
            page = await listing.read(database, filters, cursor=cursor, limit=limit)
            keys += [job.dedupe_key for job in page.items]
            if (cursor := page.next) is None:
                return keys

    everything = await found(JobFilter())
    assert sorted(key.rpartition(":")[2] for key in everything) == [f"{n:02}" for n in range(12)]
    assert await found(JobFilter(state="done")) == ["score:05"]
    exports = await found(JobFilter(job_type="export"))
    assert sorted(exports) == ["export:00", "export:04", "export:08"]
    assert sorted(await found(JobFilter(q=":1"))) == ["score:10", "score:11"]
    assert await found(JobFilter(state="dead")) == []


async def test_many_jobs_are_known_by_their_figures(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.transaction() as connection:
        await jobs.enqueue(connection, [NewJob("score", f"score:{n}", "log") for n in range(5)])
    figures = await queries.stats(database)
    assert not queries.are_many(figures)
    monkeypatch.setattr(queries, "MANY", 4)
    assert queries.are_many(figures)
