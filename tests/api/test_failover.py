"""Failover and paid calls as people see them: over the API, against stand-ins with the true wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from messor.access.csrf import csrf_token
from messor.access.roles import Role
from messor.api.app import SESSION_COOKIE
from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import Request, SimResponse, plain
from simweb.documents import HTML
from simweb.services import Crawl4AIStandIn, Failure, FirecrawlStandIn, WorldBrowser
from tests.api.conftest import api_over, client_of, session_of
from tests.crawling import admit, crawl, later
from tests.little_web import LittleWeb, Room, page

V = "/api/v1"
HOME = "http://one.test/"
GOOD = page("Good bread " * 300)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def browser(answer: Callable[[], SimResponse] = lambda: GOOD) -> WorldBrowser:
    """What a service's own browser sees of every page."""
    return WorldBrowser(lambda _host, _path, _secure: answer())


def refusing(status: int, retry_after: str | None = None) -> SimResponse:
    headers = (("Retry-After", retry_after),) if retry_after else ()
    return SimResponse(status, (("Content-Type", "text/plain"), *headers), b"Not now\n")


@asynccontextmanager
async def admin_of(settings: Settings, database: Database) -> AsyncIterator[httpx.AsyncClient]:
    app = api_over(settings, database)
    token = await session_of(database, Role.ADMIN)
    headers = {"X-CSRF-Token": csrf_token(token)}
    async with client_of(app, cookies={SESSION_COOKIE: token}, headers=headers) as client:
        yield client


async def opened(
    settings: Settings, database: Database, on_block: str = "failover", **terms: Any
) -> None:
    await admit(database, HOME, delay=0.01, **terms)
    async with admin_of(settings, database) as admin:
        found = await admin.get(f"{V}/domains/one.test")
        answer = await admin.patch(
            f"{V}/domains/one.test",
            json={"on_block": on_block},
            headers={"If-Match": found.headers["etag"]},
        )
        assert answer.status_code == 200, answer.text


async def story(
    settings: Settings, dsn: str, at: timedelta
) -> tuple[list[tuple[str, str]], dict[str, Any], str]:
    """At some time, over the API: the page's fetches in order, its task, and why."""
    async with Database(later(dsn, at)) as then, admin_of(settings, then) as admin:
        fetches = (await admin.get(f"{V}/fetches", params={"url": HOME})).json()["items"]
        task = (await admin.get(f"{V}/tasks/{fetches[0]['page_id']}")).json()
        why = (await admin.get(f"{V}/why", params={"url": HOME})).json()
    attempts = [(item["fetch_provider"], item["outcome"]) for item in reversed(fetches)]
    return attempts, task, " ".join(fact["sentence"] for fact in why["facts"])


async def crawl_at(settings: Settings, dsn: str, at: timedelta) -> None:
    async with Database(later(dsn, at)) as then:
        await crawl(settings, then)


@pytest.mark.parametrize(
    "status, retry_after, pause", [(429, None, 60), (503, "300", 300)], ids=["429", "503"]
)
async def test_after_a_pause_the_next_provider_is_asked(
    dsn: str, database: Database, tmp_path: Path, status: int, retry_after: str | None, pause: int
) -> None:
    rooms: dict[str, Room] = {"/": refusing(status, retry_after)}
    async with (
        LittleWeb(tmp_path, {"one.test": rooms}) as web,
        Crawl4AIStandIn(browser()) as c4,
    ):
        settings = web.settings(crawl4ai_url=c4.base_url)
        await opened(settings, database)
        await crawl(settings, database)
        attempts, task, why = await story(settings, dsn, timedelta())
        assert attempts == [("http", "blocked")]
        assert (task["status"], task["next_provider"]) == ("pending", "crawl4ai")
        assert task["retry_count"] == 0  # it has not failed yet
        assert "crawl4ai is tried after it, in place of HTTP" in why
        assert f"answered {status}" in why

        await crawl_at(settings, dsn, timedelta(seconds=pause - 40))
        assert c4.asked == []  # the pause is kept
        await crawl_at(settings, dsn, timedelta(seconds=pause + 5))
        assert web.paths("one.test").count("/") == 1  # HTTP is not asked again
        attempts, task, why = await story(settings, dsn, timedelta(seconds=pause + 5))
        assert attempts == [("http", "blocked"), ("crawl4ai", "ok")]
        assert (task["status"], task["outcome"]) == ("downloaded", "ok")
        assert task["next_provider"] is None
        assert "ok 200 by crawl4ai" in why
        assert "in place of HTTP" not in why

        web.houses["one.test"].rooms["/"] = GOOD
        await crawl_at(settings, dsn, 2 * DAY)
        assert (await story(settings, dsn, 2 * DAY))[0][-1] == ("http", "unchanged")


async def test_each_provider_in_turn_and_then_an_hour(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    """The site refuses HTTP and Crawl4AI with 429; then Firecrawl itself fails."""
    rooms: dict[str, Room] = {"/": refusing(429)}
    async with (
        LittleWeb(tmp_path, {"one.test": rooms}) as web,
        Crawl4AIStandIn(browser(lambda: refusing(429))) as c4,
        FirecrawlStandIn(browser()) as fc,
    ):
        fc.failure = Failure.INTERNAL
        settings = web.settings(
            crawl4ai_url=c4.base_url, firecrawl_url=fc.base_url, firecrawl_key="k"
        )
        await opened(settings, database)
        await crawl(settings, database)
        at = MINUTE + timedelta(seconds=5)
        await crawl_at(settings, dsn, at)
        attempts, task, _ = await story(settings, dsn, at)
        assert attempts == [("http", "blocked"), ("crawl4ai", "blocked")]
        assert task["next_provider"] == "firecrawl"
        assert fc.asked == []
        at += 2 * MINUTE + timedelta(seconds=5)  # the second pause is twice as long
        await crawl_at(settings, dsn, at)
        attempts, task, _ = await story(settings, dsn, at)
        assert attempts[2:] == [("firecrawl", "error")]
        assert (task["status"], task["retry_count"], task["next_provider"]) == ("pending", 1, None)
        async with Database(later(dsn, at)) as then:
            wait = await then.fetchval(
                "SELECT due_at - messor.clock() FROM messor.crawl_tasks WHERE page_id = $1",
                task["page_id"],
            )
        assert timedelta(minutes=59) < wait <= HOUR
        fc.failure = None
        at += HOUR + MINUTE
        await crawl_at(settings, dsn, at)  # from the beginning
        attempts, task, _ = await story(settings, dsn, at)
        assert attempts[3:] == [("http", "blocked")]
        assert task["next_provider"] == "crawl4ai"


async def test_terms_that_change_during_the_pause_hold(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {"/": refusing(429)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web, Crawl4AIStandIn(browser()) as c4:
        settings = web.settings(crawl4ai_url=c4.base_url)
        await opened(settings, database)
        await crawl(settings, database)
        assert (await story(settings, dsn, timedelta()))[1]["next_provider"] == "crawl4ai"
        await database.fetch("UPDATE messor.domains SET on_block = 'respect'")
        await crawl_at(settings, dsn, 2 * MINUTE)
        attempts, task, _ = await story(settings, dsn, 2 * MINUTE)
        assert attempts == [("http", "blocked"), ("http", "blocked")]
        assert (task["next_provider"], task["retry_count"]) == (None, 1)
        assert c4.asked == []


async def test_a_delay_longer_than_a_visit_does_not_keep_a_shell_from_being_rendered(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    rooms: dict[str, Room] = {
        "/": _shell(1),
        "/robots.txt": plain(200, "User-agent: *\nCrawl-delay: 120\n"),
        "/sitemap.xml": plain(404, "none"),
    }
    async with (
        LittleWeb(tmp_path, {"one.test": rooms}) as web,
        FirecrawlStandIn(browser()) as fc,
    ):
        settings = web.settings(firecrawl_url=fc.base_url, firecrawl_key="k")
        await opened(settings, database)
        at = timedelta()
        for _ in range(4):
            await crawl_at(settings, dsn, at)
            at += timedelta(seconds=125)
        attempts, task, _ = await story(settings, dsn, at)
        assert attempts == [("http", "empty"), ("firecrawl", "ok")]
        assert task["next_provider"] is None
        await database.fetch("UPDATE messor.lanes SET ready_at = messor.clock()")
        await crawl_at(settings, dsn, at + 2 * DAY)
        await crawl_at(settings, dsn, at + 2 * DAY + timedelta(seconds=300))
    assert (await story(settings, dsn, at + 3 * DAY))[0][2:] == [("http", "unchanged")]
    assert len(fc.asked) == 1  # the shell of the first look was remembered


def _shell(number: int) -> SimResponse:
    """A shell whose bytes differ each time, by nonce, token, key and comment."""
    key = f"aZ{number:030d}"
    text = (
        f'<!doctype html><html lang="en"><head><title>Bread</title><!-- {number} -->'
        f'<meta name="csrf-token" content="{number}"></head><body data-session="{key}">'
        f'<div id="root"></div><script nonce="{number}" src="/app.js"></script></body></html>'
    )
    return SimResponse(200, (("Content-Type", HTML),), text.encode())


class _Shells:
    """Answers with another shell each time."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, _: Request) -> SimResponse:
        self.number += 1
        return _shell(self.number)


async def test_a_shell_with_a_nonce_is_paid_for_once(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    shells = _Shells()
    async with (
        LittleWeb(tmp_path, {"one.test": {"/": shells}}) as web,
        FirecrawlStandIn(browser()) as fc,
    ):
        settings = web.settings(firecrawl_url=fc.base_url, firecrawl_key="k")
        await opened(settings, database)
        for day in range(0, 8, 2):
            await crawl_at(settings, dsn, timedelta(days=day))
        assert shells.number == 4  # each look asks the site
        assert len(fc.asked) == 1
        assert (await story(settings, dsn, 6 * DAY))[0] == [
            ("http", "empty"),
            ("firecrawl", "ok"),
            *[("http", "unchanged")] * 3,
        ]
        web.houses["one.test"].rooms["/"] = SimResponse(
            200, (("Content-Type", HTML),), _shell(9).body.replace(b"/app.js", b"/app2.js")
        )
        await crawl_at(settings, dsn, 12 * DAY)
        assert len(fc.asked) == 2  # another shell: it may show something else
    spent = await database.fetchval("SELECT sum(requests)::int FROM messor.provider_usage")
    assert spent == 2


async def test_a_failing_free_service_has_nobody_paid_for_the_same_shell(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with (
        LittleWeb(tmp_path, {"one.test": {"/": _shell(1)}}) as web,
        Crawl4AIStandIn(browser()) as c4,
        FirecrawlStandIn(browser()) as fc,
    ):
        settings = web.settings(
            crawl4ai_url=c4.base_url, firecrawl_url=fc.base_url, firecrawl_key="k"
        )
        await opened(settings, database)
        await crawl(settings, database)
        c4.failure = Failure.INTERNAL
        await crawl_at(settings, dsn, 2 * DAY)
        assert len(c4.asked) == 2
        assert fc.asked == []


async def test_a_refusing_site_is_paid_for_less_and_less_often(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with (
        LittleWeb(tmp_path, {"one.test": {"/": plain(403, "No entry")}}) as web,
        FirecrawlStandIn(browser()) as fc,
    ):
        settings = web.settings(firecrawl_url=fc.base_url, firecrawl_key="k")
        await opened(settings, database)
        paid: list[int] = []
        for day in (0, 1, 3, 4, 9, 10, 22, 23):
            before = len(fc.asked)
            await database.fetch("UPDATE messor.hosts SET risk_score = 0")  # asked for politely
            await crawl_at(settings, dsn, timedelta(days=day, hours=day))
            paid += [day] * (len(fc.asked) - before)
        # After 1 day, then 2, 4 and 8 times the interval, which itself grows with the history.
        assert paid == [0, 1, 4, 10, 23]
        _, task, why = await story(settings, dsn, timedelta(days=24))
        assert task["outcome"] == "unchanged"
        assert "4 paid calls in a row found it unchanged: its interval is 16 times as long" in why


@pytest.mark.parametrize(
    "lastmod, paid",
    [
        (-timedelta(days=3), 1),  # before the first look: proved unchanged ever since
        (timedelta(days=1, hours=1), 2),  # after it
    ],
    ids=["not modified", "modified"],
)
async def test_a_sitemap_proves_a_refusing_sites_page_unchanged(
    dsn: str, database: Database, tmp_path: Path, lastmod: timedelta, paid: int
) -> None:
    now = await database.fetchval("SELECT messor.clock()")
    listed = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{HOME}</loc><lastmod>{(now + lastmod).isoformat(timespec="seconds")}</lastmod></url></urlset>"""
    rooms: dict[str, Room] = {
        "/": plain(403, "No entry"),
        "/sitemap.xml": SimResponse(200, (("Content-Type", "text/xml"),), listed.encode()),
    }
    async with (
        LittleWeb(tmp_path, {"one.test": rooms}) as web,
        FirecrawlStandIn(browser()) as fc,
    ):
        settings = web.settings(firecrawl_url=fc.base_url, firecrawl_key="k")
        await opened(settings, database)
        for day in (0, 3):
            await database.fetch("UPDATE messor.hosts SET risk_score = 0")
            await crawl_at(settings, dsn, timedelta(days=day))
        assert len(fc.asked) == paid
        attempts, task, why = await story(settings, dsn, 3 * DAY)
    assert task["outcome"] == "unchanged"
    if paid == 1:
        assert attempts == [("http", "blocked"), ("firecrawl", "ok"), ("http", "unchanged")]
        assert "; its sitemap says that it last changed" in why
    else:
        assert attempts[2:] == [("http", "blocked"), ("firecrawl", "unchanged")]


async def test_a_challenge_goes_to_the_next_provider_at_once(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    body = '<html><body><div class="cf-browser-verification">Checking</div></body></html>'
    challenge = SimResponse(200, (("Content-Type", HTML),), body.encode())
    async with (
        LittleWeb(tmp_path, {"one.test": {"/": challenge}}) as web,
        Crawl4AIStandIn(browser()) as c4,
    ):
        settings = web.settings(crawl4ai_url=c4.base_url)
        await opened(settings, database)
        await crawl(settings, database)
        attempts, task, why = await story(settings, dsn, timedelta())
    assert attempts == [("http", "blocked"), ("crawl4ai", "ok")]
    assert task["outcome"] == "ok"
    assert "challenge:cloudflare (+" in why  # friction first
