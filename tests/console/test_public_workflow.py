"""Workflow 1 of the approval specification from the public form, in a real Chromium: a stranger's request,
its review, the crawl, flags and their review, records, and mail to a real server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, Page, ViewportSize, expect

from messor.access.roles import Role
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.governance.notices import Notices
from messor.settings import Settings
from messor.store.database import Database
from tests.community_site import FLAGS, RECORDS, ROOMS, SITE, VERTICAL
from tests.console.conftest import Serve
from tests.console.test_browser import Joined, log_in, status_of, ways
from tests.crawling import at_work, eventually, idle
from tests.governance.test_domain_vertical import apply
from tests.governance.test_notices import live
from tests.little_web import LittleWeb
from tests.mail.test_mail import work
from tests.smtp_server import Postbox, receiving

STRANGER = "ada@example.org"
BASE = f"https://{SITE}"
LOOKED_AT = "SELECT count(*) FROM messor.preflights WHERE finished_at IS NOT NULL"
UNREAD = "SELECT count(*) FROM messor.extraction_due"


@dataclass
class Scene:
    """The site, the console, a stranger and a reviewer at their browsers, and a post box."""

    database: Database
    settings: Settings
    console: str
    stranger: Page
    reviewer: Page
    box: Postbox

    async def ask(self, address: str) -> None:
        """Fill in the public form and send it."""
        await self.stranger.goto(f"{self.console}/ask")
        await self.stranger.get_by_label("Domain or URL").fill(address)
        await self.stranger.get_by_label("What is this site, and why is it useful?").fill(
            "Help for families"
        )
        await self.stranger.get_by_label("E-mail address").fill(STRANGER)
        await self.stranger.get_by_role("button", name="Send request").click()

    async def approve(self) -> None:
        """Open the dossier, wait for its first look, and approve with the vertical that is offered."""
        await self.reviewer.goto(f"{self.console}/review?at={SITE}")
        dossier = self.reviewer.locator("#dossier")
        await dossier.get_by_role("button", name="Run preflight check").click()
        await eventually(lambda: self.database.fetchval(LOOKED_AT))
        await self.reviewer.goto(f"{self.console}/review?at={SITE}")
        await expect(dossier.get_by_text("allowed", exact=True)).to_be_visible()
        await dossier.get_by_label("Vertical").select_option(VERTICAL)
        await dossier.get_by_role("button", name="Approve").click()
        started = "Crawling started. Check back in a few minutes."
        await expect(self.reviewer.get_by_text(started)).to_be_visible()

    async def harvested(self) -> None:
        """Wait until everything is crawled and read."""
        await idle(self.database)
        async with asyncio.timeout(120):
            while await self.database.fetchval(UNREAD):  # noqa: ASYNC110 - a database has no event
                await asyncio.sleep(0.02)

    async def mails(self) -> list[tuple[str, str]]:
        """Deliver what is queued; recipient and subject of everything so far."""
        await work(self.settings, self.database)
        return [(to, subject) for to, subject, _ in self.box.texts]


@pytest_asyncio.fixture(loop_scope="session")
async def scene(
    size: ViewportSize,
    scripts: bool,
    chromium: Browser,
    serve: Serve,
    database: Database,
    joined: Joined,
    tmp_path: Path,
) -> AsyncIterator[Scene]:
    await apply(database, VERTICAL)
    with ExitStack() as stack:
        box = stack.enter_context(receiving())
        async with LittleWeb(tmp_path, {SITE: ROOMS}, tls=True) as web:
            public = {"public_submission": True, "public_url": "https://messor.example"}
            settings = box.settings(web.settings(default_delay=0.01), **public)
            console = await serve(settings, public_submission=True)
            await joined(Role.REVIEWER)
            pages = []
            for _ in range(2):
                context = await chromium.new_context(viewport=size, java_script_enabled=scripts)
                pages.append(await context.new_page())
            await log_in(pages[1], console)
            readers = ReaderPool(1)
            extractor = Extractor(database, settings.data_dir / "archive", readers)
            async with at_work(settings, database):
                reading = asyncio.create_task(extractor.run(follow=True))
                yield Scene(database, settings, console, pages[0], pages[1], box)
                extractor.stop()
                await asyncio.wait_for(reading, 60)
            await readers.close()
            for page in pages:
                await page.context.close()


@ways("wide-scripts")
async def test_from_the_public_form_to_flags_records_and_mail(scene: Scene) -> None:
    await scene.ask(SITE)
    link = scene.stranger.get_by_role("link", name="See what becomes of it")
    await expect(link).to_be_visible()
    status = await link.get_attribute("href")
    assert await status_of(scene.database, SITE) == "pending_review"
    await scene.approve()
    await expect(scene.reviewer.get_by_text("A mail goes to 1 submitter.")).to_be_visible()
    assert await scene.mails() == [(STRANGER, f"{SITE} was approved")]
    await scene.harvested()

    await scene.reviewer.goto(f"{scene.console}/verticals/{VERTICAL}/flags")
    for path, relevant in FLAGS.items():
        row = scene.reviewer.get_by_role("row").filter(
            has=scene.reviewer.get_by_role("link", name=f"{BASE}{path}", exact=True)
        )
        word = "relevant" if relevant else "irrelevant"
        await expect(row.get_by_text(word, exact=True).first).to_be_visible()
    film = scene.reviewer.get_by_role("row").filter(has_text=f"{BASE}/film")
    await film.get_by_role("button", name="Relevant", exact=True).click()
    await expect(scene.reviewer.get_by_text(f"{BASE}/film is relevant.")).to_be_visible()

    await scene.reviewer.goto(f"{scene.console}/domains/{SITE}/records")
    records = scene.reviewer.locator("main")
    for _, name in RECORDS:
        if "tuesday" not in name:
            await expect(records.get_by_text(name).first).to_be_visible()
    await expect(records.get_by_text("Tuesday", exact=False).first).to_be_visible()

    assert await live(scene.database, Notices.of(scene.settings)) == 1
    assert await scene.mails() == [
        (STRANGER, f"{SITE} was approved"),
        (STRANGER, f"Pages of {SITE} are available"),
    ]
    texts = [text for _, _, text in scene.box.texts]
    assert all(f"https://messor.example{status}" in text for text in texts)
    assert f"The first {len(FLAGS)} pages" in texts[1]
    await scene.stranger.goto(f"{scene.console}{status}")
    await expect(scene.stranger.get_by_text("approved").first).to_be_visible()


@ways("narrow-plain")
async def test_a_page_of_an_unknown_domain_from_the_public_form(scene: Scene) -> None:
    """Workflow 2: the offer to submit its domain, and the page itself once that is approved."""
    await scene.ask(f"{SITE}/programs/food-pantry")
    question = f"Would you like to submit {SITE} for review?"
    await expect(scene.stranger.get_by_text(question)).to_be_visible()
    assert await scene.database.fetchval("SELECT count(*) FROM messor.domains") == 0
    await scene.stranger.get_by_role("button", name="Send request").click()
    await expect(scene.stranger.get_by_role("link", name="See what becomes of it")).to_be_visible()
    await scene.approve()
    await scene.harvested()
    waited = "SELECT count(*) FROM messor.submitted_urls WHERE taken_at IS NOT NULL"
    assert await scene.database.fetchval(waited) == 1
    await scene.ask(f"{SITE}/volunteer")
    await expect(scene.stranger.get_by_text("is crawled now.")).to_be_visible()
    assert await scene.mails() == [(STRANGER, f"{SITE} was approved")]
