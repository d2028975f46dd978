"""Phase 2: candidates of approved domains are crawled and read, then reviewed; the others are left alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.governance import admission
from messor.governance import candidate_crawls as crawls
from messor.registry import domains
from messor.schedule.standard import CANDIDATES as CRAWLS
from messor.scout import candidates, discovery
from messor.scout.candidate_queries import CANDIDATES
from messor.scout.candidates import Candidate
from messor.scout.discovery import Discovery
from messor.scout.judges.model import SearchResult
from messor.scout.judges.panel import Panel
from messor.settings import Settings
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.queries import ORGANISATIONS
from messor.verticals.verticals import Applied
from simweb import SimResponse
from simweb.answers import Request
from simweb.documents import HTML
from tests.crawling import TESTER, crawl, later
from tests.listed import listed
from tests.little_web import LittleWeb, page, robots
from tests.schedule.sites import run_steps

FUND = "alder.example"
PROGRAM = """<!doctype html><html lang=en><title>Research grant 2027 | Alder Foundation</title>
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "NGO",
 "name": "Alder Foundation", "email": "grants@alder.example", "telephone": "+1 202 555 0143"}</script>
<h1>Research grant 2027</h1><p>The Alder Foundation gives grants of up to $25,000 to researchers.
Apply by email to <a href="mailto:grants@alder.example">grants@alder.example</a>.</p>
<dl><dt>Maximum grant</dt><dd>$25,000</dd><dt>Deadline</dt><dd>31 March 2027</dd>
<dt>Who can apply</dt><dd>Charities and universities</dd></dl><p>%s</p></html>"""


def program() -> SimResponse:
    body = PROGRAM % ("Our funding helps those who look for answers. " * 30)
    return SimResponse(200, (("Content-Type", HTML),), body.encode())


def leads_to(place: str) -> SimResponse:
    return SimResponse(301, (("Location", place),))


def result(url: str, domain: str) -> SearchResult:
    return SearchResult(
        url,
        domain,
        "Research grant 2027 | Alder Foundation",
        "Apply for funding: eligible charities, deadline March 2027.",
        "serper",
        "research grant",
        1,
    )


@dataclass
class Bench:
    """A funder's site that a search found, and everything that makes a record of it."""

    web: LittleWeb
    settings: Settings
    database: Database
    readers: ReaderPool
    applied: Applied
    dsn: str

    async def find(self, path: str = "/grant", host: str = FUND) -> Candidate:
        domain = ".".join(host.split(".")[-2:])
        async with self.database.transaction() as connection:
            session_id = await discovery.begin(connection, self.applied, actor=TESTER)
        work = Discovery(self.database, self.applied, session_id, Panel(self.applied.vertical))
        stats = await work.process([result(f"http://{host}{path}", domain)])
        assert stats.candidates_created == 1
        return (await listed(CANDIDATES, self.database, session_id=session_id))[0]

    async def approve(self, name: str = FUND) -> None:
        async with self.database.transaction() as connection:
            domain = await domains.get(connection, name)
            await domains.configure(connection, domain, actor=TESTER, delay=0.0)
            await admission.approve(connection, domain, actor=TESTER)

    async def step(self, database: Database | None = None) -> dict[str, int]:
        return await run_steps(database or self.database, CRAWLS)

    async def crawl(self) -> None:
        await crawl(self.settings, self.database)

    async def extract(self) -> None:
        extractor = Extractor(self.database, self.settings.data_dir / "archive", self.readers)
        await extractor.run()

    async def now(self, candidate: Candidate) -> Candidate:
        return await candidates.get(self.database, candidate.id)


ROOMS: dict[str, Any] = {
    "/": page("Alder Foundation", "/grant"),
    "/grant": program(),
    "/moved": leads_to("/grant"),
    "/round": leads_to("/and-round"),
    "/and-round": leads_to("/round"),
    "/private/grant": program(),
    "/robots.txt": robots("User-agent: *\nDisallow: /private/\n"),
}


@pytest.fixture
async def bench(dsn: str, tmp_path: Path) -> AsyncIterator[Bench]:
    readers = ReaderPool(1)
    async with LittleWeb(tmp_path, {FUND: ROOMS}) as web, Database(dsn) as database:
        async with database.transaction() as connection:
            file = files.shipped("funding")
            applied, _ = await verticals.apply(connection, file, actor=TESTER)
        yield Bench(web, web.settings(), database, readers, applied, dsn)
    await readers.close()


async def test_a_candidate_is_crawled_read_and_reviewed(bench: Bench) -> None:
    candidate = await bench.find()
    await bench.approve()
    assert (await bench.step())["candidates_submitted"] == 1
    assert (await bench.step())["candidates_submitted"] == 0
    asked = await bench.now(candidate)
    assert (asked.status, asked.crawled_at) == ("PENDING_CRAWL", None)
    assert asked.page_id is not None
    await bench.crawl()
    assert (await bench.step())["candidates_read"] == 0  # harvested, not extracted yet
    await bench.extract()
    assert (await bench.step())["candidates_read"] == 1
    read = await bench.now(candidate)
    assert read.status == "PENDING_REVIEW"
    assert read.crawled_at is not None
    assert read.organisation_name == "Alder Foundation"
    stated = await candidates.records_of(bench.database, read.id)
    assert {"organisation", "contact", "funding_program"} <= {one.kind for one in stated}
    contacts = await bench.database.fetch(
        "SELECT data FROM messor.contact_intelligence WHERE candidate_id = $1", read.id
    )
    assert any("grants@alder.example" in row["data"] for row in contacts)
    async with bench.database.transaction() as connection:
        taken = await candidates.assign(connection, read, "ada", actor="ada")
        done = await candidates.approve(connection, taken, actor="ada")
    assert done.status == "APPROVED"
    found = await listed(ORGANISATIONS, bench.database)
    assert [(one.name, one.domains) for one in found] == [("Alder Foundation", [FUND])]
    assert await bench.step() == {
        "steps": 4,
        "policies_followed": 0,
        "candidates_read": 0,
        "candidates_unread": 0,
        "candidates_submitted": 0,
    }


async def test_nothing_is_fetched_for_a_domain_that_nobody_approved(bench: Bench) -> None:
    candidate = await bench.find()
    await bench.step()
    await bench.crawl()
    assert bench.web.requests() == []
    assert (await bench.now(candidate)).page_id is None
    await bench.approve()
    async with bench.database.transaction() as connection:
        domain = await domains.get(connection, FUND)
        await domains.move(connection, domain, "suspended", actor=TESTER)
    await bench.step()
    await bench.crawl()
    assert bench.web.requests() == []


async def test_it_is_read_where_redirects_lead(bench: Bench) -> None:
    candidate = await bench.find("/moved")
    await bench.approve()
    await bench.step()
    await bench.crawl()
    await bench.extract()
    await bench.step()  # goes where it leads
    await bench.step()
    assert (await bench.now(candidate)).status == "PENDING_REVIEW"


@pytest.mark.parametrize(
    "path, said",
    [
        ("/nowhere", "not_found with status 404"),
        ("/private/grant", "disallow_rule:/private/"),
        ("/round", "redirected"),
    ],
)
async def test_what_is_in_the_way_is_noted_and_tried_again(
    bench: Bench, path: str, said: str
) -> None:
    candidate = await bench.find(path)
    await bench.approve()
    await bench.step()
    await bench.crawl()
    await bench.extract()
    assert (await bench.step())["candidates_unread"] == 1
    noted = await bench.now(candidate)
    assert noted.status == "PENDING_CRAWL"
    assert noted.crawl_note is not None
    assert said in noted.crawl_note
    assert (noted.crawl_failures, noted.page_id) == (1, None)
    assert (await bench.step())["candidates_submitted"] == 0  # it rests
    bench.web.houses[FUND].rooms[path] = program()
    bench.web.houses[FUND].rooms["/robots.txt"] = robots("User-agent: *\nAllow: /\n")
    async with Database(later(bench.dsn, timedelta(hours=49))) as tomorrow:
        assert (await bench.step(tomorrow))["candidates_submitted"] == 1
        await crawl(bench.settings, tomorrow)
        extractor = Extractor(tomorrow, bench.settings.data_dir / "archive", bench.readers)
        await extractor.run()
        assert (await bench.step(tomorrow))["candidates_read"] == 1
    read = await bench.now(candidate)
    assert (read.status, read.crawl_note, read.retry_after) == ("PENDING_REVIEW", None, None)


async def test_a_domain_that_never_answered_fails_as_a_whole(bench: Bench) -> None:
    def broken(_: Request) -> SimResponse:
        return SimResponse(500, ())

    candidate = await bench.find()
    bench.web.houses[FUND].rooms.update({"/": broken, "/grant": broken})
    await bench.approve()
    await bench.step()
    await bench.database.fetch("UPDATE messor.crawl_tasks SET max_retries = 0 WHERE kind = 'page'")
    await bench.crawl()
    await bench.step()
    domain = await domains.get(bench.database, FUND)
    assert domain.processing == "processing_failed"
    assert domain.failure_reason == (await bench.now(candidate)).crawl_note
    assert domain.retry_after is not None
    assert (await bench.step())["candidates_submitted"] == 0


async def test_a_page_that_was_forgotten_is_asked_for_again(bench: Bench) -> None:
    candidate = await bench.find()
    await bench.approve()
    await bench.step()
    page_id = (await bench.now(candidate)).page_id
    await bench.database.fetch("DELETE FROM messor.pages WHERE id = $1", page_id)
    await bench.step()
    noted = await bench.now(candidate)
    assert noted.crawl_note == "The page was removed before it was read."


async def test_an_erased_page_is_not_asked_for(bench: Bench) -> None:
    candidate = await bench.find("/unlinked")
    await bench.approve()
    await bench.database.fetch(
        "INSERT INTO messor.erasures (id, kind, key, reason, erased_by)"
        " VALUES (gen_random_uuid(), 'url', $1, 'asked', 'test')",
        candidate.url,
    )
    await bench.step()
    await bench.crawl()
    assert "/unlinked" not in bench.web.paths(FUND)
    noted = await bench.now(candidate)
    assert "erased" in (noted.crawl_note or "")


async def test_two_at_once_do_it_once(bench: Bench) -> None:
    candidate = await bench.find()
    await bench.approve()

    async def submit() -> int:
        async with bench.database.transaction() as connection:
            return await crawls.submit_ready(connection)

    await asyncio.gather(submit(), submit())
    await bench.crawl()
    await bench.extract()

    async def take() -> int:
        async with bench.database.transaction() as connection:
            return await crawls.take_read(connection)

    assert sorted(await asyncio.gather(take(), take())) == [0, 1]
    assert (await bench.now(candidate)).status == "PENDING_REVIEW"
    told = await bench.database.fetchval(
        "SELECT count(*) FROM messor.events WHERE type = 'candidate.pending_review'"
    )
    assert told == 1
