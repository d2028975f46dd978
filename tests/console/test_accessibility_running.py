"""axe-core finds nothing serious on the pages of work and people, in both themes and on a phone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Browser

from messor.access.members import Member
from messor.access.roles import Role
from messor.store.database import Database
from tests.console.test_accessibility import LOOKS, faults
from tests.console.test_browser import log_in
from tests.console.test_xss_running import _orbit, _people, _work

WORDS = [f"https://shop.example/about/number-{number}" for number in range(12)]


@pytest.mark.parametrize("scheme, size", LOOKS, ids=["light", "dark", "narrow"])
async def test_every_page_of_work_and_people_can_be_used_by_everybody(
    scheme: Any,
    size: Any,
    chromium: Browser,
    console: str,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
) -> None:
    await joined(Role.ADMIN)
    paths = await _orbit(database, WORDS) + await _work(database, WORDS)
    context = await chromium.new_context(color_scheme=scheme, viewport=size)
    page = await context.new_page()
    await log_in(page, console, Role.ADMIN)
    paths += await _people(database, WORDS)
    paths += ["/batches/new", "/orbit/new/import?address=https://new.example", "/jobs/dead?type=x"]
    found: list[str] = []
    for path in paths:
        await page.goto(f"{console}{path}")
        found += [f"{path} {fault}" for fault in await faults(page)]
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        if await page.evaluate(wide) > 0:
            found.append(f"{path} is wider than the screen")
    assert found == [], "\n".join(found)
    await context.close()
