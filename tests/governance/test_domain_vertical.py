"""The vertical of a domain: guessed before its first crawl, and applied to pages read before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from messor.governance import domain_vertical
from messor.insight.relevance import backlog
from messor.insight.relevance.backlog import FlagRequest
from messor.insight.relevance.guess import guess
from messor.insight.relevance.topics import Topics
from messor.registry import domains
from messor.registry.preflights import Preflight, PreflightReport
from messor.registry.submissions import PastSubmission
from messor.store.database import Database
from messor.verticals import files, verticals
from tests.crawling import admit
from tests.insight.test_relevance_store import new_page

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SHIPPED = [files.shipped(name).vertical for name in files.SHIPPED]


async def apply(database: Database, *names: str) -> None:
    async with database.transaction() as connection:
        for name in names:
            await verticals.apply(connection, files.shipped(name), actor="ann")


async def test_pages_extracted_before_are_judged_by_a_job(database: Database) -> None:
    await apply(database, "funding")
    domain = await admit(database, "https://a.test/")
    pages = [await new_page(database, domain.id, f"p{number}") for number in range(3)]
    text = "Apply for a grant: our foundation funds charities. Deadline for applications. " * 3
    await database.fetch(
        "UPDATE messor.extractions SET main_text = $1, headline = 'Grants' WHERE page_id <> $2",
        text, pages[2],
    )  # fmt: skip
    async with database.transaction() as connection:
        await domain_vertical.assign(connection, domain, "funding", actor="ann")
    payload = await database.fetchval("SELECT payload FROM messor.jobs WHERE job_type = 'flag'")
    assert str(domain.id) in payload
    request = FlagRequest(domain.id, "funding")
    backlog_size = await backlog.flag_backlog(database, Topics(), request)
    assert backlog_size == 3
    rows = await database.fetch("SELECT page_id, relevant FROM messor.page_flags ORDER BY page_id")
    assert [tuple(row) for row in rows] == list(zip(pages, (True, True, False), strict=True))
    told = await database.fetchval("SELECT count(*) FROM messor.events WHERE type = 'page.flagged'")
    assert told == 2
    assert await backlog.flag_backlog(database, Topics(), request) == 0
    async with database.transaction() as connection:
        found = await domains.get(connection, "a.test")
        await domain_vertical.assign(connection, found, None, actor="ann")
    await database.fetch("DELETE FROM messor.page_flags")
    assert await backlog.flag_backlog(database, Topics(), request) == 0, "it left the vertical"


@pytest.mark.parametrize(
    "said, seen, vertical",
    [
        ("State food bank directory", "", "community_resources"),
        ("", "Free food parcels and housing advice for families in crisis", "community_resources"),
        ("A foundation that makes grants", "Apply for grant funding", "funding"),
        ("Dermatology clinic with laser treatments", "", "wellness"),
        ("My site", "", None),
        ("", "", None),
    ],
)
def test_a_guess_needs_words_that_stand_out(said: str, seen: str, vertical: str | None) -> None:
    found = guess(SHIPPED, said, seen)
    assert (found.vertical if found else None) == vertical
    assert found is None or found.reasons[0].startswith("for: ")


def test_two_verticals_that_are_as_likely_are_no_guess() -> None:
    food = files.shipped("community_resources").vertical
    twin: Any = food.model_copy(update={"name": "twin"})
    assert guess([food], "A food bank") is not None
    assert guess([food, twin], "A food bank") is None


async def test_the_pre_flight_tells_too(database: Database) -> None:
    await apply(database, *files.SHIPPED)
    report = PreflightReport("https://a.org/", reachable=True, message="ok", title="Food bank")
    look = Preflight(id=None, requested_by="x", requested_at=NOON, finished_at=NOON, requests=2, report=report)  # type: ignore[arg-type]  # fmt: skip
    said = PastSubmission("x", "public_user", has_contact=False, context=None, max_crawl_depth=3, crawl_delay_seconds=None, created_at=NOON, vertical=None)  # fmt: skip
    found = (await domain_vertical.choice(database, [said], look)).guess
    assert found is not None
    assert found.vertical == "community_resources"
    assert (
        await domain_vertical.choice(database, [said], replace(look, report=None))
    ).guess is None
