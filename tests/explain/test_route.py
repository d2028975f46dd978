"""Who is asked when HTTP is not enough: shells, refusals, services that fail, a real browser."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.explain.why import explain
from messor.fetch.browser import BrowserLimits, why_unavailable
from messor.fetch.services import holds
from messor.store.database import Database
from simweb.answers import SimResponse, plain
from simweb.documents import HTML
from simweb.services import Crawl4AIStandIn, Failure, FirecrawlStandIn, WorldBrowser
from tests.crawling import admit, crawl, later, outcomes
from tests.little_web import LittleWeb, Room, page

HOME = "http://one.test/"
SHELL = (
    '<!doctype html><html lang="en"><head><title>Bread</title></head><body><div id="root"></div>'
    '<script src="/app.js"></script></body></html>'
)
FILL = 'document.getElementById("root").innerHTML = "<h1>Good bread</h1><p>' + "Rye, spelt. " * 300
ROOMS: dict[str, Room] = {
    "/": SimResponse(200, (("Content-Type", HTML),), SHELL.encode()),
    "/app.js": SimResponse(200, (("Content-Type", "text/javascript"),), f'{FILL}</p>";'.encode()),
}
DUE = """
SELECT t.status, t.retry_count, t.due_at - messor.clock() AS wait
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id WHERE p.url = $1
"""
FETCHES = """
SELECT f.fetch_provider, f.outcome, f.quality_gate_failed AS gate, f.provider_cost
  FROM messor.http_fetches f JOIN messor.pages p ON p.id = f.page_id
 WHERE p.url = $1 ORDER BY f.fetched_at
"""


def render(rooms: Mapping[str, Room]) -> WorldBrowser:
    def respond(_: str, path: str, secure: bool) -> SimResponse:
        room = rooms.get(path, plain(404, "no such page"))
        assert isinstance(room, SimResponse)
        return room

    return WorldBrowser(respond)


async def hops(database: Database) -> list[tuple[Any, ...]]:
    rows = await database.fetch(FETCHES, HOME)
    return [(row["fetch_provider"], row["outcome"], row["gate"]) for row in rows]


async def test_a_shell_is_rendered_and_its_content_kept(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with (
        LittleWeb(tmp_path, {"one.test": ROOMS}) as web,
        Crawl4AIStandIn(render(ROOMS)) as c4,
    ):
        settings = web.settings(crawl4ai_url=c4.base_url)
        await admit(database, HOME, delay=0.01)
        await crawl(settings, database)
        assert await hops(database) == [
            ("http", "empty", "spa_shell"),
            ("crawl4ai", "ok", None),
        ]
        kept = await database.fetchrow("SELECT provider, verdict FROM messor.page_snapshots")
        assert kept is not None
        assert tuple(kept) == ("crawl4ai", None)
        async with Database(later(dsn, timedelta(days=2))) as tomorrow:
            await crawl(settings, tomorrow)
    assert (await outcomes(database))[HOME] == "unchanged"
    assert await database.fetchval("SELECT count(*) FROM messor.page_snapshots") == 1


async def test_a_paid_service_is_not_asked_about_the_same_bytes(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with (
        LittleWeb(tmp_path, {"one.test": ROOMS}) as web,
        FirecrawlStandIn(render(ROOMS)) as fc,
    ):
        settings = web.settings(firecrawl_url=fc.base_url, firecrawl_key="k")
        await admit(database, HOME, delay=0.01)
        await crawl(settings, database)
        async with Database(later(dsn, timedelta(days=2))) as tomorrow:
            await crawl(settings, tomorrow)
    assert [hop[:2] for hop in await hops(database)] == [
        ("http", "empty"),
        ("firecrawl", "ok"),
        ("http", "unchanged"),
    ]
    spent = await database.fetchrow("SELECT requests, cost FROM messor.provider_usage")
    assert spent is not None
    assert spent["requests"] == 1
    assert spent["cost"] > 0


@pytest.mark.parametrize("on_block, asked", [("respect", []), ("failover", ["crawl4ai"])])
async def test_a_refusal_is_passed_on_only_where_the_terms_say_so(
    database: Database, tmp_path: Path, on_block: str, asked: list[str]
) -> None:
    rooms: dict[str, Room] = {"/": plain(403, "No entry")}
    good: dict[str, Room] = {"/": page("Good bread " * 300)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web, Crawl4AIStandIn(render(good)) as c4:
        domain = await admit(database, HOME, delay=0.01)
        await database.fetch(
            "UPDATE messor.domains SET on_block = $2 WHERE id = $1", domain.id, on_block
        )
        await crawl(web.settings(crawl4ai_url=c4.base_url), database)
    found = await hops(database)
    assert found[0][:2] == ("http", "blocked")
    assert [provider for provider, _, _ in found[1:]] == asked
    points = "SELECT sum(points)::int FROM messor.friction_log WHERE signal = '403'"
    assert await database.fetchval(points) == 20
    assert (await outcomes(database))[HOME] == ("ok" if asked else "blocked")


async def test_a_service_that_fails_costs_nothing_that_was_there(
    database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {"/": page("A small page")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web, Crawl4AIStandIn(render({})) as c4:
        c4.failure = Failure.BUSY
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(crawl4ai_url=c4.base_url), database)
    assert [(provider, outcome) for provider, outcome, _ in await hops(database)] == [
        ("http", "ok"),
        ("crawl4ai", "error"),
    ]
    assert (await outcomes(database))[HOME] == "ok"
    assert await database.fetchval("SELECT title FROM messor.page_snapshots") == "A small page"


@pytest.mark.parametrize("failure", [Failure.TOO_MANY, Failure.INTERNAL, Failure.BUSY])
async def test_when_one_service_fails_the_next_is_asked(
    database: Database, tmp_path: Path, failure: Failure
) -> None:
    async with (
        LittleWeb(tmp_path, {"one.test": ROOMS}) as web,
        Crawl4AIStandIn(render(ROOMS)) as c4,
        FirecrawlStandIn(render(ROOMS)) as fc,
    ):
        c4.failure = failure
        services = {"crawl4ai_url": c4.base_url, "firecrawl_url": fc.base_url}
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(**services, firecrawl_key="k"), database)
    assert [hop[:2] for hop in await hops(database)] == [
        ("http", "empty"),
        ("crawl4ai", "error"),
        ("firecrawl", "ok"),
    ]
    assert (await outcomes(database))[HOME] == "ok"


@pytest.mark.parametrize("failure", [Failure.TOO_MANY, Failure.INTERNAL, Failure.BUSY])
async def test_when_every_service_fails_the_page_is_tried_again_in_an_hour(
    database: Database, tmp_path: Path, failure: Failure
) -> None:
    async with (
        LittleWeb(tmp_path, {"one.test": ROOMS}) as web,
        FirecrawlStandIn(render(ROOMS)) as fc,
    ):
        fc.failure = failure
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(firecrawl_url=fc.base_url, firecrawl_key="k"), database)
    assert [hop[:2] for hop in await hops(database)] == [
        ("http", "empty"),
        ("firecrawl", "error"),
    ]
    waiting = await database.fetchrow(
        "SELECT t.status, t.due_at - f.fetched_at AS wait FROM messor.crawl_tasks t"
        " JOIN messor.pages p ON p.id = t.page_id JOIN messor.http_fetches f ON f.page_id = p.id"
        " WHERE p.url = $1 ORDER BY f.fetched_at DESC LIMIT 1",
        HOME,
    )
    assert waiting is not None
    assert waiting["status"] == "pending"
    assert timedelta(minutes=59) < waiting["wait"] < timedelta(hours=2)


async def test_a_page_met_while_a_service_is_left_alone_is_tried_less_and_less_often(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with (
        LittleWeb(tmp_path, {"one.test": ROOMS}) as web,
        Crawl4AIStandIn(render(ROOMS)) as c4,
    ):
        settings = web.settings(crawl4ai_url=c4.base_url)
        await admit(database, HOME, delay=0.01)
        passed = timedelta()
        for hours in (1, 4, 24, 168, 168):
            async with Database(later(dsn, passed)) as then:
                await holds.hold(then, "crawl4ai", 3600, "Crawl4AI asks us to slow down.")
                await crawl(settings, then)
                waiting = await then.fetchrow(DUE, HOME)
            assert waiting is not None
            # However often that happens, it is no failure of the page.
            assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
            assert timedelta(hours=0.99 * hours) < waiting["wait"] < timedelta(hours=1.11 * hours)
            passed += waiting["wait"] + timedelta(minutes=1)
        assert c4.asked == []
        assert web.paths("one.test").count("/") == 5
        why = await explain(database, settings, HOME)
        said = [fact.sentence for fact in why.facts if "by crawl4ai" in fact.sentence]
        assert "Crawl4AI was not used: it is paused for another" in said[-1]
        assert "slow down" in said[-1]
        due = [fact.sentence for fact in why.facts if fact.step == "schedule"]
        assert "none was available 5 times in a row" in due[-1]
        async with Database(later(dsn, timedelta(days=21))) as afterwards:
            await crawl(settings, afterwards)
    assert (await outcomes(database))[HOME] == "ok"
    assert await database.fetchval("SELECT max(waits) FROM messor.crawl_tasks") == 0


async def test_a_spent_budget_has_no_site_asked_every_hour(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with (
        LittleWeb(tmp_path, {"one.test": ROOMS}) as web,
        FirecrawlStandIn(render(ROOMS)) as fc,
    ):
        services = {"firecrawl_url": fc.base_url, "firecrawl_key": "k"}
        settings = web.settings(**services, firecrawl_monthly_budget=0)
        await admit(database, HOME, delay=0.01)
        for hours in range(0, 20, 2):
            async with Database(later(dsn, timedelta(hours=hours))) as then:
                await crawl(settings, then)
        assert web.paths("one.test").count("/") == 1
        assert fc.asked == []
        waiting = await database.fetchrow(DUE, HOME)
        assert waiting is not None
        assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
        assert timedelta(hours=23) < waiting["wait"] < timedelta(hours=27)
        why = await explain(database, settings, HOME)
        assert "its budget of 0 for this month is spent" in " ".join(
            fact.sentence for fact in why.facts
        )


async def test_a_breaker_that_opens_mid_visit_writes_no_page_off(
    database: Database, tmp_path: Path
) -> None:
    shell = ROOMS["/"]
    paths = [f"/{number}" for number in range(8)]
    links = page("Good bread " * 300, *paths)
    rooms: dict[str, Room] = {**ROOMS, "/": links, **dict.fromkeys(paths, shell)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web, Crawl4AIStandIn(render({})) as c4:
        c4.failure = Failure.BAD_GATEWAY
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(crawl4ai_url=c4.base_url), database)
        assert len(c4.asked) == 5  # then it is left alone
    rows = [await database.fetchrow(DUE, f"{HOME}{number}") for number in range(8)]
    waits = [row["wait"] for row in rows if row is not None]
    assert len(waits) == 8
    assert all(timedelta(minutes=59) < wait < timedelta(hours=2) for wait in waits)


@pytest.mark.parametrize(
    "sentences, asked",
    [(20, ["http", "crawl4ai"]), (400, ["http"])],
    ids=["little text", "much text"],
)
async def test_a_page_nearly_all_markup_is_rendered_where_it_has_little_text(
    database: Database, tmp_path: Path, sentences: int, asked: list[str]
) -> None:
    words = "Rye, spelt and oats. " * sentences
    body = f"<title>Good bread</title><p>{words}</p><div data-x='{'x' * 40 * len(words)}'></div>"
    rooms: dict[str, Room] = {"/": SimResponse(200, (("Content-Type", HTML),), body.encode())}
    async with (
        LittleWeb(tmp_path, {"one.test": rooms}) as web,
        Crawl4AIStandIn(render(ROOMS)) as c4,
    ):
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(crawl4ai_url=c4.base_url), database)
    found = await hops(database)
    assert [hop[0] for hop in found] == asked
    assert found[0][2] == "text_ratio"


@pytest.mark.skipif(
    why_unavailable(BrowserLimits()) is not None, reason=str(why_unavailable(BrowserLimits()))
)
async def test_a_browser_renders_what_http_cannot(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": ROOMS}) as web:
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(browser="auto"), database, patience=180)
    assert [hop[:2] for hop in await hops(database)] == [("http", "empty"), ("browser", "ok")]
    text = await database.fetchval(
        "SELECT markdown FROM messor.snapshot_texts t JOIN messor.page_snapshots s"
        " ON s.id = t.snapshot_id WHERE s.provider = 'browser'"
    )
    assert "Good bread" in text
