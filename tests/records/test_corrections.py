"""Corrections: in force at once and everywhere, until the page itself says something else."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ops.record_checks import CHECKS
from messor.records import corrections, product_queries, queries
from messor.records.correction_queries import CORRECTIONS, Correction, CorrectionFilter
from messor.records.typed_values import typed
from messor.store.database import Database
from tests.console import seeding
from tests.harvested import Harvest, contact_html, product_html, stock_shop

HISTORY = """
SELECT cause, field, before #>> '{}' AS before, after #>> '{}' AS after FROM messor.record_changes
 WHERE record_id = $1 ORDER BY id DESC LIMIT 1
"""
PRICES = """
SELECT price::text, cause FROM messor.product_prices WHERE product_id = $1 ORDER BY seen_at DESC LIMIT 1
"""


@pytest.fixture
async def shop(database: Database) -> Harvest:
    return await stock_shop(database)


async def correct(shop: Harvest, record_id: int, name: str, value: Any, **more: Any) -> Correction:
    async with shop.database.transaction() as connection:
        return await corrections.correct(connection, record_id, name, value, actor="ann", **more)


async def events(shop: Harvest, event_type: str) -> int:
    found: int = await shop.database.fetchval(
        "SELECT count(*) FROM messor.events WHERE type = $1", event_type
    )
    return found


def later(minutes: int) -> timedelta:
    return -timedelta(minutes=minutes)


async def test_a_value_is_in_force_at_once_beside_what_the_page_states(shop: Harvest) -> None:
    database = shop.database
    record_id = await shop.record_id("product", "/kettle")
    before = await queries.record(database, record_id)
    made = await correct(shop, record_id, "price", "1.047,50 €", reason="tax was left out")
    assert (made.state, made.value, made.page_value, made.found) == (
        "in_force",
        1047.5,
        49.9,
        "49.9",
    )
    record = await queries.record(database, record_id)
    assert record.data == {**before.data, "price": 1047.5}
    field = record.fields["price"]
    assert field.value == 1047.5
    assert field.evidence == before.fields["price"].evidence
    assert field.correction is not None
    assert (field.correction.id, field.correction.page_value) == (made.id, 49.9)
    assert (record.last_seen, record.snapshot_id) == (before.last_seen, before.snapshot_id)
    product_id = await shop.product_id("/kettle")
    product = await product_queries.product(database, product_id)
    assert float(product.price or 0) == 1047.5
    assert tuple(await database.fetchrow(PRICES, product_id) or ()) == ("1047.5", "person")
    assert tuple(await database.fetchrow(HISTORY, record_id) or ()) == (
        "person", "price", "49.9", "1047.5",
    )  # fmt: skip
    assert await events(shop, "record.corrected") == 1
    assert len(product.images) == 2, "images of the page stay"


async def test_it_stays_until_the_page_changes_the_field(shop: Harvest) -> None:
    record_id = await shop.record_id("product", "/kettle")
    made = await correct(shop, record_id, "price", "47.50")
    # Seen anew with another brand, and read anew by a parser that reads another price.
    await shop.see("/kettle", product_html(price="49.90", brand="Bravo"), later(1))
    record = await queries.record(shop.database, record_id)
    assert (record.data["price"], record.data["brand"]) == (47.5, "Bravo")
    await shop.see("/kettle", product_html(price="48.80", brand="Bravo"), later(2), cause="parser")
    record = await queries.record(shop.database, record_id)
    assert record.data["price"] == 47.5
    assert record.fields["price"].correction is not None
    assert record.fields["price"].correction.page_value == 48.8
    # The page now states another price: it counts.
    await shop.see("/kettle", product_html(price="44.40", brand="Bravo"), later(3))
    record = await queries.record(shop.database, record_id)
    assert record.data["price"] == 44.4
    assert record.fields["price"].correction is None
    (listed,) = (await CORRECTIONS.read(shop.database, CorrectionFilter())).items
    assert (listed.id, listed.state) == (made.id, "lapsed")
    assert listed.ended_at is not None
    assert await events(shop, "record.correction_lapsed") == 1
    product = await product_queries.product(shop.database, await shop.product_id("/kettle"))
    assert float(product.price or 0) == 44.4


async def test_any_field_of_any_kind_and_what_the_page_does_not_state(shop: Harvest) -> None:
    contact = await shop.record_id("contact", "/contact")
    record = await queries.record(shop.database, contact)
    name, other = ("email", "hello@kettles.example")
    assert name in record.data or "phone" in record.data
    name, other = (name, other) if name in record.data else ("phone", "+49 30 901821")
    made = await correct(shop, contact, name, other)
    added = await correct(shop, contact, "locality", "Berlin")
    gone = await correct(shop, contact, name, None)
    record = await queries.record(shop.database, contact)
    assert name not in record.data
    assert record.data["locality"] == "Berlin"
    assert record.fields["locality"].evidence is None
    field = record.fields[name]
    assert field.value is None
    assert field.evidence is not None, "the page's own words are still shown"
    states = {one.id: one.state for one in await all_corrections(shop)}
    assert states == {gone.id: "in_force", added.id: "in_force"}
    assert made.id == gone.id, "one word per field and snapshot: the later one"
    # Withdrawn, the page's own values are back.
    async with shop.database.transaction() as connection:
        for one in (gone, added):
            await corrections.withdraw(connection, one.id, actor="ann")
    record = await queries.record(shop.database, contact)
    assert name in record.data
    assert "locality" not in record.data
    assert "locality" not in record.fields
    async with shop.database.transaction() as connection:
        with pytest.raises(ConflictError, match="not in force; it is withdrawn"):
            await corrections.withdraw(connection, gone.id, actor="ann")


async def all_corrections(shop: Harvest) -> list[Correction]:
    return (await CORRECTIONS.read(shop.database, CorrectionFilter())).items


async def test_a_later_snapshot_gets_a_correction_of_its_own(shop: Harvest) -> None:
    contact = await shop.record_id("contact", "/contact")
    first = await correct(shop, contact, "locality", "Berlin")
    await shop.see("/contact", contact_html())
    second = await correct(shop, contact, "locality", "Potsdam")
    states = {one.id: one.state for one in await all_corrections(shop)}
    assert states == {first.id: "replaced", second.id: "in_force"}
    assert (await queries.record(shop.database, contact)).data["locality"] == "Potsdam"


async def test_a_confirmation_changes_nothing_and_ends_a_correction(shop: Harvest) -> None:
    record_id = await shop.record_id("product", "/kettle")
    before = await queries.record(shop.database, record_id)
    same = await correct(shop, record_id, "brand", "Acme")
    assert same.state == "lesson"
    await correct(shop, record_id, "price", 47.5)
    async with shop.database.transaction() as connection:
        made = await corrections.confirm(connection, record_id, "price", actor="ann")
    assert (made.state, made.correct) == ("lesson", "49.9")
    after = await queries.record(shop.database, record_id)
    assert (after.data, after.fields) == (before.data, before.fields)


async def test_corrected_records_pass_the_audit(shop: Harvest, tmp_path: Path) -> None:
    record_id = await shop.record_id("product", "/kettle")
    await correct(shop, record_id, "price", 47.5)
    await correct(shop, record_id, "color", "red")
    await correct(shop, record_id, "sku", None)
    for check in CHECKS:
        if check.sql is not None and check.id != "RECORDS_001":
            row = await shop.database.fetchrow(check.sql, 0, 2**62)
            assert row is not None
            assert row["broken"] == 0, (check.title, row["examples"])


@pytest.mark.parametrize(
    "kind, name, given, value",
    [
        ("product", "price", "1.299,00 €", 1299.0),
        ("product", "availability", "sold out", "out_of_stock"),
        ("contact", "phone", "+65 6123 4567", "+6561234567"),
        ("opening_hours", "days", '["monday", "friday"]', ["monday", "friday"]),
        ("opening_hours", "days", ["monday"], ["monday"]),
        ("funding_program", "deadline", "1 December 2026", "2026-12-01"),
        ("service", "name", "Fish & <chips>", "Fish & <chips>"),
    ],
)
def test_values_get_the_type_of_their_field(kind: str, name: str, given: Any, value: Any) -> None:
    assert typed(kind, name, given) == value


@pytest.mark.parametrize(
    "kind, name, given, fault",
    [
        ("product", "price", "abc", "'abc' is not a valid price of a product"),
        ("product", "price", -1, "'-1' is not a valid price"),
        ("product", "rating", "7", "less than or equal to 5"),
        ("contact", "email", "nobody", "does not have the required form"),
        ("product", "smell", "x", "have no field 'smell'; they have price, currency"),
        ("perfume", "smell", "x", "kind 'perfume' cannot be corrected"),
        ("service", "name", "x" * 4_001, "at most 4,000 characters"),
        ("service", "name", "  ", "Enter a value"),
    ],
)
def test_what_cannot_be_a_value_is_refused(kind: str, name: str, given: Any, fault: str) -> None:
    with pytest.raises(UsageError, match=fault.replace("(", r"\(")):
        typed(kind, name, given)


async def test_records_that_are_gone_cannot_be_corrected(shop: Harvest) -> None:
    record_id = await shop.record_id("product", "/kettle")
    await shop.see("/kettle", None)
    with pytest.raises(ConflictError, match="was removed from its page"):
        await correct(shop, record_id, "price", 1)
    for unknown in (999_999, 2**70):
        with pytest.raises(NotFoundError, match="no record"):
            await correct(shop, unknown, "price", 1)
    with pytest.raises(UsageError, match="at most 1,000"):
        await correct(
            shop,
            await shop.record_id("contact", "/contact"),
            "locality",
            "Bonn",
            reason="x" * 1_001,
        )


async def test_a_listed_products_correction_reaches_the_product_it_lists(shop: Harvest) -> None:
    cards = "".join(
        f"<li class=product><a href='/new-{n}'>Pan {n}</a> <b>€{n}9.90</b></li>"
        for n in range(1, 7)
    )
    await seeding.add_page(shop.database, shop.domain, f"https://{shop.name}/new-1")
    await shop.see(
        "/pans",
        f"<!doctype html><html lang=en><title>Pans</title><h1>Pans</h1><ul class=products>{cards}</ul></html>",
    )
    record_id = await shop.record_id("listed_product", "/pans")
    record = await queries.record(shop.database, record_id)
    assert record.data["url"].endswith("/new-1")
    await correct(shop, record_id, "price", 18)
    assert (await queries.record(shop.database, record_id)).data["price"] == 18
    product = await shop.database.fetchval(
        "SELECT price::float8 FROM messor.products WHERE record_id = $1", record_id
    )
    assert product == 18.0
