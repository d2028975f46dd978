"""The real servers, where somebody runs them beside the tests; CONTRIBUTING.md says how.

Crawl4AI must reach this machine's loopback (`CRAWL4AI_ALLOW_INTERNAL_URLS=true`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from pydantic import SecretStr

from messor.fetch.outcome import Outcome
from messor.fetch.provider import PROVIDER_FAULT
from messor.fetch.services import health
from messor.fetch.services.crawl4ai import Crawl4AI
from messor.fetch.services.options import ServiceSettings
from messor.scout.engines.model import SearchFaultError, SearchProfile
from messor.scout.engines.options import settings_for
from messor.scout.engines.searxng import SearXNG
from messor.settings import EngineOptions
from messor.store.database import Database
from tests.fetch.conftest import permit
from tests.fetch.service_bench import allow

CRAWL4AI = os.environ.get("MESSOR_LIVE_CRAWL4AI_URL")
CRAWL4AI_KEY = os.environ.get("MESSOR_LIVE_CRAWL4AI_KEY", "")
SEARXNG = os.environ.get("MESSOR_LIVE_SEARXNG_URL")
needs_crawl4ai = pytest.mark.skipif(
    CRAWL4AI is None, reason="set MESSOR_LIVE_CRAWL4AI_URL and _KEY to try a real Crawl4AI"
)
needs_searxng = pytest.mark.skipif(
    SEARXNG is None, reason="set MESSOR_LIVE_SEARXNG_URL to a real SearXNG without any engine alive"
)

SHELL = """<!doctype html><title>Shop</title><div id="root"></div><script>
async function go() {
  await new Promise(done => setTimeout(done, 300));
  const text = await (await fetch('/text')).text();
  document.getElementById('root').innerHTML = '<h1>Good bread</h1><p>' + text + '</p>';
}
go();%s</script>"""


@asynccontextmanager
async def shop() -> AsyncIterator[str]:
    """A site whose pages are shells; those of /tick ask for news all the time."""

    async def show(request: web.Request) -> web.Response:
        ticks = "setInterval(() => fetch('/news'), 200);" if "tick" in request.path else ""
        return web.Response(text=SHELL % ticks, content_type="text/html")

    async def text(_: web.Request) -> web.Response:
        await asyncio.sleep(0.3)
        return web.Response(text="Rye, spelt and oats. " * 60)

    async def news(_: web.Request) -> web.Response:
        return web.Response(text="none")

    app = web.Application()
    app.router.add_get("/text", text)
    app.router.add_get("/news", news)
    app.router.add_get("/{page}", show)
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@needs_crawl4ai
async def test_a_real_crawl4ai_renders_shells(database: Database) -> None:
    assert CRAWL4AI is not None
    settings = ServiceSettings(
        CRAWL4AI, api_key=SecretStr(CRAWL4AI_KEY), timeout=15.0, user_agent="MessorBot"
    )
    service = Crawl4AI(settings, database, allow)
    try:
        async with shop() as site:
            for number in range(5):
                fetched = await service.fetch(f"{site}/{number}", permit())
                assert (fetched.outcome, fetched.error) == (Outcome.OK, None)
                assert b"Good bread" in fetched.body
            first = await service.fetch(f"{site}/tick", permit())
            second = await service.fetch(f"{site}/tick", permit())
            assert (first.error_type, second.outcome) == (PROVIDER_FAULT, Outcome.OK)
            assert b"Good bread" in second.body
            assert service.available
    finally:
        await service.close()


@needs_crawl4ai
async def test_a_real_crawl4ai_tells_a_good_key_from_a_bad_one() -> None:
    assert CRAWL4AI is not None
    routes = health.ROUTES["crawl4ai"]
    good = await health.standing_of(CRAWL4AI, routes, SecretStr(CRAWL4AI_KEY))
    assert (good.is_good, good.sentence) == (True, "responds and accepts the key")
    bad = await health.standing_of(CRAWL4AI, routes, SecretStr("another"))
    assert (bad.is_good, bad.sentence) == (False, "rejects the key (401)")


@needs_searxng
async def test_a_real_searxng_without_engines_is_no_empty_page() -> None:
    engine = SearXNG(settings_for(SearXNG, EngineOptions(url=SEARXNG)))
    try:
        assert await engine.trouble() is None
        with pytest.raises(SearchFaultError, match="engines failed") as caught:
            await engine.search("museum fund", SearchProfile())
        assert caught.value.hold > 0
    finally:
        await engine.close()
