"""axe-core finds nothing serious on any page, in both themes and on a small screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, Page, ViewportSize

from messor.access.members import Member
from messor.access.roles import Role
from messor.registry.preflights import Report
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import Serve
from tests.console.test_browser import NARROW, WIDE, log_in

LOOKS: list[tuple[str, ViewportSize]] = [("light", WIDE), ("dark", WIDE), ("light", NARROW)]


async def faults(page: Page) -> list[str]:
    results: dict[str, Any] = (await Axe().run(page)).response
    return [
        f"{fault['id']}: {node['html'][:160]} {node['any'][0]['message'][:160] if node['any'] else ''}"
        for fault in results["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"][:3]
    ]


@pytest.mark.parametrize("scheme, size", LOOKS, ids=["light", "dark", "narrow"])
async def test_every_page_can_be_used_by_everybody(
    scheme: Any,
    size: Any,
    chromium: Browser,
    serve: Serve,
    database: Database,
    filled: list[str],
    joined: Callable[..., Awaitable[Member]],
) -> None:
    await joined(Role.ADMIN)
    domain = await seeding.ask_for(database, "looked-at.org", "help")
    look = Report(
        url="https://looked-at.org/", reachable=True, said="It answers.", robots="rules",
        robots_allows=True, title="A title", challenge="cloudflare", login=True, signals=["403"],
        sitemap="https://looked-at.org/sitemap.xml", sitemap_urls=3,
    )  # fmt: skip
    await seeding.add_report(database, domain, look)
    console = await serve(public_submission=True)
    context = await chromium.new_context(color_scheme=scheme, viewport=size)
    page = await context.new_page()
    found: list[str] = []
    for path in ("/login", "/ask"):
        await page.goto(f"{console}{path}")
        found += [f"{path} {fault}" for fault in await faults(page)]
    await log_in(page, console, Role.ADMIN)
    for path in [*filled, "/review?at=looked-at.org", "/nothing", "/domains/foodbank.org", "/why"]:
        await page.goto(f"{console}{path}")
        found += [f"{path} {fault}" for fault in await faults(page)]
    assert found == [], "\n".join(found)
    await context.close()
