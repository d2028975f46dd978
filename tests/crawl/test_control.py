"""Control while workers are at work: pauses within a flush, recrawls by event, rhythm by history."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.frontier import control
from messor.frontier.control import Scope
from messor.store.database import Database
from simweb import SimResponse
from tests.crawl.conftest import Bench
from tests.crawling import PATIENCE, admit, at_work, crawl, idle, later, until
from tests.little_web import LittleWeb, Room, page

TASKS = """
SELECT p.url, t.* FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
 WHERE t.kind = 'page' ORDER BY p.id
"""
HELD = "SELECT count(*) FROM messor.lanes WHERE worker_id IS NOT NULL"


async def tasks(database: Database) -> dict[str, dict[str, Any]]:
    """Tasks by the path of their page."""
    rows = await database.fetch(TASKS)
    return {"/" + row["url"].split("/", 3)[3]: dict(row) for row in rows}


async def act(database: Database, name: str, scope: Scope) -> control.ControlResult:
    return await control.act(database, name, scope, actor="tester")


def street(folder: Path, pages: int = 40) -> LittleWeb:
    links = [f"/{n}" for n in range(pages)]
    rooms: dict[str, Room] = {link: page(link) for link in links}
    return LittleWeb(folder, {"a.test": {"/": page("start", *links), **rooms}})


async def left(database: Database) -> None:
    """Wait until no lane is held."""
    async with asyncio.timeout(PATIENCE):
        while True:
            await asyncio.sleep(0.02)
            if not await database.fetchval(HELD):
                return


async def hurry(database: Database) -> None:
    """The slow part, in which there is time to act, is over."""
    await database.fetch("UPDATE messor.domains SET crawl_delay_seconds = 0")


@pytest.mark.parametrize("kind", ["domain", "all"])
async def test_a_pause_holds_within_a_flush_and_over_a_restart(
    database: Database, tmp_path: Path, kind: str
) -> None:
    async with street(tmp_path) as web:
        settings = web.settings()
        await admit(database, "http://a.test/", delay=0.3)
        scope = await Scope.domain(database, "a.test") if kind == "domain" else Scope.everything()
        async with at_work(settings, database) as worker:
            await until(lambda: sum(worker.outcomes.values()) >= 3)
            await act(database, "pause", scope)
            await left(database)
            fetched = len(web.requests())
            assert fetched < 35
            await hurry(database)
        async with at_work(settings, database):  # another worker, after a restart
            claims = "SELECT count(*) FROM messor.visits"
            before = await database.fetchval(claims)
            await idle(database)
            assert await database.fetchval(claims) == before
            assert len(web.requests()) == fetched
            await act(database, "resume", scope)
            await idle(database)
        assert {task["outcome"] for task in (await tasks(database)).values()} == {"ok"}


async def test_a_visit_leaves_pages_that_were_paused_after_it_began(
    database: Database, tmp_path: Path
) -> None:
    async with street(tmp_path) as web:
        await admit(database, "http://a.test/", delay=0.3)
        async with at_work(web.settings(), database) as worker:
            await until(lambda: sum(worker.outcomes.values()) >= 5)
            waiting = [t for t in (await tasks(database)).values() if t["outcome"] is None]
            chosen = waiting[-5:]
            for task in chosen:
                await act(database, "pause", await Scope.url(database, task["url"]))
            await left(database)
            await hurry(database)
            await database.fetch(
                "UPDATE messor.lanes SET ready_at = messor.clock(), claim_at = messor.clock()"
            )
            await idle(database)
        found = await tasks(database)
        for task in chosen:
            path = "/" + task["url"].split("/", 3)[3]
            assert (found[path]["status"], found[path]["outcome"]) == ("paused", None)
        assert sum(task["outcome"] == "ok" for task in found.values()) == 36
        asked = {request.path for request in web.requests()}
        assert not asked & {"/" + task["url"].split("/", 3)[3] for task in chosen}


@pytest.mark.parametrize("name, status", [("pause", "paused"), ("stop", "cancelled")])
async def test_what_is_paused_or_stopped_while_it_is_fetched_stays_so(
    bench: Bench, name: str, status: str
) -> None:
    harvest = await bench.harvest()
    await act(bench.database, name, await Scope.url(bench.database, harvest.task.url))
    closed = await bench.flusher.flush(await bench.batch(harvest))
    assert closed == [bench.host_id], "the visit is told to end"
    path = "/" + harvest.task.url.split("/", 3)[3]
    task = (await tasks(bench.database))[path]
    assert (task["status"], task["due_at"], task["outcome"]) == (status, None, "ok")
    assert (task["held_due_at"] is not None) == (status == "paused")


async def test_the_next_crawl_is_the_completion_plus_the_frequency(
    database: Database, tmp_path: Path
) -> None:
    async with street(tmp_path, 2) as web:
        domain = await admit(database, "http://a.test/")
        await database.fetch("UPDATE messor.domains SET track_level = 'B' WHERE id = $1", domain.id)
        await database.fetch(
            "UPDATE messor.crawl_tasks SET crawl_frequency = '5 hours' WHERE kind = 'page'"
        )
        await crawl(web.settings(), database)
        found = await tasks(database)
        assert found["/"]["due_at"] - found["/"]["completed_at"] == timedelta(hours=5)
        assert found["/0"]["due_at"] - found["/0"]["completed_at"] == timedelta(days=7)


async def test_pages_that_change_come_sooner_and_those_that_do_not_later(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    looks = 0

    def changing(_: object) -> SimResponse:
        return page(f"look {looks}")

    async with LittleWeb(
        tmp_path, {"a.test": {"/": page("start", "/news"), "/news": changing}}
    ) as web:
        await admit(database, "http://a.test/")
        await crawl(web.settings(), database)
        for look in range(1, 5):
            looks = look
            async with Database(later(dsn, timedelta(days=10 * look))) as future:
                await crawl(web.settings(), future)
        found = await tasks(database)
        news = found["/news"]["due_at"] - found["/news"]["completed_at"]
        start = found["/"]["due_at"] - found["/"]["completed_at"]
        assert found["/news"]["history"] == 0b11111
        assert found["/"]["history"] == 0b10000
        assert timedelta(hours=6) <= news < timedelta(days=1) < start <= timedelta(days=4)


async def test_a_page_whose_section_changed_is_looked_at_within_the_hour(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    shelf = [f"/shop/tea/{n}" for n in range(30)]
    rooms: dict[str, Room] = {path: page(path) for path in [*shelf, "/shop/mugs/1"]}
    price = 1

    def priced(_: object) -> SimResponse:
        return page(f"price {price}")

    rooms["/shop/tea/0"] = priced
    web = LittleWeb(tmp_path, {"a.test": {"/": page("start", *rooms), **rooms}})
    async with web:
        await admit(database, "http://a.test/")
        await crawl(web.settings(), database)
        price = 2
        async with Database(later(dsn, timedelta(hours=12))) as noon:
            await act(noon, "recrawl", await Scope.url(noon, "http://a.test/shop/tea/0"))
            await crawl(web.settings(), noon)
            clock = await noon.fetchval("SELECT messor.clock()")
        found = await tasks(database)
        soon = {
            path for path, t in found.items() if t["due_at"] < clock + timedelta(hours=1, seconds=5)
        }
        assert len(soon) == 20
        assert soon < set(shelf)
        assert found["/shop/mugs/1"]["due_at"] > clock + timedelta(hours=2)


async def test_a_price_that_changed_in_the_data_alone_is_followed_closely(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    price = 10

    def product(_: object) -> SimResponse:
        data = f'{{"@type": "Product", "name": "tea", "offers": {{"price": {price}}}}}'
        body = f'<title>tea</title><script type="application/ld+json">{data}</script><p>Good tea.'
        return SimResponse(200, (("Content-Type", "text/html"),), body.encode())

    rooms: dict[str, Room] = {"/": page("s", "/tea", "/cup"), "/tea": product, "/cup": product}
    async with LittleWeb(tmp_path, {"a.test": rooms}) as web:
        await admit(database, "http://a.test/")
        await crawl(web.settings(), database)
        await database.fetch(
            """UPDATE messor.crawl_tasks t SET crawl_frequency = '2 days' FROM messor.pages p
                WHERE p.id = t.page_id AND p.url = 'http://a.test/cup'"""
        )
        price = 12
        async with Database(later(dsn, timedelta(days=2))) as future:
            await crawl(web.settings(), future)
        found = await tasks(database)
        tea, cup = found["/tea"], found["/cup"]
        assert tea["due_at"] - tea["completed_at"] <= timedelta(hours=6, seconds=5)
        assert cup["due_at"] - cup["completed_at"] == timedelta(days=2), "a frequency of its own"


async def test_a_depth_that_is_lowered_holds_for_known_pages(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {f"/{n}": page(f"{n}", f"/{n + 1}") for n in range(1, 4)}
    async with LittleWeb(tmp_path, {"a.test": {"/": page("home", "/1"), **rooms}}) as web:
        await admit(database, "http://a.test/", max_crawl_depth=3)
        await crawl(web.settings(), database)
        assert {"/1", "/2", "/3"} <= set(web.paths("a.test"))
        await database.fetch("UPDATE messor.domains SET max_crawl_depth = 1")
        async with Database(later(dsn, timedelta(days=9))) as future:
            await crawl(web.settings(), future)
    asked = web.paths("a.test")
    assert [asked.count(f"/{n}") for n in range(1, 4)] == [2, 1, 1]
    assert "depth 2 exceeds the domain's limit of 1" in (await tasks(database))["/2"]["refusal"]


async def test_a_page_is_due_when_its_sitemap_says_that_it_changed(
    database: Database, dsn: str, tmp_path: Path
) -> None:
    def listed(**dates: datetime) -> SimResponse:
        entries = "".join(
            f"<url><loc>http://a.test/{name}</loc><lastmod>{date:%Y-%m-%dT%H:%M:%SZ}</lastmod></url>"
            for name, date in dates.items()
        )
        return SimResponse(
            200, (("Content-Type", "text/xml"),), f"<urlset>{entries}</urlset>".encode()
        )

    now = datetime.now(UTC)
    old = now - timedelta(days=3)
    rooms: dict[str, Room] = {f"/{name}": page(name) for name in "abcd"}
    rooms["/sitemap.xml"] = listed(a=old, b=old, c=old, d=old)
    async with LittleWeb(tmp_path, {"a.test": {"/": page("start"), **rooms}}) as web:
        await admit(database, "http://a.test/")
        await crawl(web.settings(), database)
        async with Database(later(dsn, timedelta(hours=5))) as future:
            soon, never = now + timedelta(hours=4), now + timedelta(days=9)
            web.houses["a.test"].rooms["/sitemap.xml"] = listed(a=soon, b=old, c=never, d=soon)
            own = "UPDATE messor.crawl_tasks t SET crawl_frequency = '2 days' FROM messor.pages p"
            await future.fetch(f"{own} WHERE p.id = t.page_id AND p.url = 'http://a.test/d'")
            await act(future, "recrawl", await Scope.url(future, "http://a.test/sitemap.xml"))
            before = len(web.requests())
            await crawl(web.settings(), future)
            asked = {request.path for request in web.requests()[before:]}
        assert "/a" in asked
        assert not asked & {"/b", "/c", "/d", "/"}
