"""Both workflows of the approval specification, from the form to the harvest, in a real Chromium.

A worker and an extractor run beside the console, as they do under `messor up`; nobody starts a
crawl or an extraction by hand.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, Page, ViewportSize, expect

from messor.access.roles import Role
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.store.database import Database
from tests.console.conftest import Serve
from tests.console.test_browser import Joined, log_in, status_of, ways
from tests.crawling import at_work, idle
from tests.little_web import LittleWeb, page, robots

STARTED = "Crawling started. Check back in a few minutes."

# Five pages in a row below the homepage: the last two lie deeper than anybody asked for.
CHAIN = {f"/{number}": page(f"Step {number}", f"/{number + 1}") for number in range(1, 6)}
FOOD = {
    "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
    "/": page("Food bank", "/1", "/private"),
    "/private": page("Private"),
    "/services/housing": page("Housing help"),
    **CHAIN,
}
READ = """
SELECT p.url FROM messor.extractions e JOIN messor.pages p ON p.id = e.page_id
"""


@dataclass
class Scene:
    """A site, the console, and somebody of each role at a browser."""

    web: LittleWeb
    database: Database
    console: str
    submitter: Page
    reviewer: Page

    async def submit(self, address: str, context: str | None = None) -> None:
        """Fill in the form and send it."""
        await self.submitter.goto(f"{self.console}/submit")
        await expect(self.submitter.get_by_role("radio", name="3", exact=False)).to_be_checked()
        await self.submitter.get_by_label("Domain or URL").fill(address)
        if context is not None:
            await self.submitter.get_by_label(
                "What is this site, and why should it be crawled?"
            ).fill(context)
        await self.submitter.get_by_role("button", name="Submit", exact=True).click()

    async def review(self, name: str) -> Page:
        """The reviewer at the domain's dossier, once its first look is there."""
        async with asyncio.timeout(120):
            while not await self.database.fetchval(  # noqa: ASYNC110 - a database has no event
                """SELECT EXISTS (SELECT FROM messor.preflights f JOIN messor.domains d
                     ON d.id = f.domain_id WHERE d.domain = $1 AND f.finished_at IS NOT NULL)""",
                name,
            ):
                await asyncio.sleep(0.02)
        await self.reviewer.goto(f"{self.console}/review")
        queue = self.reviewer.locator(".queue")
        await queue.get_by_role("link", name=name).click()
        await expect(self.reviewer.locator("#dossier h2")).to_have_text(name)
        return self.reviewer

    async def harvested(self) -> set[str]:
        """What was extracted once nothing is due any more, as paths."""
        await idle(self.database)
        async with asyncio.timeout(120):
            while await self.database.fetchval("SELECT count(*) FROM messor.extraction_due"):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        rows = await self.database.fetch(READ)
        return {row["url"].removeprefix("https://foodbank.test") for row in rows}


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
    async with LittleWeb(
        tmp_path, {"foodbank.test": FOOD, "spam.test": {"/": page("Buy")}}, tls=True
    ) as web:
        settings = web.settings(default_delay=0.01)
        console = await serve(settings)
        pages = []
        for role in (Role.SUBMITTER, Role.REVIEWER):
            await joined(role)
            context = await chromium.new_context(viewport=size, java_script_enabled=scripts)
            pages.append(await context.new_page())
            await log_in(pages[-1], console, role)
        readers = ReaderPool(1)
        extractor = Extractor(database, settings.data_dir / "archive", readers)
        async with at_work(settings, database):
            reading = asyncio.create_task(extractor.run(follow=True))
            yield Scene(web, database, console, *pages)
            extractor.stop()
            await asyncio.wait_for(reading, 60)
        await readers.close()
        for one in pages:
            await one.context.close()


@ways("wide-scripts", "narrow-plain")
async def test_a_domain_is_submitted_looked_at_approved_and_harvested(scene: Scene) -> None:
    await scene.submit("foodbank.test", "State food bank directory")
    told = scene.submitter.get_by_text("foodbank.test was submitted for review.")
    await expect(told).to_be_visible()
    assert await status_of(scene.database, "foodbank.test") == "pending_review"

    reviewer = await scene.review("foodbank.test")
    dossier = reviewer.locator("#dossier")
    await expect(dossier.locator("blockquote")).to_contain_text("State food bank directory")
    await expect(dossier.get_by_text("depth 3")).to_be_visible()
    await expect(dossier.get_by_text("allowed", exact=True)).to_be_visible()
    asked = scene.web.requests("foodbank.test")
    assert len(asked) <= 3, "a first look is three requests at most"
    assert all(one.path in ("/", "/robots.txt", "/sitemap.xml") for one in asked)

    await dossier.get_by_role("button", name="Approve").click()
    await expect(reviewer.get_by_text(STARTED)).to_be_visible()
    assert await status_of(scene.database, "foodbank.test") == "approved"
    assert await scene.harvested() == {"/", "/1", "/2", "/3"}
    asked_paths = set(scene.web.paths("foodbank.test"))
    assert not asked_paths & {"/4", "/5", "/private"}, "neither too deep nor forbidden"

    await scene.submitter.get_by_role("link", name="View foodbank.test").click()
    await expect(scene.submitter.locator("main").get_by_text("approved").first).to_be_visible()
    await scene.submitter.goto(f"{scene.console}/domains/foodbank.test/pages")
    await expect(scene.submitter.get_by_text("https://foodbank.test/3")).to_be_visible()


@ways("narrow-plain")
async def test_a_domain_is_rejected_with_a_reason_that_its_submitter_reads(scene: Scene) -> None:
    await scene.submit("spam.test")
    reviewer = await scene.review("spam.test")
    dossier = reviewer.locator("#dossier")
    await dossier.get_by_role("button", name="Reject").click()
    await expect(reviewer.get_by_text("A reason is required")).to_be_visible()
    assert await status_of(scene.database, "spam.test") == "pending_review"
    await dossier.get_by_label("Reason", exact=True).fill("only advertisements")
    await dossier.get_by_role("button", name="Reject").click()
    await expect(reviewer.get_by_text("spam.test is rejected.")).to_be_visible()
    await expect(reviewer.get_by_text("The review queue is empty")).to_be_visible()

    await scene.submit("spam.test")
    await expect(scene.submitter.get_by_text("was rejected: only advertisements.")).to_be_visible()
    await scene.submitter.get_by_label("What has changed?").fill("a charity now")
    await scene.submitter.get_by_role("button", name="Submit again").click()
    await expect(scene.submitter.get_by_text("submitted for review again.")).to_be_visible()
    await idle(scene.database)
    asked = scene.web.paths("spam.test")
    assert asked.count("/") <= 2, "what nobody approved is looked at, never harvested"


@ways("wide-scripts")
async def test_a_page_of_an_unknown_domain_waits_for_its_approval(scene: Scene) -> None:
    await scene.submit("foodbank.test/services/housing")
    question = "Would you like to submit foodbank.test for review?"
    await expect(scene.submitter.get_by_text(question)).to_be_visible()
    assert await scene.database.fetchval("SELECT count(*) FROM messor.domains") == 0
    await scene.submitter.get_by_label("What is this site, and why should it be crawled?").fill(
        "Housing help"
    )
    await scene.submitter.get_by_role("button", name="Submit for review").click()
    await expect(scene.submitter.get_by_text("is crawled once it is approved")).to_be_visible()

    reviewer = await scene.review("foodbank.test")
    dossier = reviewer.locator("#dossier")
    await expect(
        dossier.get_by_text("https://foodbank.test/services/housing").first
    ).to_be_visible()
    assert "/services/housing" not in scene.web.paths("foodbank.test")
    await dossier.get_by_role("button", name="Approve").click()
    await expect(reviewer.get_by_text(STARTED)).to_be_visible()
    assert "/services/housing" in await scene.harvested()


@ways("narrow-scripts")
async def test_a_page_of_an_approved_domain_is_crawled_at_once(scene: Scene) -> None:
    await scene.submit("foodbank.test")
    reviewer = await scene.review("foodbank.test")
    await reviewer.locator("#dossier").get_by_role("button", name="Approve").click()
    await expect(reviewer.get_by_text(STARTED)).to_be_visible()
    assert "/services/housing" not in await scene.harvested(), "no page links to it"

    await scene.submit("foodbank.test/services/housing")
    await expect(scene.submitter.get_by_text("is crawled now.")).to_be_visible()
    assert "/services/housing" in await scene.harvested()
    await scene.submitter.goto(f"{scene.console}/domains/foodbank.test/pages")
    housing = scene.submitter.get_by_text("https://foodbank.test/services/housing")
    await expect(housing).to_be_visible()

    await scene.submit("foodbank.test")
    again = "already approved, would you like to re-scrape?"
    await expect(scene.submitter.get_by_text(again)).to_be_visible()
