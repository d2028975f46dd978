"""Access requests in a browser: what is held on a person is found, handed over and erased."""

from __future__ import annotations

import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from messor.access.members import Member
from messor.access.roles import Role
from messor.store.database import Database
from tests.console.conftest import Serve
from tests.console.test_accessibility import TOO_WIDE, examining
from tests.console.test_browser import NARROW, WIDE, log_in

JANE = "viewer@example.org"


@pytest.mark.asyncio(loop_scope="session")
async def test_a_person_is_found_handed_over_and_erased(
    chromium: Browser,
    serve: Serve,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
    tmp_path: Path,
) -> None:
    await joined(Role.ADMIN)
    jane: Member = await joined(Role.VIEWER)
    assert jane.email == JANE
    console = await serve()
    context = await chromium.new_context(color_scheme="light", viewport=WIDE)
    page, examiner = await examining(context)
    await log_in(page, console, Role.ADMIN)
    await page.goto(f"{console}/persons")
    await page.get_by_label("Names and addresses").fill(JANE)
    await page.get_by_role("button", name="Find").click()
    await expect(page.get_by_role("cell", name="members", exact=True)).to_be_visible()
    assert await examiner.faults() == []
    await page.set_viewport_size(NARROW)
    assert await page.evaluate(TOO_WIDE) <= 0
    async with page.expect_download() as waiting:
        await page.get_by_role("button", name="Hand over").click()
    file = tmp_path / "person.zip"
    await (await waiting.value).save_as(file)
    assert JANE in zipfile.ZipFile(file).read("tables/members.json").decode()
    await page.get_by_label("Reason").fill("asked")
    await page.get_by_role("button", name="Erase permanently").click()
    await expect(page.get_by_text("1 accounts")).to_be_visible()
    assert not await database.fetchval("SELECT count(*) FROM messor.members WHERE email = $1", JANE)
    await context.close()
