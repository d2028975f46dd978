"""Website intelligence in the console: runs of real workers, seen in HTML and in a real Chromium."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Error, Page, ViewportSize

from messor.access import sessions
from messor.access.origin import Origin
from messor.access.roles import Role
from messor.access.sessions import Lifetimes
from messor.registry import domains
from messor.store.database import Database
from simweb.answers import SimResponse as Reply
from tests.console.conftest import Answer, Enter, Visitor
from tests.console.test_browser import ways
from tests.crawling import at_work
from tests.ingest.test_ingest import CHALLENGE, REVIEWER, shop
from tests.little_web import LittleWeb, Room, robots

PATH = "/orbit/one-test/import"
SHOTS = os.environ.get("TEST_SHOTS")


@pytest_asyncio.fixture(loop_scope="session")
async def web(database: Database, tmp_path: Path) -> AsyncIterator[LittleWeb]:
    """A shop that lets us in, one that does not, and a worker."""
    closed: dict[str, Room] = dict.fromkeys(("/", "/about", "/contact"), CHALLENGE)
    closed["/robots.txt"] = robots("User-agent: *\nAllow: /\n")
    async with LittleWeb(tmp_path, {"one.test": shop(9), "two.test": closed}) as made:
        for name in ("one.test", "two.test"):
            async with database.transaction() as connection:
                asked = domains.Submission.understand(f"http://{name}/")
                domain, _ = await domains.submit(connection, asked, actor=REVIEWER)
                await domains.configure(connection, domain, actor=REVIEWER, delay=0.05)
        async with at_work(made.settings(), database):
            yield made


async def _finish(
    database: Database, visitor: Visitor, place: str, patience: float = 120.0
) -> Answer:
    """The page of a run once it is over."""
    trace_id = place.rpartition("=")[2]
    async with asyncio.timeout(patience):
        while True:
            if await database.fetchval(
                "SELECT completed_at FROM messor.ingestion_runs WHERE trace_id = $1", trace_id
            ):
                return await visitor.get(place)
            await asyncio.sleep(0.05)


async def test_a_run_is_started_watched_and_shown_with_evidence(
    database: Database, web: LittleWeb, reviewer: Visitor
) -> None:
    empty = await reviewer.get(PATH)
    assert "No runs yet" in empty.said
    form = {"address": "http://one.test/", "mode": "light"}
    begun = await reviewer.send(PATH, PATH, form)
    assert begun.status == 303
    trace_id = begun.place.rpartition("=")[2]
    part = await reviewer.get(f"{PATH}/progress/{trace_id}", **{"HX-Request": "true"})
    assert part.status == 200
    assert "<html" not in part.text
    page = await _finish(database, reviewer, begun.place)
    for marker in ("discoverySources", "cacheMisses", "nm_policyVersion", trace_id):
        assert marker in page.text
    assert "tiles" in page.said
    assert "sitemap" in page.said
    done = await reviewer.get(f"{PATH}/progress/{trace_id}", **{"HX-Request": "true"})
    assert done.headers["HX-Refresh"] == "true"
    assert (await reviewer.get(f"/orbit/runs/{trace_id}")).place == begun.place
    assert "one-test" in (await reviewer.get("/orbit")).said
    again = await reviewer.send(PATH, PATH, form)
    cached = await _finish(database, reviewer, again.place)
    assert "100 % saved" in cached.said


async def test_a_blocked_site_shows_guidance_and_both_ways_out(
    database: Database, web: LittleWeb, admin: Visitor
) -> None:
    path = "/orbit/two-test/import"
    begun = await admin.send(path, path, {"address": "http://two.test/", "mode": "standard"})
    page = await _finish(database, admin, begun.place)
    assert "This site blocks crawlers" in page.said
    assert "Messor solves none" in page.said
    assert 'name="mode" value="user_assisted"' in page.text
    assert f'action="{path}/saved"' in page.text
    web.houses["two.test"].rooms["/about"] = shop(6)["/about"]
    named = {
        "address": "http://two.test/",
        "mode": "user_assisted",
        "pages": "http://two.test/about",
    }
    helped = await _finish(database, admin, (await admin.send(path, path, named)).place)
    assert "All about /about." in helped.said
    saved = aiohttp.FormData()
    saved.add_field("csrf", await admin.token(path))
    saved.add_field("address", "http://two.test/contact")
    text = "<html><title>Reach us</title><body><h1>Reach us</h1><p>By telephone, in the mornings."
    saved.add_field("file", text.encode(), filename="contact.html")
    asked = len(web.requests("two.test"))
    async with admin.session.post(
        f"{admin.base}{path}/saved", data=saved, allow_redirects=False
    ) as response:
        assert response.status == 303
    assert len(web.requests("two.test")) == asked
    assert (
        await database.fetchval("SELECT title FROM messor.page_snapshots ORDER BY id DESC LIMIT 1")
        == "Reach us"
    )


async def test_saved_pages_have_a_tab_of_their_own(
    database: Database, web: LittleWeb, admin: Visitor
) -> None:
    tab = f"{PATH}/saved"
    page = await admin.get(PATH)
    assert re.search(rf'href="{tab}">\s*Saved pages\s*</a>', page.text)
    assert re.search(
        r'aria-current="page" href="/orbit/one-test/import">\s*Website intelligence\s*</a>',
        page.text,
    )
    assert 'name="file"' in (await admin.get(tab)).text
    wrong = await admin.send(tab, tab, {"address": "http://one.test/"})
    assert wrong.status == 422
    assert "Choose a saved page" in wrong.said
    assert 'value="http://one.test/"' in wrong.text


async def test_what_cannot_be_asked_is_told_in_the_form(
    console: str, database: Database, enter: Enter, reviewer: Visitor
) -> None:
    for form in (
        {"address": "", "mode": "light"},
        {"address": "http://one.test/", "mode": "turbo"},
        {"address": "http://one.test/", "mode": "user_assisted"},
        {"address": "http://one.test/", "mode": "user_assisted", "pages": "http://other.test/"},
    ):
        page = await reviewer.send(PATH, PATH, form)
        assert page.status == 422
        assert 'role="alert"' in page.text
    submitter = await enter(console, Role.SUBMITTER)
    page = await submitter.send(PATH, PATH, {"address": "http://one.test/", "mode": "light"})
    assert page.status == 409
    assert "awaits review" in page.said
    viewer = await enter(console, Role.VIEWER)
    assert 'name="mode"' not in (await viewer.get(PATH)).text
    token = await viewer.token("/account")
    assert (await viewer.post(PATH, {"address": "x"}, csrf=token)).status == 403
    for path in ("/orbit/No/import", "/orbit/a%20b/import", f"{PATH}?run=nope"):
        assert (await viewer.get(path)).status == 404
    assert (await viewer.get("/orbit?address=http%3A%2F%2Fone.test")).place.startswith(PATH)


async def test_hostile_pages_are_shown_as_text(
    database: Database, web: LittleWeb, reviewer: Visitor
) -> None:
    bait = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    title = "&lt;script&gt;alert(1)&lt;/script&gt;"
    text = f"<html><title>{title}</title><body><p>{bait} and enough text to be kept as a page."
    answer = Reply(200, (("Content-Type", "text/html"),), text.encode())
    web.houses["one.test"].rooms["/about"] = answer
    form = {
        "address": "http://one.test/",
        "mode": "user_assisted",
        "pages": "http://one.test/about",
    }
    page = await _finish(database, reviewer, (await reviewer.send(PATH, PATH, form)).place)
    assert "<script>alert" not in page.text
    assert "<img src=x" not in page.text


async def test_health_shows_every_check_with_its_proof(
    database: Database, web: LittleWeb, admin: Visitor
) -> None:
    quiet = await admin.get("/admin/orbits/health")
    assert quiet.text.count('data-state="no data"') == 8
    assert quiet.text.count('data-state="pass"') == 1  # the selector
    for name, mode in (("one", "light"), ("one", "light"), ("two", "light")):
        path = f"/orbit/{name}-test/import"
        begun = await admin.send(path, path, {"address": f"http://{name}.test/", "mode": mode})
        await _finish(database, admin, begun.place)
    page = await admin.get("/admin/orbits/health")
    assert 'data-state="fail"' not in page.text
    assert page.text.count(">Query<") == 8
    await database.fetch("DELETE FROM messor.friction_log")
    broken = await admin.get("/admin/orbits/health")
    assert "The contract is broken: " in broken.said
    assert 'id="INGEST_005" data-state="fail"' in broken.text


async def _browse(
    database: Database, chromium: Browser, visitor: Visitor, size: ViewportSize, scripts: bool
) -> BrowserContext:
    context = await chromium.new_context(viewport=size, java_script_enabled=scripts)
    assert visitor.member is not None
    async with database.transaction() as connection:
        login = await sessions.open_session(
            connection,
            visitor.member,
            opened_by="password",
            origin=Origin("127.0.0.1"),
            lifetimes=Lifetimes(),
        )
    cookie = {"name": "messor_session", "value": login.token.reveal(), "url": visitor.base}
    await context.add_cookies([cookie])  # type: ignore[list-item]
    return context


async def _shoot(page: Page, name: str) -> None:
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    await page.wait_for_selector("main")
    if SHOTS:
        await page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)
    while True:
        try:
            assert await page.evaluate(wide) <= 0
        except Error as error:
            if "context was destroyed" in str(error):
                continue  # the page was just loaded anew: its run is over
            if "JavaScript" not in str(error):
                raise
        return


@ways("narrow-plain")
async def test_a_person_reads_a_site_is_blocked_and_helps_in_a_browser(
    database: Database,
    web: LittleWeb,
    admin: Visitor,
    chromium: Browser,
    size: ViewportSize,
    scripts: bool,
) -> None:
    context = await _browse(database, chromium, admin, size, scripts)
    page = await context.new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    tag = f"{size['width']}-{'js' if scripts else 'nojs'}"
    await page.goto(f"{admin.base}/orbit")
    await page.fill("[name=address]", "http://one.test/")
    await page.click("main form button")
    await page.check("#mode-light")
    assert not await page.is_visible("#pages")
    await page.get_by_role("button", name="Start").click()
    await _shoot(page, f"progress-{tag}")
    await page.wait_for_selector(".orbit-tiles article", timeout=120_000)
    await page.wait_for_selector("text=Cache hits")
    await _shoot(page, f"done-{tag}")

    await page.goto(f"{admin.base}/orbit/two-test/import?address=http://two.test/")
    await page.check("#mode-standard")
    await page.get_by_role("button", name="Start").click()
    await page.wait_for_selector(".blocked-tile", timeout=120_000)
    await _shoot(page, f"blocked-{tag}")
    web.houses["two.test"].rooms["/about"] = shop(6)["/about"]
    await page.fill("#assisted", "http://two.test/about")
    await page.get_by_role("button", name="Fetch these pages").click()
    await page.wait_for_selector(".orbit-tiles article", timeout=120_000)
    assert not await page.is_visible(".blocked-tile")
    await _shoot(page, f"assisted-{tag}")
    await page.check("#mode-user_assisted")
    assert await page.is_visible("#pages")
    assert faults == []
    await context.close()
