"""Pages on the command line: those that led to nothing."""

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
    (page,) = messor("pages", "a.test", "--unproductive", "--json").json
    assert page["url"].endswith("/barren")
    assert page["last_record_at"] is None
    assert "/barren" in messor("pages", "www.a.test", "--unproductive").out
    assert messor("pages", "a.test", "--unproductive", "--outcome", "ok").code == 2


def test_a_domain_without_such_pages_says_so(messor: Messor, dsn: str) -> None:
    assert messor("domains", "submit", "b.test").code == 0
    assert "has no unproductive pages" in messor("pages", "b.test", "--unproductive").err
