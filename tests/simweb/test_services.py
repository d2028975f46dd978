"""The stand-ins as a client sees them: the services' wire, their errors, and an honest name."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from simweb import SimResponse, World
from simweb.answers import plain, redirect
from simweb.services import Crawl4AIStandIn, Failure, FirecrawlStandIn, StandIn, WorldBrowser
from tests.little_web import page

KEY = "key"
SHELL = (
    '<html><body><div id="root"></div>'
    '<script type="module" src="/assets/app.js"></script></body></html>'
)
SCRIPT = f'document.getElementById("root").innerHTML = {json.dumps("<h1>Fresh bread</h1>")};'
PAGES = {
    "/": page("Home"),
    "/app": SimResponse(200, (("Content-Type", "text/html"),), SHELL.encode()),
    "/assets/app.js": SimResponse(200, (("Content-Type", "text/javascript"),), SCRIPT.encode()),
    "/old": redirect("/"),
    "/loop": redirect("/loop"),
    "/missing": plain(404, "Gone"),
}


def respond(host: str, path: str, _: bool) -> SimResponse:
    return PAGES.get(path, PAGES["/missing"]) if host == "shop.test" else plain(421, "nobody")


BROWSER = WorldBrowser(respond)


class Caller:
    def __init__(self, standin: StandIn, session: aiohttp.ClientSession) -> None:
        self.standin = standin
        self._session = session

    async def post(self, path: str, body: Any, key: str | None = KEY) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with self._session.post(
            self.standin.base_url + path, json=body, headers=headers
        ) as response:
            assert response.headers["X-Messor-Stand-In"] == self.standin.name
            self.headers = response.headers
            is_json = response.content_type == "application/json"
            return response.status, await response.json() if is_json else await response.text()


@asynccontextmanager
async def calling(standin: StandIn) -> AsyncIterator[Caller]:
    async with standin, aiohttp.ClientSession() as session:
        yield Caller(standin, session)


async def test_the_browser_follows_fills_and_fails() -> None:
    seen = await BROWSER("http://shop.test/app")
    assert '<div id="root"><h1>Fresh bread</h1></div>' in seen.html
    moved = await BROWSER("http://shop.test/old")
    assert (moved.first_status, moved.status, moved.url) == (302, 200, "http://shop.test/")
    assert "ERR_NAME_NOT_RESOLVED" in ((await BROWSER("http://nowhere.test/")).error or "")
    assert "ERR_TOO_MANY_REDIRECTS" in ((await BROWSER("http://shop.test/loop")).error or "")


async def test_the_browser_sees_the_simulated_web() -> None:
    world = World("demo")
    browser = WorldBrowser(lambda host, path, secure: world.respond(host, path, secure=secure))
    for site in world.sites[:5]:
        seen = await browser(f"http://{site.host}/")
        assert (seen.status, seen.error) == (200, None), site.host
        assert "<html" in seen.html


async def test_crawl4ai_answers_with_results_in_another_order() -> None:
    async with calling(Crawl4AIStandIn(BROWSER, api_key=KEY)) as caller:
        urls = ["http://shop.test/app", "http://shop.test/missing", "http://nowhere.test/"]
        waits = {"type": "CrawlerRunConfig", "params": {"wait_until": "networkidle"}}
        status, value = await caller.post("/crawl", {"urls": urls, "crawler_config": waits})
    assert (status, value["success"]) == (200, True)
    assert [result["url"] for result in value["results"]] == urls[::-1]
    failed, missing, app = value["results"]
    assert (failed["success"], "ERR_NAME_NOT_RESOLVED" in failed["error_message"]) == (False, True)
    assert (missing["success"], missing["status_code"]) == (True, 404)
    assert "Fresh bread" in app["html"]
    assert "<script" not in app["cleaned_html"]
    assert app["markdown"]["raw_markdown"] == "Fresh bread"


async def test_crawl4ai_takes_a_page_for_a_block_whose_scripts_it_did_not_wait_for() -> None:
    async with calling(Crawl4AIStandIn(BROWSER, api_key=KEY)) as caller:
        status, value = await caller.post("/crawl", {"urls": ["http://shop.test/app"]})
    assert (status, set(value)) == (500, {"error", "correlation_id"})


async def test_crawl4ai_hides_why_all_failed() -> None:
    async with calling(Crawl4AIStandIn(BROWSER, api_key=KEY)) as caller:
        status, value = await caller.post("/crawl", {"urls": ["http://nowhere.test/"]})
        assert (status, set(value)) == (500, {"error", "correlation_id"})
    async with calling(Crawl4AIStandIn(BROWSER, tells_failures=True)) as caller:
        status, value = await caller.post("/crawl", {"urls": ["http://nowhere.test/"]})
        assert (status, value["results"][0]["success"]) == (200, False)


@pytest.mark.parametrize("body", [{}, {"urls": []}, {"urls": ["x"] * 101}, {"url": "x"}, [], None])
async def test_crawl4ai_validates(body: Any) -> None:
    async with calling(Crawl4AIStandIn(BROWSER)) as caller:
        status, value = await caller.post("/crawl", body)
    assert (status, value["detail"][0]["loc"]) == (422, ["body", "urls"])


@pytest.mark.parametrize(
    "config",
    [
        {"crawler_config": {"js_code": "x"}},
        {"crawler_config": {"type": "CrawlerRunConfig", "params": {"magic": True}}},
        {"browser_config": {"type": "BrowserConfig", "params": {"headers": {"X": "y"}}}},
    ],
)
async def test_crawl4ai_rejects_settings_with_power(config: dict[str, Any]) -> None:
    async with calling(Crawl4AIStandIn(BROWSER)) as caller:
        status, value = await caller.post("/crawl", {"urls": ["http://shop.test/"], **config})
    assert status == 400
    assert value["detail"].startswith("Rejected config")


async def test_crawl4ai_in_the_form_of_the_specification() -> None:
    async with calling(Crawl4AIStandIn(BROWSER, contract="spec")) as caller:
        body = {"url": "http://shop.test/app", "word_count_threshold": 50}
        status, value = await caller.post("/crawl", body)
        assert (status, set(value)) == (200, {"success", "markdown", "cleaned_html"})
        assert (await caller.post("/crawl", {"urls": ["http://shop.test/"]}))[0] == 422


async def test_keys_are_asked_for() -> None:
    async with calling(Crawl4AIStandIn(BROWSER, api_key=KEY)) as caller:
        for key in (None, "another"):
            status, value = await caller.post("/crawl", {"urls": ["http://shop.test/"]}, key)
            assert (status, set(value)) == (401, {"detail"})
        async with aiohttp.ClientSession() as session:
            health = await session.get(caller.standin.base_url + "/health")
            assert health.status == 200
    async with calling(FirecrawlStandIn(BROWSER, api_key=KEY)) as caller:
        status, value = await caller.post("/v2/scrape", {"url": "http://shop.test/"}, None)
        assert (status, value["success"]) == (401, False)


async def test_firecrawl_gives_the_formats_asked_for() -> None:
    async with calling(FirecrawlStandIn(BROWSER)) as caller:
        formats = [{"type": "markdown"}, "rawHtml"]
        body = {"url": "http://shop.test/old", "formats": formats}
        status, value = await caller.post("/v2/scrape", body)
        assert (status, value["success"]) == (200, True)
        assert set(value["data"]) == {"markdown", "rawHtml", "metadata"}
        metadata = value["data"]["metadata"]
        assert metadata["sourceURL"] == "http://shop.test/old"
        assert metadata["url"] == "http://shop.test/"
        assert (metadata["statusCode"], metadata["creditsUsed"]) == (200, 1)
        assert "html" in metadata["contentType"]
        status, value = await caller.post("/v1/scrape", {"url": "http://shop.test/missing"})
        assert (status, value["data"]["metadata"]["statusCode"]) == (200, 404)


@pytest.mark.parametrize(
    "path, body",
    [
        ("/v2/scrape", {"url": "http://shop.test/", "parsePDF": False}),
        ("/v1/scrape", {"url": "http://shop.test/", "parsers": []}),
        ("/v2/scrape", {"url": "file:///etc/passwd"}),
        ("/v2/scrape", {}),
        ("/v2/scrape", None),
    ],
)
async def test_firecrawl_is_strict(path: str, body: Any) -> None:
    async with calling(FirecrawlStandIn(BROWSER)) as caller:
        status, value = await caller.post(path, body)
    assert (status, value["success"], value["code"]) == (400, False, "BAD_REQUEST")


async def test_firecrawl_has_the_versions_it_has() -> None:
    async with calling(FirecrawlStandIn(BROWSER, versions=("v1",))) as caller:
        status, text = await caller.post("/v2/scrape", {"url": "http://shop.test/"})
        assert (status, "Cannot POST" in text) == (404, True)
        assert (await caller.post("/v1/scrape", {"url": "http://shop.test/"}))[0] == 200


async def test_firecrawl_names_what_failed_at_a_site() -> None:
    standin = FirecrawlStandIn(BROWSER)
    async with calling(standin) as caller:
        status, value = await caller.post("/v2/scrape", {"url": "http://nowhere.test/"})
        assert (status, value["code"]) == (200, "SCRAPE_DNS_RESOLUTION_ERROR")
        status, value = await caller.post("/v2/scrape", {"url": "http://shop.test/loop"})
        assert (status, value["code"]) == (500, "SCRAPE_SITE_ERROR")
        assert standin.credits_used == 1


STATUSES = {
    Failure.UNAUTHORIZED: 401,
    Failure.NO_CREDITS: 402,
    Failure.FORBIDDEN: 403,
    Failure.CONFLICT: 409,
    Failure.REQUEST_TOO_LARGE: 413,
    Failure.REJECTED: 400,
    Failure.INVALID: 422,
    Failure.TOO_MANY: 429,
    Failure.TOO_MANY_UNTIL: 429,
    Failure.BUSY: 503,
    Failure.INTERNAL: 500,
    Failure.BAD_GATEWAY: 502,
    Failure.GATEWAY_TIMEOUT: 504,
    Failure.REQUEST_TIMEOUT: 408,
}


@pytest.mark.parametrize("failure", STATUSES)
async def test_it_fails_as_told(failure: Failure) -> None:
    wants = {Failure.BUSY: "5", Failure.TOO_MANY_UNTIL: "90"}.get(failure)
    for standin, path in (
        (Crawl4AIStandIn(BROWSER), "/crawl"),
        (FirecrawlStandIn(BROWSER), "/v2/scrape"),
    ):
        async with calling(standin) as caller:
            standin.failure = failure
            status, value = await caller.post(path, {"url": "http://shop.test/"})
            assert status == STATUSES[failure]
            assert isinstance(value, dict)
            assert caller.headers.get("Retry-After") == wants
            assert len(standin.asked) == 1
