"""Find: by a few letters, on a page and in the palette, only what the caller may open."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from messor.access.roles import Role, acts_of
from messor.console.navigation import MENU
from messor.store.database import Database
from tests.console.conftest import Enter, Visitor
from tests.console.test_browser import NARROW, Joined, log_in, watched
from tests.harvested import stock_shop


async def test_finds_screens_by_any_of_their_names(admin: Visitor) -> None:
    page = await admin.get("/find?q=rob")
    assert 'href="/why"' in _found(page.text)
    assert 'href="/webhooks"' not in _found(page.text)
    assert 'href="/jobs"' not in _found((await admin.get("/find?q=audit%20dead")).text)


async def test_finds_domains_urls_and_texts(admin: Visitor, database: Database) -> None:
    harvest = await stock_shop(database)
    await harvest.index()
    assert 'href="/domains/shop.example"' in _found((await admin.get("/find?q=op.exa")).text)
    by_url = _found((await admin.get("/find?q=https://shop.example/a?b")).text)
    assert 'href="/why?url=https%3A%2F%2Fshop.example%2Fa%3Fb"' in by_url
    assert 'href="/domains/shop.example"' in by_url
    half = _found((await admin.get("/find?q=kett")).text)
    assert "/records/" in half
    assert 'href="/search?q=kett"' in half
    assert "/records/" not in _found((await admin.get("/find?q=ke")).text)


async def test_half_typed_syntax_finds_no_text_but_no_fault(admin: Visitor) -> None:
    assert (await admin.get('/find?q="kettle')).status == 200
    assert (await admin.get("/find?q=%00-*")).status == 200


@pytest.mark.parametrize("role", [Role.VIEWER, Role.ADMIN])
async def test_offers_what_the_caller_may_open(console: str, enter: Enter, role: Role) -> None:
    caller = await enter(console, role)
    found = _found((await caller.get("/find")).text)
    for entry in (each for group in MENU for each in group.entries if each.path != "/find"):
        assert (f'href="{entry.path}"' in found) is (entry.act in acts_of(role)), entry.label


async def test_the_palette_is_opened_walked_and_left_by_keys(
    chromium: Browser, console: str, joined: Joined
) -> None:
    await joined(Role.REVIEWER)
    context = await chromium.new_context()
    faults, page = watched(context), await context.new_page()
    await log_in(page, console)
    palette = page.get_by_role("dialog", name="Find")
    await page.keyboard.press("Control+k")
    await expect(palette).to_be_visible()
    await page.keyboard.type("expor")
    await expect(palette.get_by_role("link", name="Exports")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(palette).to_be_hidden()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("expor")
    await expect(palette.get_by_role("link")).to_have_count(2)  # the screen, and the whole search
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/exports")
    assert faults == []


@pytest.mark.wide
async def test_without_scripts_it_is_a_page(
    chromium: Browser, console: str, joined: Joined
) -> None:
    await joined(Role.REVIEWER)
    context = await chromium.new_context(java_script_enabled=False, viewport=NARROW)
    page = await context.new_page()
    await log_in(page, console)
    await page.get_by_text("Menu").click()
    await page.get_by_label("All pages").get_by_role("link", name="Find").click()
    await page.get_by_role("searchbox").fill("watch")
    await page.keyboard.press("Enter")
    await page.locator("main").get_by_role("link", name="Watches").click()
    await expect(page.get_by_role("heading", name="Watches")).to_be_visible()


def _found(text: str) -> str:
    """The list of what was found, without the menu."""
    _, mark, rest = text.partition('<ul class="found-list">')
    return rest.partition("</ul>")[0] if mark else ""
