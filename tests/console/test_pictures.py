"""The pictures of the docs, taken of a console over the demo's web while it is harvested.

    PICTURES=docs/pictures .venv/bin/pytest tests/console/test_pictures.py

writes them anew. Without the variable they go to a folder of the test's own; either way each page
must have come and must fit its screen.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from messor.access.members import Member
from messor.access.roles import Role
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.frontier import tasks
from messor.governance import decisions, intake
from messor.ingest import IngestRequest, ingest
from messor.registry.submissions import Submitter
from messor.settings import Settings
from messor.store.database import Database
from simweb import WorldProcess
from tests.conftest import settings_for
from tests.console.conftest import Serve
from tests.console.test_accessibility import TOO_WIDE
from tests.console.test_browser import NARROW, WIDE, log_in
from tests.crawling import at_work

HARVESTED = (
    "www.kettle-and-lamp.test", "boutique-lavande.test", "larkfield-bikes.test",
    "riverside-clinic.test", "millbrook-trust.test", "robots-missing.test", "forbidden.test",
    "too-many-requests.test", "empty-page.test", "redirect-chain.test", "soft-404.test",
)  # fmt: skip
INGESTED = (("fennimore-joinery.test", "standard"), ("brightwater-accounting.test", "light"), ("challenge.test", "light"))  # fmt: skip
WAITING = {
    "casa-azul.test": "A guest house that our readers ask about.",
    "eastside-food-bank.test": "Opening hours change often; please check weekly.",
    "alder-foundation.test": "Two new grants were announced in spring.",
}
READY = """
SELECT count(*) > 90 AND (SELECT count(*) FROM messor.products) > 20
   AND (SELECT bool_and(finished_at IS NOT NULL) FROM messor.preflights)
  FROM messor.page_snapshots
"""
# Of the second harvest: prices that moved.
CHANGED = "SELECT count(*) > 3 FROM messor.product_prices p WHERE EXISTS (SELECT FROM messor.product_prices o WHERE o.product_id = p.product_id AND o.seen_at < p.seen_at)"
PRODUCT = """
SELECT h.product_id FROM messor.product_prices h JOIN messor.products p ON p.id = h.product_id
 GROUP BY 1, p.url ORDER BY count(*) DESC, strpos(p.url, '/products/') = 0, h.product_id LIMIT 1
"""
STORY = f"SELECT page_id FROM messor.products WHERE id = ({PRODUCT})"
DENIED = """
SELECT t.page_id FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
 WHERE t.outcome = 'robots' AND t.refusal IS NOT NULL AND t.kind = 'page' ORDER BY p.id LIMIT 1
"""


@pytest.mark.wide
async def test_pictures(
    chromium: Browser,
    serve: Serve,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
    tmp_path: Path,
) -> None:
    folder = Path(os.environ.get("PICTURES", tmp_path))
    actor = f"member:{(await joined(Role.ADMIN)).id}"
    await database.fetch("UPDATE messor.members SET name = 'Ada Lovelace'")
    with WorldProcess("demo") as world:  # of its own: time passes in it
        settings = settings_for(
            world, tmp_path, default_delay=0.02, flush_seconds=0.05, browser="off", total_timeout=10
        )
        async with _harvesting(settings, database):
            await _ask_for(database, actor)
            for name, mode in INGESTED:
                request = IngestRequest(f"http://{name}/", actor, mode, may_approve=True)
                await ingest(database, settings, request)
            await _until(database, READY)
            await asyncio.to_thread(world.set_epoch, 1)
            async with database.transaction() as connection:
                await tasks.recrawl(connection)
            await _until(database, CHANGED)
            await _take(await _places(database), chromium, await serve(settings), folder)


@asynccontextmanager
async def _harvesting(settings: Settings, database: Database) -> AsyncIterator[None]:
    """A worker, and an extractor that reads what it brings."""
    readers = ReaderPool(1)
    extractor = Extractor(database, settings.data_dir / "archive", readers)
    async with at_work(settings, database):
        reading = asyncio.create_task(extractor.run(follow=True))
        yield
        extractor.stop()
        await asyncio.wait_for(reading, 60)
    await readers.close()


async def _ask_for(database: Database, actor: str) -> None:
    """Some are approved, and some wait in the words of who asked for them."""
    for name in (*HARVESTED, *WAITING):
        async with database.transaction() as connection:
            asked = await intake.submit_domain(
                connection, f"http://{name}/", Submitter(actor), context=WAITING.get(name)
            )
            if name not in WAITING:
                await decisions.approve(connection, asked.domain.domain, actor=actor)


async def _until(database: Database, question: str, patience: float = 240.0) -> None:
    async with asyncio.timeout(patience):
        while not await database.fetchval(question):  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.05)


async def _places(database: Database) -> dict[str, str]:
    story, denied = await database.fetchval(STORY), await database.fetchval(DENIED)
    return {
        "overview": "/",
        "review": "/review",
        "domains": "/domains?view=approved",
        "domain": "/domains/kettle-and-lamp.test",
        "page": f"/pages/{story}",
        "why": f"/pages/{denied}/why",
        "ingest": "/orbit/fennimore-joinery-test/import",
        "health": "/admin/orbits/health",
        "product": f"/products/{await database.fetchval(PRODUCT)}",
    }


async def _take(places: dict[str, str], chromium: Browser, console: str, folder: Path) -> None:
    for suffix, size, names in (
        ("", WIDE, list(places)),
        ("-phone", NARROW, ["overview", "review"]),
    ):
        context = await chromium.new_context(viewport=size)
        page = await context.new_page()
        await log_in(page, console, Role.ADMIN)
        for name in names:
            await _shoot(page, f"{console}{places[name]}", folder / f"{name}{suffix}.png")
        await context.close()


async def _shoot(page: Page, address: str, file: Path) -> None:
    answer = await page.goto(address)
    assert answer is not None
    assert answer.status == 200, address
    await page.evaluate("document.fonts.ready.then(() => true)")
    assert await page.evaluate(TOO_WIDE) <= 0, f"{address} is wider than the screen"
    assert len(await page.screenshot(path=file)) > 10_000
