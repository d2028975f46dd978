"""A batch of a thousand URLs: paced, complete, and continued by another server."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from messor.registry import domains
from messor.scrape.keeper import JobKeeper
from messor.store.database import Database
from tests.api.firecrawl.conftest import Door, article, opened
from tests.api.firecrawl.test_jobs import finished

DELAY = 0.02
PATIENCE = 300.0


async def batch_of(database: Database, folder: Path, count: int, *, stop_at: int) -> None:
    """The first keeper dies when so many are done; another one ends the job."""
    site = {f"/{n}": article(f"Page {n}", f"Tells of {n}. " * 30) for n in range(count)}
    async with opened(database, folder, {"one.test": site}, keeps=False) as door:
        await database.fetch("UPDATE messor.key_policies SET pages_a_day = 10000")
        await door.post("/v2/scrape", url="http://one.test/0")
        async with database.transaction() as connection:
            domain = await domains.get(connection, "one.test")
            await domains.configure(connection, domain, actor="tester", delay=DELAY)
        urls = [f"http://one.test/{n}" for n in range(count)]
        start = await door.post("/v2/batch/scrape", urls=urls)
        path = start.json()["url"]
        await _keep_until(door, path, stop_at)
        async with asyncio.timeout(PATIENCE):
            keeper = asyncio.create_task(JobKeeper(door.settings, database).run())
            body = await finished(door, start)
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)
        assert (body["status"], body["completed"], body["total"]) == ("completed", count, count)
        found = [one["metadata"]["url"] for one in body["data"]]
        assert sorted(found) == sorted(urls), "each once, over all pages of the answer"
        asked = [path for path in door.web.paths("one.test") if path != "/robots.txt"]
        assert len(asked) == count, "each was requested once"
        took = await database.fetchval(
            "SELECT extract(epoch FROM max(fetched_at) - min(fetched_at))::float8 FROM messor.http_fetches"
        )
        assert took >= DELAY * (count - 2), "never faster than the pace"


async def _keep_until(door: Door, path: str, stop_at: int) -> None:
    first = asyncio.create_task(JobKeeper(door.settings, door.database).run())
    async with asyncio.timeout(PATIENCE):
        while (await door.get(path)).json()["completed"] < stop_at:  # noqa: ASYNC110 - the API has no event
            await asyncio.sleep(0.1)
    first.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await first


async def test_a_batch_is_continued_by_another_server(database: Database, tmp_path: Path) -> None:
    await batch_of(database, tmp_path, 30, stop_at=8)


@pytest.mark.wide
async def test_a_batch_of_a_thousand(database: Database, tmp_path: Path) -> None:
    await batch_of(database, tmp_path, 1_000, stop_at=300)
