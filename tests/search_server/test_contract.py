"""What search promises, whoever answers: PostgreSQL, the stand-in, or the server of the environment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from decimal import Decimal

import pytest

from messor.errors import UsageError
from messor.insight.full_text import FullText
from messor.insight.search import NO_FILTERS, SearchFilters
from messor.insight.search_server.client import SearchServer
from messor.store.database import Database
from tests.insight.making import make_site
from tests.insight.searched import ANSWERS, make_searched_site
from tests.search_server.serving import LIVE_URL, index, live, standing_in

no_server = pytest.mark.skipif(LIVE_URL is None, reason="MESSOR_LIVE_ELASTICSEARCH_URL is not set")


@dataclass(frozen=True)
class Engine:
    """Search by one of them."""

    database: Database
    server: SearchServer | None
    full_text: FullText

    async def index(self) -> None:
        await index(self.database, self.server)

    async def titles(self, typed: str, filters: SearchFilters = NO_FILTERS) -> set[str]:
        found = await self.full_text.search(typed, filters)
        assert found.notice is None
        assert found.answered_by == ("postgresql" if self.server is None else "search server")
        return {hit.title or "" for hit in found.hits}


@pytest.fixture(params=["postgresql", "stand-in", pytest.param("live", marks=no_server)])
async def engine(request: pytest.FixtureRequest, database: Database) -> AsyncIterator[Engine]:
    if request.param == "postgresql":
        yield Engine(database, None, FullText(database))
    elif request.param == "stand-in":
        async with standing_in() as (_, server):
            yield Engine(database, server, FullText(database, server))
    else:
        async with live() as server:
            yield Engine(database, server, FullText(database, server))


async def test_what_answers(engine: Engine) -> None:
    await make_searched_site(engine.database)
    await engine.index()
    assert {typed: await engine.titles(typed) for typed in ANSWERS} == ANSWERS
    (hit,) = (await engine.full_text.search("cafe brulee")).hits
    (piece,) = hit.fragments
    assert piece.shown("[", "]") == "Le [café] est fermé. Crème [brûlée]."
    for typed in (
        "a & b | !c",
        "x:* <-> y",
        '"open phrase',
        "\x00nul tea",
        "tea -⑴⑵*",
        "㈱㈱* ½½*",
        '急"須',
    ):
        await engine.titles(typed)
        await engine.full_text.facets(typed)
    with pytest.raises(UsageError, match="A page has 1 to"):
        await engine.full_text.search("tea", limit=0)


async def test_filters_and_facets(engine: Engine) -> None:
    await make_searched_site(engine.database)
    other = await make_site(engine.database, "other.test")
    await other.page("Another kettle", title="other", language="en")
    await engine.database.fetch(
        """UPDATE messor.records SET confidence =
             CASE data->>'product_name' WHEN 'Copper kettle' THEN 0.9 ELSE 0.7 END"""
    )
    await engine.index()
    everything = await engine.full_text.facets("kettle")
    assert (everything.total, everything.is_exact) == (4, True)
    assert everything.by["domain"] == {"shop.test": 3, "other.test": 1}
    assert everything.by["kind"] == {"page": 2, "product": 2}
    assert everything.by["brand"] == {"Acme": 1, "Zeta": 1}
    assert everything.by["category"] == {"Kitchen": 2}
    assert everything.by["price"] == {"EUR 100 to 250": 1, "EUR 25 to 50": 1}
    assert everything.by["rating"] == {"3": 1, "4": 1}
    assert everything.by["availability"] == {"in_stock": 1, "out_of_stock": 1}
    one = {"Copper kettle"}
    for filters in (
        SearchFilters(brands=("Acme",)),
        SearchFilters(categories=("Kitchen",), kinds=("product",), max_price=Decimal("49.90")),
        SearchFilters(availability=("in_stock",)),
        SearchFilters(min_price=Decimal("49.90"), max_price=Decimal(50), currency="EUR"),
        SearchFilters(min_rating=Decimal("4.5")),
    ):
        assert await engine.titles("kettle", filters) == one
        assert (await engine.full_text.facets("kettle", filters)).total == 1
    assert await engine.titles("kettle", SearchFilters(domains=("other.test",))) == {"other"}
    for least, products in (("0.71", 1), ("0.7", 2)):
        sure = SearchFilters(min_confidence=Decimal(least))
        assert (await engine.full_text.facets("kettle", sure)).by["kind"] == {"product": products}
    assert await engine.titles("kettle", SearchFilters(min_confidence=Decimal("0.71"))) == one
    with pytest.raises(UsageError, match=r"between 0 and 1; 1\.1 was given"):
        SearchFilters(min_confidence=Decimal("1.1"))
    assert await engine.titles("kettle", SearchFilters(currency="USD")) == set()


async def test_a_cursor_goes_through_everything_once(engine: Engine) -> None:
    site = await make_site(engine.database, "many.test")
    for number in range(7):
        await site.page(f"tea {'tea ' * (number % 3)}", title=str(number), language="en")
    await engine.index()
    seen: list[str | None] = []
    after = None
    while True:
        found = await engine.full_text.search("tea", after=after, limit=3)
        seen += [hit.title for hit in found.hits]
        after = found.next
        if after is None:
            break
    assert sorted(map(str, seen)) == [str(number) for number in range(7)]
    first = await engine.full_text.search("tea", limit=3)
    with pytest.raises(UsageError, match="another query"):
        await engine.full_text.search("coffee", after=first.next)
    for bad in ("x", "é", "W10", "WzFlMzAwLDEsImEiXQ"):
        with pytest.raises(UsageError, match="cursor"):
            await engine.full_text.search("tea", after=bad)


async def test_documents_follow_their_pages(engine: Engine) -> None:
    database = engine.database
    site = await make_site(database, "a.test")
    page_id, _ = page = await site.page("apple", title="page", language="en")
    record = await site.record(page, "faq", question="Which pear?")
    await engine.index()
    assert await engine.titles("apple OR pear") == {"page", "Which pear?"}
    await database.fetch("UPDATE messor.records SET state = 'removed' WHERE id = $1", record)
    await database.fetch("UPDATE messor.extractions SET records = 0")
    await engine.index()
    assert await engine.titles("apple OR pear") == {"page"}
    await database.fetch(
        "INSERT INTO messor.page_changes VALUES ($1, messor.clock(), NULL, 'removed')", page_id
    )
    await database.fetch("UPDATE messor.extractions SET snapshot_id = NULL")
    await engine.index()
    assert await engine.titles("apple OR pear") == set()


async def test_an_erased_page_is_not_found_even_before_the_index_is_told(engine: Engine) -> None:
    site = await make_site(engine.database, "a.test")
    page_id, _ = page = await site.page("secret", language="en")
    await site.record(page, "faq", question="secret?")
    await engine.index()
    assert await engine.titles("secret") == {"", "secret?"}
    await engine.database.fetch("SELECT messor.forget_pages(ARRAY[$1::bigint], false)", page_id)
    assert await engine.titles("secret") == set()
    await engine.index()
    assert (await engine.full_text.facets("secret")).total == 0
