"""Lists of jobs, stretch by stretch: the newest first, none missed, none told twice."""

from __future__ import annotations

from uuid import UUID

import pytest

from messor.jobs import jobs, lists, queries
from messor.jobs.jobs import NewJob
from messor.store.database import Database


@pytest.mark.parametrize("limit, stretch", [(50, 1_000), (2, 1_000), (50, 3), (1, 1)])
async def test_none_is_missed(database: Database, limit: int, stretch: int) -> None:
    for number in range(12):
        kind = "score" if number % 4 else "export"
        async with database.transaction() as connection:
            await jobs.enqueue(connection, [NewJob(kind, f"{kind}:{number:02}", "log")])
    await database.fetch("UPDATE messor.jobs SET state = 'done' WHERE dedupe_key LIKE '%5'")

    async def found(state: str | None, kind: str | None) -> set[str]:
        keys: list[str] = []
        before: UUID | None = None
        while True:
            part = await queries.jobs(
                database, state=state, job_type=kind, before=before, limit=limit, stretch=stretch
            )
            keys += [line.dedupe_key for line in part.jobs]
            if part.reached is None:
                break
            before = part.reached
        assert len(keys) == len(set(keys))
        return set(keys)

    assert len(await found(None, None)) == 12
    assert await found("done", None) == {"score:05"}
    assert await found(None, "export") == {"export:00", "export:04", "export:08"}
    assert await found("dead", None) == set()


async def test_many_jobs_are_known_by_their_figures(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with database.transaction() as connection:
        await jobs.enqueue(connection, [NewJob("score", f"score:{n}", "log") for n in range(5)])
    figures = await lists.stats(database)
    assert not lists.are_many(figures)
    monkeypatch.setattr(lists, "MANY", 4)
    assert lists.are_many(figures)
