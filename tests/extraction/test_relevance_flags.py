"""Pages are flagged as they are extracted, for the verticals of their domain, and told once."""

from __future__ import annotations

import json
from pathlib import Path

from messor.insight.relevance import review
from messor.insight.relevance.topics import topic_named
from simweb.services.model import ModelStandIn
from tests.extraction.test_model_selection import (
    OFFER,
    SPA,
    TOPICAL,
    Bench,
    document,
    opened_bench,
)

STRANGE = "Our film is a novel about a lawsuit. " * 3
# Some words of the topic, and as many against it.
EVEN = "The clinic of the novel is a film set. " * 2


# What is told with a flag.
ABOUT = """
SELECT d.domain, e.data ->> 'vertical' AS vertical, (e.data ->> 'score')::float8 AS score
  FROM messor.events e LEFT JOIN messor.domains d ON d.id = e.domain_id WHERE e.type = 'page.flagged'
"""


async def flags(b: Bench) -> dict[str, bool | None]:
    rows = await b.rows(
        """SELECT p.url, f.relevant FROM messor.page_flags f
             JOIN messor.pages p ON p.id = f.page_id WHERE f.vertical = 'wellness'"""
    )
    return {row["url"].removeprefix(f"http://{SPA}"): row["relevant"] for row in rows}


async def flagged_events(b: Bench) -> list[str]:
    rows = await b.rows(
        """SELECT p.url FROM messor.events e JOIN messor.pages p ON p.id = e.page_id
            WHERE e.type = 'page.flagged' ORDER BY e.id"""
    )
    return [row["url"].removeprefix(f"http://{SPA}") for row in rows]


async def test_changed_pages_are_flagged_and_a_relevant_one_is_told_once(
    tmp_path: Path, dsn: str
) -> None:
    rooms = {"/film": document(STRANGE, title="A film")}
    home = document(TOPICAL, '<a href="/film">film</a> <a href="/gone">gone</a>')
    async with opened_bench(tmp_path, dsn, home, **rooms) as b:
        await b.crawl()
        await b.extract(ai_url=None)
        assert await flags(b) == {"/": True, "/film": False}
        assert await flagged_events(b) == ["/"]
        (told,) = await b.rows(ABOUT)
        assert (told["domain"], told["vertical"]) == (SPA, "wellness")
        assert 0.5 < told["score"] <= 1
        b.set(document(TOPICAL, '<a href="/film">film</a>', "One more line."))
        await b.crawl()
        await b.extract(ai_url=None)
        assert await flagged_events(b) == ["/"]
        assert b.standin.asked == []


async def test_a_domain_of_no_vertical_is_not_flagged(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL)) as b:
        async with b.opened() as database:
            await database.fetch("DELETE FROM messor.organisation_domains")
        await b.crawl()
        assert await b.extract() == {}
        assert await flags(b) == {}
        assert b.standin.asked == []


async def test_a_reviewers_word_stands_when_the_page_changes(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, document(TOPICAL)) as b:
        await b.crawl()
        await b.extract(ai_url=None)
        async with b.opened() as database, database.transaction() as connection:
            topic = await topic_named(connection, "wellness")
            done = await review.review(
                connection, topic, f"http://{SPA}/", agrees=False, actor="ann", reason="a joke"
            )
        assert (done.relevant, done.overturned) == (False, True)
        b.set(document(TOPICAL, "Another line."))
        await b.crawl()
        await b.extract(ai_url=None)
        assert await flags(b) == {"/": False}
        (sample,) = await b.rows("SELECT sample, decided_by FROM messor.flag_decisions")
        assert "dermatology" in sample["sample"]
        (told,) = await b.rows("SELECT actor, data FROM messor.events WHERE type = 'flag.decided'")
        assert (told["actor"], json.loads(told["data"])["overturned"]) == ("ann", True)


async def test_a_model_is_asked_about_what_is_borderline(tmp_path: Path, dsn: str) -> None:
    page = document(EVEN, "The first appointment is free.", title="Skin")
    async with opened_bench(tmp_path, dsn, page) as b:
        await b.crawl()
        await b.extract(ai_url=None)
        assert await flags(b) == {"/": None}
        async with b.opened() as database:
            await database.fetch(
                "INSERT INTO messor.extraction_due (page_id, snapshot_id, cause)"
                " SELECT page_id, snapshot_id, 'parser' FROM messor.extractions"
            )
        assert await b.extract(ai_pages="none") == {"done": 1}
        assert await flags(b) == {"/": True}
        assert await flagged_events(b) == ["/"]
        (call,) = await b.rows("SELECT purpose, page_id FROM messor.ai_calls")
        assert call["purpose"] == "relevance:wellness"
        assert isinstance(b.standin, ModelStandIn)


async def test_nobody_reads_pages_for_a_vertical_that_they_are_not_about(
    tmp_path: Path, dsn: str
) -> None:
    async with opened_bench(tmp_path, dsn, document(STRANGE, OFFER, title="A film")) as b:
        await b.crawl()
        assert await b.extract() == {}
        assert b.standin.asked == []
