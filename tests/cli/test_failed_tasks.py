"""Failed fetches and failed tasks, from a crawl to what the command line says of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from messor.extraction import queue
from messor.store.database import Database
from simweb.answers import SimResponse, plain
from tests.cli.conftest import Messor
from tests.crawling import admit, crawl, later
from tests.little_web import LittleWeb, page, robots

BROKEN = "http://one.test/broken"
NO_PRIVATE = robots("User-agent: *\nDisallow: /private\nSitemap: http://one.test/sitemap.xml\n")
DAY = timedelta(days=1)
# As if four rounds had failed, and two tries of the fifth.
NEARLY_RESTING = """
UPDATE messor.crawl_tasks t SET rounds = 4, retry_count = 2, due_at = messor.clock()
  FROM messor.pages p WHERE p.id = t.page_id AND p.url = $1
"""
RESTING = """
UPDATE messor.crawl_tasks t SET status = 'failed', rounds = 5, retry_count = 3, due_at = NULL
  FROM messor.pages p WHERE p.id = t.page_id AND p.url = $1
"""
WAKE_LANES = """
UPDATE messor.lanes SET due_at = messor.clock(), claim_at = messor.clock(), ready_at = messor.clock()
"""

Scene = Callable[["Site"], Awaitable[None]]


def sitemap(lastmod: datetime) -> SimResponse:
    date = f"{lastmod:%Y-%m-%dT%H:%M:%SZ}"
    body = f"<urlset><url><loc>{BROKEN}</loc><lastmod>{date}</lastmod></url></urlset>"
    return SimResponse(200, (("Content-Type", "application/xml"),), body.encode())


class Site:
    """A site with a page that answers 500 and one that robots.txt forbids."""

    def __init__(self, dsn: str, web: LittleWeb) -> None:
        self.dsn, self.web = dsn, web
        self.rooms = web.houses["one.test"].rooms
        names = {**web.server.names(), "shut.test:80": "127.0.0.1:9"}
        networks = {"addresses": ["127.0.0.0/8"], "ports": [web.server.port, 9], "names": names}
        self.settings = web.settings(allowed_networks=networks)

    async def crawl(self, after: timedelta = timedelta()) -> None:
        async with Database(later(self.dsn, after)) as database:
            await crawl(self.settings, database)


def play(dsn: str, folder: Path, scene: Scene) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    rooms = {
        "/": page("Home", "/broken", "/private", "/fine"),
        "/fine": page("Fine"),
        "/broken": plain(500, "broken"),
        "/robots.txt": NO_PRIVATE,
        "/sitemap.xml": sitemap(long_ago),
    }

    async def run() -> None:
        async with LittleWeb(folder, {"one.test": rooms}) as web:
            await scene(Site(dsn, web))

    asyncio.run(run())


def failures(messor: Messor, *words: str) -> dict[str, Any]:
    return {row["url"]: row for row in messor("tasks", "dead", "--json", *words).json}


def test_failed_fetches_are_logged_by_category(dsn: str, tmp_path: Path, messor: Messor) -> None:
    """A 500, a refused connection and a name that does not resolve, each in `messor jobs errors`."""

    async def scene(site: Site) -> None:
        async with Database(dsn) as database:
            for url in ("http://one.test/", "http://shut.test/", "http://nowhere.test/"):
                await admit(database, url)
        await site.crawl()

    play(dsn, tmp_path, scene)
    found = {
        (row["category"], row["error_type"]): row for row in messor("jobs", "errors", "--json").json
    }
    assert {("http", "http_500"), ("network", "connect"), ("network", "dns")} <= set(found)
    assert found["http", "http_500"]["sample"] == "the site returned 500"
    assert {row["of_jobs"] for row in found.values()} == {0}
    only = messor("jobs", "errors", "--category", "http", "--json").json
    assert [row["error_type"] for row in only] == ["http_500"]

    async def logged(database: Database) -> Any:
        return await database.fetchrow(
            """SELECT e.detail, t.error_message, t.error_category, p.url, e.stack_trace,
                      (SELECT count(*) FROM messor.error_logs) AS all_of_them,
                      (SELECT count(*) FROM messor.http_fetches f
                        WHERE f.outcome IN ('error', 'timeout', 'blocked')) AS failed
                 FROM messor.error_logs e JOIN messor.crawl_tasks t ON t.page_id = e.crawl_task_id
                 JOIN messor.pages p ON p.id = t.page_id WHERE e.error_type = 'http_500'"""
        )

    row = ask(dsn, logged)
    assert (row["error_message"], row["error_category"]) == ("the site returned 500", "http")
    assert row["url"] == BROKEN
    assert '"try": 1' in row["detail"]
    assert row["all_of_them"] == row["failed"], "one for each fetch that failed, none for others"


def test_a_task_fails_for_good_rests_and_is_asked_for(
    dsn: str, tmp_path: Path, messor: Messor
) -> None:
    """Three tries make a round, five rounds a rest; a changed sitemap or a person ends it."""

    async def scene(site: Site) -> None:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
        await site.crawl()
        await site.crawl(timedelta(minutes=3))
        await site.crawl(timedelta(minutes=20))
        assert site.web.paths("one.test").count("/broken") == 3

    play(dsn, tmp_path, scene)
    once = failures(messor, "--category", "http", "--domain", "one.test")[BROKEN]
    assert (once["tries"], once["rounds"], once["http_status"]) == (3, 1, 500)
    assert once["reason"] == "the site returned 500"
    until_next = datetime.fromisoformat(once["next_crawl_at"]) - datetime.now(UTC)
    assert timedelta(hours=23) < until_next < timedelta(hours=25), "at its usual cadence"
    assert failures(messor, "--resting") == {}
    assert failures(messor, "--category", "network") == {}

    async def fail_again(site: Site) -> None:
        async with Database(dsn) as database:
            await database.fetch(NEARLY_RESTING, BROKEN)
            await database.fetch(WAKE_LANES)
        await site.crawl()

    play(dsn, tmp_path, fail_again)
    resting = failures(messor, "--resting")[BROKEN]
    assert (resting["tries"], resting["rounds"], resting["next_crawl_at"]) == (3, 5, None)

    async def change_sitemap(site: Site) -> None:
        site.rooms["/sitemap.xml"] = sitemap(datetime.now(UTC) + timedelta(hours=3))
        await site.crawl(2 * DAY)
        assert site.web.paths("one.test").count("/broken") == 1

    play(dsn, tmp_path, change_sitemap)
    woken = ask(dsn, task)
    assert (woken["status"], woken["retry_count"], woken["rounds"]) == ("pending", 1, 0)

    ask(dsn, lambda database: database.fetch(RESTING, BROKEN))
    assert BROKEN in failures(messor, "--resting")
    assert messor("tasks", "retry", "--url", BROKEN).code == 0
    asked = ask(dsn, task)
    assert (asked["status"], asked["retry_count"], asked["rounds"]) == ("pending", 0, 0)
    assert asked["due_at"] is not None
    assert failures(messor) == {}
    assert "No matching failed tasks." in messor("tasks", "dead").err


def test_the_last_error_is_the_tasks_until_it_succeeds(
    dsn: str, tmp_path: Path, messor: Messor
) -> None:
    """`error_message` is the newest error, and none once the page is fetched."""
    said: list[str | None] = []
    answers = iter((plain(500, "broken"), plain(502, "bad gateway"), page("Mended")))

    async def scene(site: Site) -> None:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
        site.rooms["/broken"] = lambda _: next(answers)
        for hours in range(3):
            await site.crawl(timedelta(hours=hours))
            async with Database(dsn) as database:
                said.append((await task(database))["error_message"])

    play(dsn, tmp_path, scene)
    assert ["500" in (said[0] or ""), "502" in (said[1] or ""), said[2]] == [True, True, None]
    listed = messor("tasks", "list", "--kind", "page", "--json").json
    assert {row["error_message"] for row in listed if row["url"] == BROKEN} == {None}


def test_tasks_are_skipped_downloaded_parsing_and_completed(
    dsn: str, tmp_path: Path, messor: Messor
) -> None:
    async def scene(site: Site) -> None:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
        await site.crawl()

    play(dsn, tmp_path, scene)

    def with_status(status: str) -> list[str]:
        rows = messor("tasks", "list", "--status", status, "--kind", "page", "--json").json
        assert {row["status"] for row in rows} <= {status}
        return [row["url"].removeprefix("http://one.test") for row in rows]

    assert with_status("skipped") == ["/private"]
    (skipped,) = messor("tasks", "list", "--status", "skipped", "--kind", "page", "--json").json
    decided = {"allowed": False, "reason": "disallow_rule:/private"}
    assert skipped["skip"] == {"skip_reason": "robots", "robots_decision": decided}
    assert sorted(with_status("downloaded")) == ["/", "/fine"]
    assert with_status("completed") == with_status("parsing") == []

    async def extract(database: Database) -> None:
        async with database.transaction() as connection:
            claimed = await connection.fetch(queue.CLAIM, 1, None)
            listed = await asyncio.to_thread(
                lambda: (with_status("parsing"), with_status("downloaded"))
            )
            assert listed == (["/"], ["/fine"])
            await connection.execute(queue.DONE, [row["id"] for row in claimed])

    ask(dsn, extract)
    assert with_status("completed") == ["/"]
    assert with_status("downloaded") == ["/fine"]


def test_the_last_scrape_is_the_last_good_page(dsn: str, tmp_path: Path, messor: Messor) -> None:
    """A visit that only fails, or only reads robots.txt, does not count."""

    async def scene(site: Site) -> None:
        async with Database(dsn) as database:
            await admit(database, "http://one.test/")
        site.rooms["/"] = plain(500, "broken")
        await site.crawl()

    def last() -> Any:
        return messor("domains", "show", "one.test", "--json").json["last_scraped_at"]

    play(dsn, tmp_path, scene)
    assert last() is None

    async def works(site: Site) -> None:
        await site.crawl(timedelta(minutes=5))

    play(dsn, tmp_path, works)
    good = last()
    assert good is not None

    async def breaks(site: Site) -> None:
        for name in ("/", "/fine"):
            site.rooms[name] = plain(500, "broken")
        await site.crawl(2 * DAY)
        assert site.web.paths("one.test").count("/") == 1

    play(dsn, tmp_path, breaks)
    assert last() == good


async def task(database: Database) -> Any:
    return await database.fetchrow(
        """SELECT t.* FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
            WHERE p.url = $1""",
        BROKEN,
    )


def ask(dsn: str, question: Callable[[Database], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Database(dsn) as database:
            return await question(database)

    return asyncio.run(run())
