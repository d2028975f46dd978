"""The API reference: every operation with examples, tried with the session in a real Chromium."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from messor.access.roles import Role
from messor.cli.serve import WebServer
from messor.registry import notes
from messor.registry.domains import get
from messor.settings import Settings
from messor.store.database import Database
from tests.console.conftest import Visitor, api_document
from tests.console.test_browser import NARROW, WIDE, Joined, log_in, watched
from tests.crawling import admit, until

PICTURES = os.environ.get("PICTURES")


async def test_every_operation_is_listed_and_shown(reviewer: Visitor) -> None:
    listed = (await reviewer.get("/api-reference")).text
    operations = [
        operation for paths in api_document()["paths"].values() for operation in paths.values()
    ]
    for operation in operations:
        assert f'href="/api-reference/{operation["operationId"]}"' in listed
    shown = (await reviewer.get("/api-reference/add_watch")).text
    for words in (
        "watches.manage",
        "Cheaper kettles",
        "condition",
        "messor.add_watch",
        "quiet_from",
    ):
        assert words in shown
    assert "POST" in shown
    assert 'data-csrf="' in shown
    found = (await reviewer.get("/api-reference?q=tombstone+feed")).text
    assert "/api/v1/changes" in found
    assert "/api-reference/add_proxy" not in found
    assert (await reviewer.get("/api-reference/absent")).status == 404


@pytest.mark.parametrize("size", [WIDE, pytest.param(NARROW, marks=pytest.mark.wide)])
async def test_an_operation_is_tried_with_the_session(
    database: Database, tmp_path: Path, joined: Joined, chromium: Browser, size: object
) -> None:
    await joined(Role.REVIEWER)
    await admit(database, "http://one.test/")
    server = WebServer(Settings(data_dir=tmp_path, listen_port=0), database)
    running = asyncio.create_task(server.run())
    try:
        await until(lambda: server.is_open)
        base = f"http://127.0.0.1:{server.port}"
        context = await chromium.new_context(viewport=size)  # type: ignore[arg-type]
        complaints = watched(context)
        page = await context.new_page()
        await log_in(page, base)
        await page.goto(f"{base}/api-reference/explain")
        await page.get_by_label("url", exact=True).fill("http://one.test/a")
        await page.get_by_role("button", name="Send as").click()
        answer = page.get_by_role("status", name="What came back")
        await expect(answer).to_contain_text('"verdict": "deferred"')
        await page.goto(f"{base}/api-reference/add_note")
        await page.get_by_label("domain", exact=True).fill("one.test")
        await page.get_by_label("Body", exact=True).fill('{"body": "tried"}')
        await page.get_by_role("button", name="Send as").click()
        await expect(answer).to_contain_text("201")
        await page.get_by_label("domain", exact=True).fill("absent.test")
        await page.get_by_role("button", name="Send as").click()
        await expect(answer).to_contain_text('"code": "not_found"')
        assert [one for one in complaints if "404" not in one] == []
        if PICTURES:
            for name in ("", "/add_watch"):
                await page.goto(f"{base}/api-reference{name}")
                picture = f"api{name.replace('/', '-')}-{page.viewport_size['width']}.png"  # type: ignore[index]
                await page.screenshot(path=Path(PICTURES) / picture)
        await context.close()
    finally:
        server.stop()
        await asyncio.wait_for(running, 30)
    domain = await get(database, "one.test")
    assert [note.body for note in await notes.of_domain(database, domain)] == ["tried"]
