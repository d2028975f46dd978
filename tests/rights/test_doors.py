"""Every door by which pages leave, opened for every use on a crawl of twelve kinds of statements.

A door is a module that calls `release`. One that is not listed here fails a test.
"""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import pytest

import messor
from messor.access.principal import Principal
from messor.access.roles import Act, Role
from messor.ai.model import Model
from messor.analytics import rows as analytics_rows
from messor.analytics.tables import PAGES
from messor.api.routes.changes import ChangeFollower
from messor.api.routes.events import EventFollower
from messor.archive.storage import Archive
from messor.errors import ConflictError
from messor.exports import requests
from messor.exports.requests import NewExport
from messor.exports.run import Folders, run
from messor.extraction.model_jobs import ModelFindings, ModelJobs
from messor.feed.queries import ChangeFilter
from messor.fetch.proxies.seal import Seal
from messor.insight.full_text import FullText
from messor.insight.search_server.documents import documents_after
from messor.ledger.queries import EventFilter
from messor.mcp.tools import Tools
from messor.ops.evidence.bundle import Evidence
from messor.ops.webhooks import dispatch
from messor.ops.webhooks.scrape_jobs import JobCourier
from messor.rights.release import INHERENT, Purpose
from messor.rights.uses import ApprovedUse
from messor.scrape.caller import Caller
from messor.scrape.documents import Shape
from messor.scrape.pages import WantedPage
from messor.scrape.refusals import RightsWithheldError
from messor.scrape.services import ScrapeServices
from messor.scrape.site_map import MapWish
from messor.settings import Settings
from messor.store.database import Database
from messor.store.listing import ListPage, Position
from messor.watches.evaluate import evaluate
from messor.watches.sweep import sweep
from messor.web.urls import parse
from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.api.conftest import api_over, client_of, key_of
from tests.api.firecrawl.conftest import index
from tests.cli.test_release import HOME, KINDS, ROBOTS, SITE, html
from tests.crawling import admit, crawl
from tests.harvested import WORDS
from tests.little_web import LittleWeb
from tests.watches.conftest import watch_for

SOURCE = Path(messor.__file__).parent
START = Position("0", "0")
AGENT = Principal(None, "agent", Role.ADMIN, frozenset(Act))


@dataclass
class Crawled:
    """The crawled pages, by the kind of statement that each of them makes."""

    database: Database
    settings: Settings
    services: ScrapeServices
    api: httpx.AsyncClient
    folder: Path
    ids: dict[int, str]
    snapshots: dict[int, str]

    def named(self, pages: Any) -> set[str]:
        return {self.ids[page] for page in pages if page in self.ids}

    def in_text(self, text: str) -> set[str]:
        return {name for name in KINDS if f'{HOME}{name}"' in text}

    async def caller(self) -> Caller:
        return await Caller.of(self.database, AGENT)


Door = Callable[[Crawled], Awaitable[set[str]]]


async def export(web: Crawled) -> set[str]:
    folders = Folders(web.folder, Archive.of(web.settings))
    async with web.database.transaction() as connection:
        made = await requests.begin(connection, NewExport("pages", "jsonl", {}), actor="ann")
    done = await run(web.database, folders, made.id)
    return web.in_text(requests.file_of(web.folder, done).read_text())


async def api_changes(web: Crawled) -> set[str]:
    answer = await web.api.get("/api/v1/changes", params={"kinds": "page", "limit": 200})
    assert answer.status_code == 200, answer.text
    return web.in_text(answer.text)


async def api_chunks(web: Crawled) -> set[str]:
    answer = await web.api.get("/api/v1/changes/chunks", params={"limit": 200})
    assert answer.status_code == 200, answer.text
    return web.in_text(answer.text)


async def api_stream(web: Crawled) -> set[str]:
    follower = ChangeFollower(web.database, ChangeFilter(kinds="page"), START, ())
    return web.in_text(b"".join((await follower.read()).frames).decode())


async def event_stream(web: Crawled) -> set[str]:
    follower = EventFollower(web.database, EventFilter(type="page.flagged"), START)
    return web.in_text(b"".join((await follower.read()).frames).decode())


async def webhook(web: Crawled) -> set[str]:
    await web.database.fetch("DELETE FROM messor.jobs")
    await web.database.fetch("UPDATE messor.webhooks SET tx = '0', event_id = 0")
    await dispatch.dispatch(web.database)
    rows = await web.database.fetch("SELECT payload::text AS p FROM messor.jobs")
    return web.in_text(" ".join(row["p"] for row in rows))


async def alerted(web: Crawled) -> set[str]:
    rows = await web.database.fetch("DELETE FROM messor.watch_alerts RETURNING page_id")
    return web.named(row["page_id"] for row in rows)


async def watch(web: Crawled) -> set[str]:
    await web.database.fetch("UPDATE messor.watch_position SET tx = '0', change_id = 0")
    while await evaluate(web.database):
        pass
    return await alerted(web)


async def swept_watch(web: Crawled) -> set[str]:
    await web.database.fetch("UPDATE messor.watches SET swept_at = NULL")
    await web.database.fetch("UPDATE messor.crawl_tasks SET outcome = 'blocked'")
    while await sweep(web.database):
        pass
    await web.database.fetch("UPDATE messor.crawl_tasks SET outcome = 'ok'")
    return await alerted(web)


async def search_server(web: Crawled) -> set[str]:
    documents, _ = await documents_after(web.database, 0, 500)
    return web.named(one.page_id for one in documents)


async def analytics(web: Crawled) -> set[str]:
    to = analytics_rows.RowFile(web.folder / "pages.csv", 1)
    batch = await analytics_rows.rows_of(web.database, PAGES, list(web.ids), to)
    assert batch.rows == len(web.ids) - len(batch.gone)
    return web.named(web.ids.keys() - set(batch.gone))


async def model(web: Crawled) -> set[str]:
    jobs = ModelJobs.__new__(ModelJobs)
    jobs._database, jobs._model = web.database, cast(Model, object())
    read = set()
    for page in web.ids:
        question = type("Question", (), {"page_id": page})
        findings = ModelFindings(cast(Any, question), cast(Any, None))
        await jobs._choose_model(findings)
        assert (findings.model is None) == findings.is_held
        read |= {page} if findings.model is not None else set()
    return web.named(read)


async def scraped_page(web: Crawled) -> set[str]:
    caller, given = await web.caller(), set()
    for name in KINDS:
        url = parse(f"{HOME}{name}")
        assert url is not None
        try:
            found = await web.services.scraper.give(caller, WantedPage(url, archive_only=True))
        except RightsWithheldError:
            continue
        given.add(found.page.page_id)
    return web.named(given)


async def site_map(web: Crawled) -> set[str]:
    url = parse(HOME)
    assert url is not None
    found = await web.services.map(await web.caller(), url, MapWish())
    return web.named(page.page_id for page in found)


async def agent_search(web: Crawled) -> set[str]:
    hits = await web.services.search(await web.caller(), max(WORDS.split(), key=len), 100)
    return web.named(hit.page_id for hit in hits)


async def snapshots(web: Crawled) -> set[str]:
    found = await web.services.of_snapshots(await web.caller(), list(web.snapshots), Shape())
    return {web.snapshots[one] for one in found if one in web.snapshots}


async def job_webhook(web: Crawled) -> set[str]:
    """What a job's receiver is sent."""
    courier = JobCourier(web.settings, web.database)
    told = type("Told", (), {"snapshots": list(web.snapshots)})
    hook = type("Hook", (), {"uses": (), "base": "http://messor.test"})
    sent = await courier._documents(cast(Any, told), cast(Any, hook), Shape())
    return web.in_text(msgspec.json.encode(sent).decode())


async def agent_list(web: Crawled) -> set[str]:
    """The lists of the agent's tools; their pages come through `scraped_page`."""
    tools = Tools.__new__(Tools)
    tools._database, tools._services = web.database, web.services

    @dataclass
    class Item:
        page_id: int

    listed = ListPage[Any](items=[Item(page) for page in web.ids], next=None)
    text = await tools._listed(AGENT, cast(Any, listed))
    shown = msgspec.json.decode(text)
    return web.named(one["page_id"] for one in shown["data"])


async def evidence(web: Crawled) -> set[str]:
    seal = Seal(web.folder)
    maker = Evidence(web.database, web.settings, Archive.of(web.settings), seal)
    given = set()
    for page in web.ids:
        try:
            await maker.bundle("page", page, actor="ann")
        except ConflictError:
            continue
        given.add(page)
    return web.named(given)


# The modules that call `release`, each with its doors; what another test opens names it.
DOORS: dict[str, tuple[Purpose, tuple[Door, ...]] | str] = {
    "exports/batches.py": (Purpose.EXPORT, (export,)),
    "cli/changes.py": "tests/cli/test_release.py",
    "api/routes/changes.py": (Purpose.FEED, (api_changes, api_chunks, api_stream)),
    "api/routes/events.py": (Purpose.FEED, (event_stream,)),
    "ops/webhooks/dispatch.py": (Purpose.WEBHOOK, (webhook,)),
    "ops/webhooks/scrape_jobs.py": (Purpose.AGENT, (job_webhook,)),
    "watches/evaluate.py": (Purpose.ALERT, (watch,)),
    "watches/sweep.py": (Purpose.ALERT, (swept_watch,)),
    "insight/search_server/documents.py": (Purpose.SEARCH, (search_server,)),
    "analytics/rows.py": (Purpose.ANALYTICS, (analytics,)),
    "extraction/model_jobs.py": (Purpose.MODEL, (model,)),
    "scrape/pages.py": (Purpose.AGENT, (scraped_page,)),
    "scrape/services.py": (Purpose.AGENT, (site_map, agent_search, snapshots)),
    "mcp/tools.py": (Purpose.AGENT, (agent_list,)),
    "ops/evidence/bundle.py": (Purpose.EXPORT, (evidence,)),
}


def modules_that_release(source: Path) -> set[str]:
    found = set()
    for path in source.rglob("*.py"):
        text = path.read_text()
        if "release(" not in text:
            continue
        calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
        if any(isinstance(func, ast.Name) and func.id == "release" for func in calls):
            found.add(path.relative_to(source).as_posix())
    return found


def test_every_door_is_listed() -> None:
    assert modules_that_release(SOURCE) == DOORS.keys()
    for place in DOORS.values():
        assert not isinstance(place, str) or (SOURCE.parents[1] / place).exists()


def test_a_door_that_nobody_listed_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "fax.py").write_text(
        "async def send(c, pages):\n    return await release(c, 1, pages, int)\n"
    )
    assert modules_that_release(tmp_path) == {"fax.py"}


@pytest.fixture
async def web(database: Database, tmp_path: Path) -> AsyncIterator[Crawled]:
    links = "".join(f"<a href='/{name}'>{name}</a>" for name in KINDS)
    home = f"<!doctype html><html lang=en><title>Press</title><p>{WORDS * 6}</p>{links}"
    rooms = {
        "/robots.txt": SimResponse(200, (("Content-Type", "text/plain"),), ROBOTS.encode()),
        "/": SimResponse(200, (("Content-Type", HTML),), home.encode()),
        **{f"/{name}": html(name) for name in KINDS},
    }
    async with LittleWeb(tmp_path, {SITE: rooms}) as site:
        settings = site.settings(default_delay=0.0)
        await admit(database, HOME)
        await crawl(settings, database)
        await index(database)
        rows = await database.fetch(
            """SELECT p.id, p.url, p.host_id, h.domain_id, t.snapshot_id FROM messor.pages p
                 JOIN messor.hosts h ON h.id = p.host_id
                 JOIN messor.crawl_tasks t ON t.page_id = p.id WHERE t.snapshot_id IS NOT NULL"""
        )
        ids = {row["id"]: row["url"].removeprefix(HOME) for row in rows}
        pages = {page: name for page, name in ids.items() if name in KINDS}
        assert set(pages.values()) == set(KINDS)
        for row in rows:
            await database.fetch(
                """INSERT INTO messor.events (type, actor, domain_id, page_id, data)
                   VALUES ('page.flagged', 'ann', $1, $2, jsonb_build_object('url', $3::text))""",
                row["domain_id"], row["id"], row["url"],
            )  # fmt: skip
        await database.fetch(
            """INSERT INTO messor.webhooks (id, url, types, secret, tx, event_id, created_by)
               VALUES (gen_random_uuid(), 'https://hook.test/', '{page.flagged}', '\\x00', '0', 0, 'ann')"""
        )
        await watch_for(database, "pages", {"when": "new"}, channel="feed")
        await watch_for(database, "pages", {"when": "blocked"}, name="Blocked", channel="feed")
        await database.fetch("UPDATE messor.watches SET active_since = NULL")
        async with FullText.of(settings, database) as full_text:
            key = await key_of(database, Role.ADMIN)
            client = client_of(
                api_over(settings, database), headers={"Authorization": f"Bearer {key}"}
            )
            async with client:
                snapshots = {row["snapshot_id"]: ids[row["id"]] for row in rows}
                yield Crawled(
                    database, settings, ScrapeServices(settings, database, full_text), client,
                    tmp_path, pages, {one: name for one, name in snapshots.items() if name in KINDS},
                )  # fmt: skip


async def test_nothing_leaves_by_any_door_for_a_use_that_a_site_refuses(web: Crawled) -> None:
    wrong = []
    for use in ApprovedUse:
        await web.database.fetch(
            """INSERT INTO messor.domain_uses (domain_id, uses, set_by)
               SELECT id, ARRAY[$1::text], 'ann' FROM messor.domains
               ON CONFLICT (domain_id) DO UPDATE SET uses = excluded.uses""",
            use.value,
        )
        for place, listed in DOORS.items():
            if isinstance(listed, str):
                continue
            purpose, doors = listed
            wanted = {use.value, *INHERENT.get(purpose, ())}
            may = {name for name, (_, _, held) in KINDS.items() if not held & wanted}
            for door in doors:
                left = await door(web)
                wrong += [(place, door.__name__, use.value, "left", one) for one in left - may]
                wrong += [(place, door.__name__, use.value, "held", one) for one in may - left]
    assert wrong == []
    # What is held back by any of them has a typed reason, and the way out.
    told = await web.database.fetch("SELECT DISTINCT purpose FROM messor.use_refusals")
    assert {row["purpose"] for row in told} == set(Purpose)
