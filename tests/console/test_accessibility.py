"""axe-core finds nothing serious on any screen, in both themes and on a small screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, Page, ViewportSize

from messor.access.members import Member
from messor.access.roles import Role
from messor.settings import Settings
from messor.store.database import Database
from tests.console.conftest import Serve
from tests.console.test_browser import NARROW, WIDE, log_in
from tests.console.touring import as_admin, furnish, shown_tour

LOOKS: list[tuple[str, ViewportSize]] = [("light", WIDE), ("dark", WIDE), ("light", NARROW)]
OPTIONS = {"resultTypes": ["violations"]}
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


async def faults(page: Page) -> list[str]:
    results: dict[str, Any] = (await Axe().run(page, options=OPTIONS)).response
    return [
        f"{fault['id']}: {node['html'][:160]} {node['any'][0]['message'][:160] if node['any'] else ''}"
        for fault in results["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"][:3]
    ]


@pytest.mark.parametrize("scheme, size", LOOKS, ids=["light", "dark", "narrow"])
async def test_every_screen_can_be_used_by_everybody(
    scheme: Any,
    size: Any,
    chromium: Browser,
    serve: Serve,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
    tmp_path: Path,
) -> None:
    admin = await joined(Role.ADMIN)
    console = await serve(public_submission=True)
    context = await chromium.new_context(color_scheme=scheme, viewport=size)
    page = await context.new_page()
    found: list[str] = []
    for path in ("/login", "/ask"):
        await page.goto(f"{console}{path}")
        found += [f"{path} {fault}" for fault in await faults(page)]
    await log_in(page, console, Role.ADMIN)
    more = await furnish(database, as_admin(admin.id), Settings(data_dir=tmp_path))
    places = dict.fromkeys([*await shown_tour(database), *more])
    for path in places:
        await page.goto(f"{console}{path}")
        found += [f"{path} {fault}" for fault in await faults(page)]
        if await page.evaluate(TOO_WIDE) > 0:
            found.append(f"{path} is wider than the screen")
    assert found == [], "\n".join(found)
    await context.close()
