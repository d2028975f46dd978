"""axe-core finds nothing serious on what records, products, parsers and search may show.

Every screen in every look is `test_accessibility`; here are more states of theirs, on a dark phone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from messor.access.members import Member
from messor.access.roles import Role
from messor.store.database import Database
from tests.console.test_accessibility import examining
from tests.console.test_browser import NARROW, WIDE, log_in, watched
from tests.harvested import Harvest, add_trial, contact_html, product_html, stock_shop


async def _paths(database: Database) -> list[str]:
    """Every page, with something on it and without."""
    shop: Harvest = await stock_shop(database)
    for number in range(6):
        await shop.see(f"/{number}", product_html(f"Item {number}", sku=f"I-{number}"))
        await shop.see(f"/{number}", contact_html())
    trial = await add_trial(database)
    record, contact = (
        await shop.record_id("product", "/kettle"),
        await shop.record_id("contact", "/contact"),
    )
    gone = await shop.record_id("product", "/1")
    products = [await shop.product_id(path) for path in ("/kettle", "/pot", "/cup")]
    return [
        "/records", "/records?kind=none", f"/records/{record}", f"/records/{contact}",
        f"/records/{gone}", "/products", "/products?brand=Zeta&order=price", "/products?brand=none",
        "/products?rating=x", *(f"/products/{one}" for one in products), "/parsers",
        f"/parsers/trials/{trial}", "/parsers/repairs/shop.example", "/search", "/search?q=copper",
        "/search?q=copper&kind=product&brand=Zeta", "/search?q=nothing", "/search?q=-x",
        "/domains/shop.example/records",
    ]  # fmt: skip


@pytest.mark.wide
async def test_every_page_of_records_can_be_used_by_everybody(
    chromium: Browser,
    console: str,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
) -> None:
    await joined(Role.ADMIN)
    context = await chromium.new_context(color_scheme="dark", viewport=NARROW)
    page, examiner = await examining(context)
    await log_in(page, console, Role.ADMIN)
    found: list[str] = []
    for path in await _paths(database):
        await page.goto(f"{console}{path}")
        found += [f"{path} {fault}" for fault in await examiner.faults()]
    assert found == [], "\n".join(found)
    await context.close()


@pytest.mark.parametrize(
    "size", [pytest.param(WIDE, marks=pytest.mark.wide), NARROW], ids=["wide", "narrow"]
)
async def test_from_a_question_to_the_proof_without_scripts(
    size: Any,
    chromium: Browser,
    console: str,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
) -> None:
    await joined(Role.REVIEWER)
    await stock_shop(database)
    context = await chromium.new_context(viewport=size, java_script_enabled=False)
    complaints = watched(context)
    page = await context.new_page()
    await log_in(page, console)
    await page.goto(f"{console}/search")
    await page.get_by_role("searchbox", name="Search").fill("copper kettle")
    await page.keyboard.press("Enter")
    await expect(page.locator("mark").first).to_be_visible()
    await page.locator(".facet").get_by_role("link", name="product", exact=True).click()
    await page.get_by_role("link", name="Copper kettle").first.click()
    await expect(page.get_by_text('"price": "49.90"')).to_be_visible()
    await page.get_by_role("link", name="View product").click()
    await expect(page.get_by_role("img", name="Current price EUR 49.90")).to_be_visible()
    await page.get_by_role("link", name="snapshot", exact=False).first.click()
    await expect(page.get_by_role("heading", name="Copper kettle").first).to_be_visible()
    assert complaints == []
    await context.close()
