"""Runs and workers that are not theirs: whoever fetches a run's page goes on with the run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path

import pytest

from messor.crawl import crawl_runs
from messor.frontier import runs
from messor.frontier.runs import CrawlRun, RunLimits
from messor.politeness import lanes
from messor.registry import domains
from messor.store.database import Database
from messor.web.urls import parse
from tests.crawling import TESTER, admit, at_work, crawl, until
from tests.little_web import LittleWeb, page

SHOP = "shop.test"
WWW = "www.shop.test"
PAST_CHECK = 1.3  # seconds: PostgreSQL looks once for a deadlock, after waiting for one second
HOST_IDS = "SELECT id FROM messor.hosts WHERE host = ANY ($1::text[])"
TOUCH = """
UPDATE messor.crawl_tasks SET retry_count = retry_count WHERE host_id = ANY ($1::bigint[])
"""
FRESH = """
UPDATE messor.crawl_run_pages SET fetched = false, expanded = false WHERE run_id = $1
"""
RUNS = "SELECT count(*) FROM messor.crawl_runs"
ROOMS = {
    "/": page("Home", "/1"),
    "/1": page("One", "/2", "/a"),
    "/2": page("Two", "/3"),
    "/3": page("Three"),
    "/a": page("A"),
}


async def begin(database: Database, url: str, limits: RunLimits) -> CrawlRun:
    parsed = parse(url)
    assert parsed is not None
    async with database.transaction() as connection:
        domain = await domains.get(connection, SHOP)
        run, _ = await crawl_runs.begin(connection, domain, parsed, limits, actor=TESTER)
    return run


async def test_any_worker_carries_a_run_on(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {SHOP: ROOMS}) as web:
        await admit(database, f"http://{SHOP}/", harvest="asked", max_crawl_depth=1)
        await crawl(web.settings(), database)
        assert web.paths(SHOP) == ["/robots.txt", "/"]
        run = await begin(database, f"http://{SHOP}/1", RunLimits(depth=2))
        await crawl(web.settings(), database)
        assert sorted(web.paths(SHOP)[2:]) == ["/1", "/2", "/3", "/a"]
        assert await runs.outcomes(database, run) == ({"ok": 4}, 0)


async def test_two_runs_at_a_time_keep_their_own_limits(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {SHOP: ROOMS}) as web:
        await admit(database, f"http://{SHOP}/", harvest="asked")
        near = await begin(database, f"http://{SHOP}/1", RunLimits(depth=0))
        far = await begin(database, f"http://{SHOP}/", RunLimits(depth=2))
        settings = web.settings()
        await crawl(settings, database)
        while await crawl_runs.expand(database, settings.data_dir / "archive", far, SHOP):
            await crawl(settings, database)
        # Fetched again for the second run, as nobody had followed its links.
        assert await runs.outcomes(database, near) == ({"unchanged": 1}, 0)
        found, fresh = await runs.outcomes(database, far)
        assert (sum(found.values()), fresh in (0, 1)) == (4, True)
        assert "/3" not in web.paths(SHOP)


async def test_what_is_left_of_a_run_is_not_due_for_anybody(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {SHOP: ROOMS}) as web:
        await admit(database, f"http://{SHOP}/", harvest="asked")
        await crawl(web.settings(), database)
        run = await begin(database, f"http://{SHOP}/", RunLimits(depth=1, refetch=True))
        async with database.transaction() as connection:
            await runs.end(connection, run, "interrupted")
        asked = len(web.paths(SHOP))
        await crawl(web.settings(), database)
        assert set(web.paths(SHOP)[asked:]) <= {"/"}
        again = await begin(database, f"http://{SHOP}/", RunLimits(depth=1, refetch=True))
        assert again.id == run.id


async def _in_the_way(database: Database, hosts: list[str], act: Awaitable[object]) -> None:
    """An act meets a transaction that locks lanes, then tasks, as a flush and `refetch` do."""
    async with database.transaction() as connection:
        ids = [row["id"] for row in await connection.fetch(HOST_IDS, hosts)]
        await lanes.lock(connection, ids)
        acting = asyncio.ensure_future(act)
        await asyncio.sleep(PAST_CHECK)
        await connection.execute(TOUCH, ids)
    await acting


@pytest.mark.parametrize("limits", [RunLimits(), RunLimits(refetch=True)])
async def test_a_run_begins_beside_a_flush(
    database: Database, tmp_path: Path, limits: RunLimits
) -> None:
    rooms = {"/": page("Home", f"http://{WWW}/"), "/1": page("One")}
    async with LittleWeb(tmp_path, {SHOP: rooms, WWW: {"/": page("Www", "/gone")}}) as web:
        await admit(database, f"http://{SHOP}/")
        await crawl(web.settings(), database)
        await database.fetch("UPDATE messor.crawl_tasks SET outcome = 'error' WHERE kind = 'page'")
        await _in_the_way(database, [WWW], begin(database, f"http://{SHOP}/1", limits))


async def test_a_run_goes_on_beside_a_flush(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {SHOP: ROOMS}) as web:
        settings = web.settings()
        await admit(database, f"http://{SHOP}/")
        await crawl(settings, database)
        limits = RunLimits(depth=3)
        run = await begin(database, f"http://{SHOP}/", limits)
        await database.fetch(FRESH, run.id)
        await database.fetch("UPDATE messor.crawl_tasks SET outcome = 'error' WHERE kind = 'page'")
        archive = settings.data_dir / "archive"
        await _in_the_way(database, [SHOP], crawl_runs.expand(database, archive, run, SHOP))
        async with database.transaction() as connection:
            await runs.end(connection, run, "interrupted")
        await _in_the_way(database, [SHOP], begin(database, f"http://{SHOP}/", limits))
        assert await database.fetchval(RUNS) == 1  # it was the same one


async def test_a_flush_that_waits_for_a_run_holds_none_of_its_tasks(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {SHOP: ROOMS}) as web:
        await admit(database, f"http://{SHOP}/", harvest="asked")
        run = await begin(database, f"http://{SHOP}/1", RunLimits(depth=2))
        async with at_work(web.settings(), database):
            async with database.transaction() as connection:
                await connection.execute(runs.LOCK, [run.id])
                await until(lambda: "/1" in web.paths(SHOP))
                await asyncio.sleep(PAST_CHECK)
                ids = [row["id"] for row in await connection.fetch(HOST_IDS, [SHOP])]
                await connection.execute(TOUCH, ids)
            await until(lambda: "/3" in web.paths(SHOP))
