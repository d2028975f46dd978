"""A real Chromium does what people do: log in, review, approve; wide and narrow, with scripts and without."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

import pytest
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize, expect

from messor.access.members import Member
from messor.access.roles import Role
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import PASSWORD

Joined = Callable[..., Awaitable[Member]]

WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
WAYS = {
    "wide-scripts": (WIDE, True), "wide-plain": (WIDE, False),
    "narrow-scripts": (NARROW, True), "narrow-plain": (NARROW, False),
}  # fmt: skip


def ways(*often: str) -> pytest.MarkDecorator:
    """On a desktop and on a phone, with scripts and without: these ways in every run, all of them widely."""
    return pytest.mark.parametrize(
        "size, scripts",
        [
            pytest.param(*way, id=name, marks=[] if name in often else [pytest.mark.wide])
            for name, way in WAYS.items()
        ],
    )


async def log_in(page: Page, console: str, role: Role = Role.REVIEWER) -> None:
    await page.goto(f"{console}/login")
    await page.get_by_label("E-mail address").fill(f"{role}@example.org")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def watched(context: BrowserContext) -> list[str]:
    """Everything a page complains of: faults of scripts, and what the policy refused."""
    found: list[str] = []
    context.on("console", lambda message: found.append(message.text))
    context.on("weberror", lambda error: found.append(str(error.error)))
    return found


async def status_of(database: Database, name: str) -> str:
    found: str = await database.fetchval(
        "SELECT status FROM messor.domains WHERE domain = $1", name
    )
    return found


@ways("wide-scripts", "narrow-plain")
async def test_log_in_review_approve(
    size: ViewportSize,
    scripts: bool,
    chromium: Browser,
    console: str,
    database: Database,
    joined: Joined,
) -> None:
    await joined(Role.REVIEWER)
    await seeding.ask_for(database, "foodbank.org", "State food bank directory")
    await seeding.ask_for(database, "spam.org", "Buy now")
    context = await chromium.new_context(viewport=size, java_script_enabled=scripts)
    complaints = watched(context)
    page = await context.new_page()
    await log_in(page, console)
    menu = "Main" if size is WIDE else "Main (small screens)"
    await (
        page.get_by_role("navigation", name=menu, exact=True)
        .get_by_role("link", name="Review")
        .click()
    )
    await expect(page.get_by_role("heading", name="foodbank.org")).to_be_visible()
    dossier = page.locator("#dossier")
    await expect(dossier.locator("blockquote")).to_contain_text("State food bank directory")
    await dossier.get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("Its pages are due. No worker is running.")).to_be_visible()
    assert await status_of(database, "foodbank.org") == "approved"

    await expect(page.get_by_role("heading", name="spam.org")).to_be_visible()
    await dossier.get_by_role("button", name="Reject").click()
    await expect(page.get_by_text("A reason is required")).to_be_visible()
    await dossier.get_by_label("Reason", exact=True).fill("only advertisements")
    await dossier.get_by_role("button", name="Reject").click()
    await expect(page.get_by_text("The review queue is empty")).to_be_visible()
    assert await status_of(database, "spam.org") == "rejected"
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    if scripts:
        assert await page.evaluate(wider) <= 0, "the page is wider than the screen"
    assert complaints == []
    await context.close()


async def test_the_keys_of_the_review_queue(
    chromium: Browser, console: str, database: Database, joined: Joined
) -> None:
    await joined(Role.REVIEWER)
    for name in ("one.org", "two.org", "three.org"):
        await seeding.ask_for(database, name)
    context = await chromium.new_context(viewport=WIDE)
    complaints = watched(context)
    page = await context.new_page()
    await log_in(page, console)
    await page.goto(f"{console}/review")
    opened = page.locator("#dossier h2")
    await expect(opened).to_have_text("one.org")
    await page.keyboard.press("j")
    await expect(opened).to_have_text("two.org")
    await expect(page).to_have_url(f"{console}/review?at=two.org")
    await expect(page.locator(".queue li[aria-current]")).to_have_attribute("data-name", "two.org")
    await page.keyboard.press("k")
    await expect(opened).to_have_text("one.org")
    await page.keyboard.press("j")
    await expect(opened).to_have_text("two.org")
    await page.keyboard.press("r")
    await page.keyboard.type("a shop, just ask")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("two.org is rejected.")).to_be_visible()
    await expect(opened).to_have_text("three.org")
    await page.keyboard.press("a")
    await expect(page.get_by_text("three.org is approved.")).to_be_visible()
    statuses = [await status_of(database, f"{name}.org") for name in ("one", "two", "three")]
    assert statuses == ["pending_review", "rejected", "approved"]
    assert complaints == []
    await context.close()


async def test_many_at_once(
    chromium: Browser, console: str, database: Database, joined: Joined
) -> None:
    await joined(Role.REVIEWER)
    for name in ("one.org", "two.org", "three.org"):
        await seeding.ask_for(database, name)
    page = await (await chromium.new_context(viewport=WIDE)).new_page()
    await log_in(page, console)
    await page.goto(f"{console}/review")
    await page.get_by_label("Select one.org").check()
    await page.get_by_label("Select three.org").check()
    await page.locator(".bulk").get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("2 of 2 domains")).to_be_visible()
    assert await status_of(database, "two.org") == "pending_review"


async def test_the_overview_moves_while_it_is_open(
    chromium: Browser, console: str, database: Database, joined: Joined
) -> None:
    await joined(Role.REVIEWER)
    context = await chromium.new_context(viewport=WIDE)
    complaints = watched(context)
    page = await context.new_page()
    await log_in(page, console)
    await expect(page.get_by_text("brand-new.org")).to_have_count(0)
    await seeding.ask_for(database, "brand-new.org")
    await expect(page.get_by_text("brand-new.org")).to_be_visible()
    assert complaints == []
    await context.close()


async def test_the_list_of_domains_follows_what_is_typed(
    chromium: Browser, console: str, database: Database, joined: Joined
) -> None:
    await joined(Role.REVIEWER)
    for name in ("alpha.org", "beta.org"):
        await seeding.ask_for(database, name)
    page = await (await chromium.new_context(viewport=WIDE)).new_page()
    await log_in(page, console)
    await page.goto(f"{console}/domains")
    await page.keyboard.press("/")
    await page.keyboard.type("alph")
    await expect(page.locator("#rows").get_by_text("beta.org")).to_have_count(0)
    await expect(page.locator("#rows").get_by_text("alpha.org")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "plain"])
async def test_submit_a_page_and_accept_the_offer(
    scripts: bool, chromium: Browser, console: str, database: Database, joined: Joined
) -> None:
    """Workflow 2 of the approval specification, up to the review."""
    await joined(Role.SUBMITTER)
    context = await chromium.new_context(viewport=NARROW, java_script_enabled=scripts)
    page = await context.new_page()
    await log_in(page, console, Role.SUBMITTER)
    await page.goto(f"{console}/submit")
    await page.get_by_label("Domain or URL").fill("foodbank.org/services/housing")
    await page.get_by_role("button", name="Submit").click()
    await expect(
        page.get_by_text("Would you like to submit foodbank.org for review?")
    ).to_be_visible()
    await page.get_by_role("button", name="Submit for review").click()
    await expect(page.get_by_text("is crawled once it is approved")).to_be_visible()
    assert await status_of(database, "foodbank.org") == "pending_review"
    await context.close()


async def test_the_menu_of_a_small_screen_needs_no_script(
    chromium: Browser, console: str, joined: Joined
) -> None:
    await joined(Role.VIEWER)
    context = await chromium.new_context(viewport=NARROW, java_script_enabled=False)
    page = await context.new_page()
    await log_in(page, console, Role.VIEWER)
    await page.locator(".topbar summary").click()
    await page.locator(".topbar").get_by_role("button", name="Log out").click()
    await expect(page.get_by_role("heading", name="Log in to Messor")).to_be_visible()
    await context.close()


async def test_dark_follows_the_system_without_scripts(
    chromium: Browser, console: str, joined: Joined
) -> None:
    """Measured by the colour that is drawn."""
    colours = {}
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        context = await chromium.new_context(color_scheme=scheme)
        page = await context.new_page()
        await page.goto(f"{console}/login")
        colours[scheme] = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        await context.close()
    assert colours == {"light": "rgb(249, 250, 251)", "dark": "rgb(17, 24, 39)"}
