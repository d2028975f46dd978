"""Workflow 1 and 2 of the approval specification over the API: from a submission to flags, records and mail.

The public form is a page of the console; what follows it is asked of the API.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from messor.access.passwords import Passwords
from messor.access.roles import Role
from messor.console.app import make_console
from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.governance.notices import Notices
from messor.settings import Settings
from messor.store.database import Database
from tests.api.conftest import AsRole
from tests.community_site import FLAGS, RECORDS, ROOMS, SITE, VERTICAL
from tests.crawling import crawl
from tests.governance.test_domain_vertical import apply
from tests.governance.test_notices import live
from tests.little_web import LittleWeb
from tests.mail.test_mail import work
from tests.smtp_server import Postbox, receiving

V = "/api/v1"
ADA = "ada@example.org"


HIDDEN_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')
STATUS_LINK = re.compile(r'href="([^"]+)">See what becomes of it')


@dataclass
class Bench:
    """The site, and a post box."""

    database: Database
    settings: Settings
    box: Postbox

    async def harvest(self) -> None:
        await crawl(self.settings, self.database)
        readers = ReaderPool(1)
        await Extractor(self.database, self.settings.data_dir / "archive", readers).run()
        await readers.close()

    async def subjects(self) -> list[str]:
        await work(self.settings, self.database)
        return [subject for to, subject, _ in self.box.texts if to == ADA]


@asynccontextmanager
async def bench_of(folder: Path, database: Database) -> AsyncIterator[Bench]:
    await apply(database, VERTICAL)
    with receiving() as box:
        async with LittleWeb(folder, {SITE: ROOMS}, tls=True) as web:
            public = {"public_submission": True, "public_url": "https://messor.example"}
            settings = box.settings(web.settings(default_delay=0.01), **public)
            yield Bench(database, settings, box)


@asynccontextmanager
async def stranger_of(bench: Bench) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody without an account at the console, whose public form is open."""
    passwords = Passwords(memory_kib=8, passes=1)
    app = make_console(bench.settings, bench.database, passwords, public_submission=True)
    transport = httpx.ASGITransport(app, client=("203.0.113.7", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321") as client:
        yield client
    await app.state.background.close()
    await app.state.full_text.close()
    passwords.close()


async def ask(stranger: httpx.AsyncClient, **form: str) -> str:
    """Send the public form; the path of the status page."""
    token = HIDDEN_TOKEN.search((await stranger.get("/ask")).text)
    assert token is not None
    thanks = await stranger.post("/ask", data={**form, "csrf": unescape(token[1])})
    assert thanks.status_code == 200, thanks.text
    link = STATUS_LINK.search(thanks.text)
    assert link is not None, thanks.text
    return link[1]


async def items(client: httpx.AsyncClient, path: str, **asked: str) -> list[dict[str, Any]]:
    answer = await client.get(f"{V}{path}", params=asked)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def names(records: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Kind and name of records, as the site's list has them."""
    found = set()
    for record in records:
        data = record["data"]
        name = data.get("name") or data.get("title") or ", ".join(data.get("days", []))
        found.add((record["kind"], name))
    return found


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, contact="https://example.invalid/tests")


async def test_from_the_public_form_to_flags_records_and_mail(
    as_role: AsRole, database: Database, tmp_path: Path
) -> None:
    async with bench_of(tmp_path, database) as bench, stranger_of(bench) as stranger:
        submitter, reviewer = await as_role(Role.SUBMITTER), await as_role(Role.REVIEWER)
        why = "Help for families"
        status = await ask(stranger, address=SITE, contact=ADA, context=why, vertical=VERTICAL)
        (domain,) = await items(reviewer, "/domains", status="pending_review")
        assert (domain["status"], domain["max_crawl_depth"]) == ("pending_review", 3)
        assert domain["submitter_type"] == "public_user"
        await bench.harvest()
        assert await database.fetchval("SELECT count(*) FROM messor.page_snapshots") == 0
        decide = f"{V}/domains/{SITE}/decisions"
        done = await reviewer.post(decide, json={"act": "approve"})
        assert "Its pages are judged for community_resources." in done.json()["message"]
        await bench.harvest()

        flags = await items(reviewer, f"/verticals/{VERTICAL}/flags")
        judged = {flag["url"].removeprefix(f"https://{SITE}"): flag["relevant"] for flag in flags}
        assert judged == FLAGS
        page = next(flag["page_id"] for flag in flags if flag["url"].endswith("/film"))
        overturn = f"{V}/verticals/{VERTICAL}/flags/{page}/review"
        turned = await reviewer.post(overturn, json={"act": "overturn"})
        assert turned.json()["relevant"] is True
        assert (await submitter.post(overturn, json={"act": "confirm"})).status_code == 403
        assert names(await items(reviewer, "/records", domain=SITE)) >= RECORDS
        types = {event["type"] for event in await items(reviewer, "/events", domain=SITE)}
        assert {"domain.approved", "page.flagged", "extraction.completed"} <= types

        assert await live(database, Notices.of(bench.settings)) == 1
        assert f"Pages of {SITE} are available" in await bench.subjects()
        told = await stranger.get(status)
        assert (told.status_code, "approved" in told.text) == (200, True)


async def test_a_page_waits_for_its_domain_and_a_known_one_does_not(
    as_role: AsRole, database: Database, tmp_path: Path
) -> None:
    """Workflow 2."""
    async with bench_of(tmp_path, database) as bench:
        submitter, reviewer = await as_role(Role.SUBMITTER), await as_role(Role.REVIEWER)
        page = {"url": f"https://{SITE}/film"}
        offered = (await submitter.post(f"{V}/urls", json=page)).json()
        assert offered["message"] == f"Would you like to submit {SITE} for review?"
        assert await database.fetchval("SELECT count(*) FROM messor.domains") == 0
        taken = (await submitter.post(f"{V}/urls", json={**page, "submit": True})).json()
        assert taken["outcome"] == "remembered"
        done = await reviewer.post(f"{V}/domains/{SITE}/decisions", json={"act": "approve"})
        assert "1 submitted URL is crawled with it." in done.json()["message"]
        again = (
            await submitter.post(f"{V}/urls", json={"url": f"https://{SITE}/volunteer"})
        ).json()
        assert again["outcome"] == "crawling"
        await bench.harvest()
        listed = await items(reviewer, "/pages", domain=SITE)
        read = {page["url"].removeprefix(f"https://{SITE}") for page in listed}
        assert read >= {"/film", "/volunteer", "/"}
