"""Records in the console: found, narrowed down, each field with its evidence, and what it said before."""

from __future__ import annotations

from datetime import timedelta

import pytest
import pytest_asyncio

from messor.records import queries
from messor.records.queries import RECORDS, RecordFilter
from messor.store.database import Database
from tests.console.conftest import Visitor
from tests.harvested import Harvest, contact_html, open_harvest, product_html, stock_shop

MOST_QUERIES = 12


@pytest_asyncio.fixture(loop_scope="session")
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


async def test_records_are_narrowed_down(reviewer: Visitor, shop: Harvest) -> None:
    everything = await reviewer.get("/records")
    for words in ("Copper kettle", "hello@shop.example", "Tea & Co", "95 %"):
        assert words in everything.said, words
    contacts = await reviewer.get("/records?kind=contact")
    assert "hello@shop.example" in contacts.said
    assert "Copper kettle" not in contacts.said
    for query in (
        "kind=contact&domain=other.example",
        "kind=nothing",
        "parser=amazon",
        "max_confidence=0.4",
    ):
        assert "No matching records" in (await reviewer.get(f"/records?{query}")).said, query
    by_parser = await reviewer.get(
        "/records?parser=products&min_confidence=0.8&domain=SHOP.example"
    )
    pasted = "/records?parser=products&min_confidence=0.8&domain=https://www.shop.example/kettle"
    assert (await reviewer.get(pasted)).text.count("<tr") == by_parser.text.count("<tr") > 1
    assert "Copper kettle" in by_parser.said
    assert "hello@shop.example" not in by_parser.said


async def test_a_record_shows_its_evidence_and_its_history(
    reviewer: Visitor, shop: Harvest, database: Database
) -> None:
    record_id = await shop.record_id("product", "/kettle")
    page = await reviewer.get(f"/records/{record_id}")
    record = await queries.record(database, record_id)
    assert '"price": "49.90"' in page.said
    assert f"/pages/{record.page_id}/snapshots/{record.snapshot_id}" in page.text
    assert "structured data, as machine amount" in page.said
    for before, now in ((64.9, 49.9), (54.9, 64.9), (59.9, 54.9)):
        assert f"before: {before}" in page.said
        assert f"now: {now}" in page.said
    assert "first seen" in page.said
    product_id = await shop.product_id("/kettle")
    assert f'href="/products/{product_id}"' in page.text


async def test_a_quote_of_the_text_is_found_by_the_browser(
    reviewer: Visitor, shop: Harvest
) -> None:
    record_id = await shop.record_id("contact", "/contact")
    page = await reviewer.get(f"/records/{record_id}")
    assert "#:~:text=" in page.text


async def test_what_went_is_said_to(reviewer: Visitor, database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(), timedelta(days=3))
    record_id = await shop.record_id("product", "/kettle")
    await shop.see("/kettle", contact_html())
    page = await reviewer.get(f"/records/{record_id}")
    assert "no longer states this record" in page.said
    assert "removed" in page.said
    assert "Copper kettle" not in (await reviewer.get("/records")).said
    assert "Copper kettle" in (await reviewer.get("/records?state=removed")).said
    assert "Copper kettle" in (await reviewer.get("/records?state=all&kind=product")).said


async def test_the_list_goes_on_without_gaps(
    reviewer: Visitor, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = await open_harvest(database)
    for number in range(7):
        await shop.see(f"/{number}", product_html(f"Item {number}", sku=f"I-{number}"))
    all_ids = {row["id"] for row in await database.fetch("SELECT id FROM messor.records")}
    for wanted in (
        RecordFilter(),
        RecordFilter(state="all"),
        RecordFilter(domain=shop.name),
        RecordFilter(min_confidence=0.1),
    ):
        seen: list[int] = []
        cursor = None
        while True:
            found = await RECORDS.read(database, wanted, cursor=cursor, limit=4)
            seen += [row.id for row in found.items]
            cursor = found.next
            if cursor is None:
                break
        assert seen == sorted(all_ids, reverse=True), wanted
    monkeypatch.setattr(queries, "MAX_SCANNED", 5)
    rare = RecordFilter(parser="products", max_confidence=0.01)
    found = await RECORDS.read(database, rare)
    assert found.items == []
    assert found.next is not None, "the stretch ended, the list did not"
    page = await reviewer.get("/records?parser=amazon")
    assert "No matching records so far" in page.said
    assert "Continue searching" in page.said


async def test_the_list_of_domains_counts_their_records(
    reviewer: Visitor, shop: Harvest, database: Database
) -> None:
    domain_id = await database.fetchval(
        "SELECT id FROM messor.domains WHERE domain = 'shop.example'"
    )
    standing = (await queries.by_domain(database, [domain_id]))[domain_id]
    assert standing > 1
    page = await reviewer.get("/domains")
    assert f'<a href="/domains/shop.example/records">{standing}</a>' in page.text


async def test_the_domain_shows_its_records(reviewer: Visitor, shop: Harvest) -> None:
    page = await reviewer.get("/domains/shop.example/records")
    assert "product variant" in page.said
    assert "products 1" in page.said
    assert "Copper kettle" in page.said
    assert 'href="/records?domain=shop.example&amp;kind=contact"' in page.text
    assert "/domains/shop.example/records" in (await reviewer.get("/domains/shop.example")).text


async def test_a_domain_shows_no_records_of_another(
    reviewer: Visitor, shop: Harvest, database: Database
) -> None:
    other = await open_harvest(database, "other.example")
    await other.see("/contact", contact_html("Another house", "hello@other.example"))
    page = await reviewer.get("/domains/other.example/records")
    assert "hello@other.example" in page.text
    assert "shop.example/kettle" not in page.text
    assert "Copper kettle" not in page.said


async def test_empty_pages_teach(reviewer: Visitor, database: Database) -> None:
    await open_harvest(database)
    assert "messor extract --once" in (await reviewer.get("/records")).said
    empty = await reviewer.get("/domains/shop.example/records")
    assert "No records yet" in empty.said


async def test_records_that_are_not_there(reviewer: Visitor) -> None:
    for path in ("/records/1", "/records/99999999999999999999", "/records/x"):
        assert (await reviewer.get(path)).status == 404, path
    for query in (
        "cursor=x",
        "cursor=²",
        "cursor=99999999999999999999",
        "min_confidence=x",
        "state=x",
    ):
        assert (await reviewer.get(f"/records?{query}")).status == 200, query


async def test_few_queries_make_a_page(
    reviewer: Visitor, shop: Harvest, database: Database
) -> None:
    record_id, product_id = (
        await shop.record_id("product", "/kettle"),
        await shop.product_id("/pot"),
    )
    for path in (
        "/records", "/records?domain=shop.example&max_confidence=0.5", f"/records/{record_id}", "/products",
        f"/products/{product_id}", "/products?brand=none", "/parsers", "/search?q=kettle",
        "/domains/shop.example/records",
    ):  # fmt: skip
        before = database.round_trips
        assert (await reviewer.get(path)).status == 200, path
        assert database.round_trips - before <= MOST_QUERIES, path
