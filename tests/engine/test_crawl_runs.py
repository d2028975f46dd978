"""Runs and workers that are not theirs: whoever fetches a run's page goes on with the run."""

from __future__ import annotations

from pathlib import Path

from messor.engine import crawl_runs
from messor.frontier import runs
from messor.frontier.runs import CrawlRun, Limits
from messor.registry import domains
from messor.store.database import Database
from messor.web.urls import parse
from tests.crawling import TESTER, admit, crawl
from tests.little_web import LittleWeb, page

SHOP = "shop.test"
ROOMS = {
    "/": page("Home", "/1"),
    "/1": page("One", "/2", "/a"),
    "/2": page("Two", "/3"),
    "/3": page("Three"),
    "/a": page("A"),
}


async def begin(database: Database, url: str, limits: Limits) -> CrawlRun:
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
        run = await begin(database, f"http://{SHOP}/1", Limits(depth=2))
        await crawl(web.settings(), database)
        assert sorted(web.paths(SHOP)[2:]) == ["/1", "/2", "/3", "/a"]
        assert await runs.outcomes(database, run) == ({"ok": 4}, 0)


async def test_two_runs_at_a_time_keep_their_own_limits(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {SHOP: ROOMS}) as web:
        await admit(database, f"http://{SHOP}/", harvest="asked")
        near = await begin(database, f"http://{SHOP}/1", Limits(depth=0))
        far = await begin(database, f"http://{SHOP}/", Limits(depth=2))
        settings = web.settings()
        await crawl(settings, database)
        while await crawl_runs.expand(database, settings.data_dir / "archive", far, SHOP):
            await crawl(settings, database)
        assert await runs.outcomes(database, near) == ({"ok": 1}, 0)
        found, fresh = await runs.outcomes(database, far)
        assert (sum(found.values()), fresh in (0, 1)) == (4, True)
        assert "/3" not in web.paths(SHOP)


async def test_what_is_left_of_a_run_is_not_due_for_anybody(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {SHOP: ROOMS}) as web:
        await admit(database, f"http://{SHOP}/", harvest="asked")
        await crawl(web.settings(), database)
        run = await begin(database, f"http://{SHOP}/", Limits(depth=1, refetch=True))
        async with database.transaction() as connection:
            await runs.end(connection, run, "interrupted")
        asked = len(web.paths(SHOP))
        await crawl(web.settings(), database)
        assert set(web.paths(SHOP)[asked:]) <= {"/"}
        again = await begin(database, f"http://{SHOP}/", Limits(depth=1, refetch=True))
        assert again.id == run.id
