"""Pages on the command line, their snapshots and requests, and those that led to nothing."""

from __future__ import annotations

import asyncio

from messor.store.database import Database
from tests.cli.conftest import Messor
from tests.crawling import admit
from tests.insight.test_relevance_store import new_page


async def _seed(dsn: str) -> None:
    async with Database(dsn) as database:
        domain = await admit(database, "https://a.test/")
        await new_page(database, domain.id, "barren")
        await new_page(database, domain.id, "fresh", age=5)


def test_pages_that_led_to_nothing_are_listed(messor: Messor, dsn: str) -> None:
    asyncio.run(_seed(dsn))
    (page,) = messor("relevance", "unproductive", "--json").json
    assert page["url"].endswith("/barren")
    assert (page["domain"], page["last_record_at"]) == ("a.test", None)
    assert "/barren" in messor("relevance", "unproductive", "--domain", "www.a.test").out
    assert "No unproductive" in messor("relevance", "unproductive", "--domain", "b.test").err


def test_pages_snapshots_and_requests_of_a_domain(messor: Messor, dsn: str) -> None:
    asyncio.run(_seed(dsn))
    first, second = messor("pages", "a.test", "--q", "re", "--json").json
    assert {first["url"][-7:], second["url"][-6:]} == {"/barren", "/fresh"}
    assert {"word_count", "gate", "provider", "url_hash", "title", "depth"} <= first.keys()
    assert "/fresh" not in messor("pages", "a.test", "--q", "barren").out
    page = str(first["id"])
    assert len(messor("snapshots", page, "--json").json) <= 1
    assert messor("snapshots", "99999").code == 4
    assert "No matching requests" in messor("fetches", "a.test", "--outcome", "blocked").err
    for command in ("pages", "fetches"):
        assert messor(command, "nobody.test").code == 4
