"""Flags in the console: listed and decided on; and unproductive pages."""

from __future__ import annotations

import pytest_asyncio

from messor.access.roles import Role
from messor.insight.relevance import store
from messor.insight.relevance.topics import topic_named
from messor.store.database import Database
from messor.verticals import files, verticals
from tests.console.conftest import Enter, Visitor
from tests.crawling import admit
from tests.insight.test_relevance_store import SEEN, new_page

FLAGS = "/verticals/funding/flags"


@pytest_asyncio.fixture(loop_scope="session")
async def page_id(database: Database) -> int:
    domain = await admit(database, "https://a.test/")
    found = await new_page(database, domain.id, "grants")
    async with database.transaction() as connection:
        await verticals.apply(connection, files.shipped("funding"), actor="ann")
        topic = await topic_named(connection, "funding")
        await store.keep_flag(connection, topic, found, None, SEEN)
    return found


async def test_a_reviewer_decides_on_a_flag(reviewer: Visitor, page_id: int) -> None:
    listed = await reviewer.get(FLAGS)
    assert "https://a.test/grants" in listed.said
    assert "rules-1" in listed.said
    done = await reviewer.send(FLAGS, FLAGS, {"page": str(page_id), "relevant": "no"})
    assert done.status == 303
    assert "https://a.test/grants" in (await reviewer.get(f"{FLAGS}?state=irrelevant")).said
    assert "No matching flags" in (await reviewer.get(f"{FLAGS}?reviewed=false")).said
    wrong = await reviewer.send(FLAGS, FLAGS, {"page": str(page_id), "relevant": "perhaps"})
    assert wrong.status == 422


async def test_viewers_see_no_decision(console: str, enter: Enter, page_id: int) -> None:
    listed = await (await enter(console, Role.VIEWER)).get(FLAGS)
    assert "https://a.test/grants" in listed.said
    assert 'name="relevant"' not in listed.text


async def test_unproductive_pages_are_listed(reviewer: Visitor, page_id: int) -> None:
    assert "https://a.test/grants" in (await reviewer.get("/unproductive-pages")).said
    other = await reviewer.get("/unproductive-pages?domain=b.test")
    assert "No unproductive pages" in other.said
