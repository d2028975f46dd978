"""Site owners in a real Chromium: bot page, opt-out form, proof, report; IndexNow over HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import aiohttp
import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, Page, expect

from messor.access.roles import Role
from messor.console.views import owners as screens
from messor.fetch.identity import keys
from messor.governance import politeness_report
from messor.registry import domains
from messor.settings import Settings
from messor.store.database import Database
from tests.console.conftest import Enter, Serve
from tests.crawling import admit

RECORDS: dict[str, list[str]] = {}


@pytest.fixture(autouse=True)
def zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for DNS: the records of `RECORDS`."""
    RECORDS.clear()

    async def lookup(name: str) -> list[str]:
        return RECORDS.get(name, [])

    monkeypatch.setattr(screens, "txt_records", lookup)


def settings(folder: Path) -> Settings:
    return Settings(
        data_dir=folder, identity_url="https://bot.example", contact="mailto:a@b.example"
    )


async def is_accessible(page: Page) -> None:
    found = await Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= await page.evaluate("window.innerWidth")


async def ask(page: Page, base: str, domain: str, wish: str) -> None:
    """From the bot page to the form, and send it."""
    await page.goto(f"{base}/bot")
    await is_accessible(page)
    await page.get_by_role("link", name="opt out").click()
    await is_accessible(page)
    await page.get_by_label("Your domain").fill(domain)
    await page.get_by_label(wish).check()
    await page.get_by_role("button", name="Continue").click()
    await expect(page.get_by_role("heading", name=domain)).to_be_visible()
    await is_accessible(page)


async def show(page: Page, domain: str) -> None:
    """Publish the record that the page asks for, and have it checked."""
    text = await page.locator("pre").first.inner_text()
    RECORDS[f"_messor-verify.{domain}"] = [text.partition('"')[2].rstrip('"')]
    await page.get_by_role("button", name="Check the record").click()
    await expect(page.get_by_text("done", exact=True)).to_be_visible()


@pytest.mark.parametrize("width", [1440, 390])
async def test_an_owner_opts_out_in_a_browser(
    serve: Serve, chromium: Browser, database: Database, tmp_path: Path, width: int
) -> None:
    await admit(database, "http://shop.example/")
    base = await serve(settings(tmp_path))
    page = await chromium.new_page(viewport={"width": width, "height": 900})
    try:
        await ask(page, base, "shop.example", "stop fetching the site and delete")
        await page.get_by_role("button", name="Check the record").click()
        await expect(page.get_by_text("does not hold")).to_be_visible()
        await show(page, "shop.example")
        await is_accessible(page)
    finally:
        await page.close()
    assert (await domains.get(database, "shop.example")).status == "blacklisted"


async def test_an_owner_downloads_a_report_that_holds(
    serve: Serve, chromium: Browser, database: Database, tmp_path: Path
) -> None:
    await admit(database, "http://shop.example/")
    base = await serve(settings(tmp_path))
    page = await chromium.new_page()
    try:
        await page.request.get(f"{base}/.well-known/http-message-signatures-directory")
        await ask(page, base, "shop.example", "a signed report")
        report = await page.request.get(f"{page.url}/report")
        assert report.status == 409
        await show(page, "shop.example")
        await is_accessible(page)
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Download the signed report").click()
        saved = await (await download.value).path()
        document = await asyncio.to_thread(saved.read_bytes)
    finally:
        await page.close()
    public = {key.thumbprint: key.public for key in await keys.published(database)}
    assert politeness_report.opened(document, public)["domain"] == "shop.example"


async def test_the_form_says_what_is_wrong_and_is_limited(
    serve: Serve, enter: Enter, tmp_path: Path
) -> None:
    visitor = await enter(await serve(settings(tmp_path)))
    form = {"domain": "not a domain", "wish": "opt_out"}
    for _ in range(5):
        assert (await visitor.send("/bot/opt-out", "/bot/opt-out", form)).status == 422
    assert (await visitor.send("/bot/opt-out", "/bot/opt-out", form)).status == 429
    assert (await visitor.post("/bot/opt-out", form)).status == 403, "a form needs its token"
    assert (await visitor.get("/bot/requests/" + "x" * 43)).status == 404


async def test_members_see_the_requests(serve: Serve, enter: Enter, tmp_path: Path) -> None:
    base = await serve(settings(tmp_path))
    stranger, reviewer = await enter(base), await enter(base, Role.REVIEWER)
    await stranger.send("/bot/opt-out", "/bot/opt-out", {"domain": "a.example", "wish": "erase"})
    said = (await reviewer.get("/rights/owners")).said
    assert "a.example" in said
    assert "waiting" in said


async def test_indexnow_speaks_http(serve: Serve, database: Database, tmp_path: Path) -> None:
    base = await serve(settings(tmp_path))
    await admit(database, "http://shop.example/")
    urls = [f"http://shop.example/{number}" for number in range(10_000)]

    async def push(body: bytes) -> tuple[int, str]:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{base}/indexnow", data=body) as answer,
        ):
            return answer.status, json.loads(await answer.text())["message"]

    given = {"host": "shop.example", "key": "a" * 16, "urlList": urls}
    assert (await push(json.dumps(given).encode()))[0] == 202
    assert (await push(b"nonsense"))[0] == 400
    assert (await push(json.dumps({**given, "host": "x.example"}).encode()))[0] == 422
    other = {"host": "x.example", "key": "a" * 16, "urlList": ["http://x.example/"]}
    assert (await push(json.dumps(other).encode()))[0] == 403
