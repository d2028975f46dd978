"""Price changes: between two prices of one page and currency; by direction, size, time and shop."""

from __future__ import annotations

from datetime import timedelta

from messor.records import corrections
from messor.records.price_queries import PRICE_CHANGES, ListedPriceChange, PriceChangeFilter
from messor.store.database import Database
from tests.harvested import open_harvest, product_html


async def changes(database: Database, **filters: object) -> list[ListedPriceChange]:
    wanted = PriceChangeFilter.model_validate(filters)
    return (await PRICE_CHANGES.read(database, wanted)).items


async def test_what_fell_and_rose(database: Database) -> None:
    shop = await open_harvest(database)
    for days, price, stock in (
        (20, "50.00", "InStock"), (10, "40.00", "InStock"), (5, "40.00", "OutOfStock"), (1, "44.00", "InStock"),
    ):  # fmt: skip
        await shop.see("/k", product_html(price=price, stock=stock), timedelta(days=days))
    found = await changes(database)
    assert [(float(one.before or 0), float(one.price or 0), one.percent) for one in found] == [
        (40.0, 44.0, 10.0), (50.0, 40.0, -20.0),
    ]  # fmt: skip
    assert [one.percent for one in await changes(database, direction="fell")] == [-20.0]
    assert [one.percent for one in await changes(database, direction="rose")] == [10.0]
    assert [one.percent for one in await changes(database, min_percent=10)] == [10.0, -20.0]
    assert [one.percent for one in await changes(database, min_percent=10.5)] == [-20.0]
    assert [one.percent for one in await changes(database, since="7d")] == [10.0]
    assert await changes(database, domain="other.example") == []
    assert len(await changes(database, domain="shop.example", currency="eur")) == 2
    assert len(await changes(database, category="Kitchen > Kettles")) == 2
    assert await changes(database, category="Kitchen") == []


async def test_another_currency_and_a_missing_price_are_no_change(database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/k", product_html(price="50.00"), timedelta(days=4))
    await shop.see("/k", product_html(price="40.00", currency="USD"), timedelta(days=3))
    await shop.see("/k", product_html(price=None), timedelta(days=2))
    assert await changes(database) == []
    await shop.see("/k", product_html(price="45.00"), timedelta(days=1))
    assert [one.percent for one in await changes(database)] == [-10.0]


async def test_corrections_and_other_parsers_are_no_change(database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/k", product_html(price="50.00"), timedelta(days=4))
    await shop.see("/k", product_html(price="49.00"), timedelta(days=3), cause="parser")
    record_id = await shop.record_id("product", "/k")
    async with database.transaction() as connection:
        await corrections.correct(connection, record_id, "price", "39", actor="local-admin")
    assert await changes(database) == []


async def test_a_jump_of_ten_times_is_marked(database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/k", product_html(price="50.00"), timedelta(days=4))
    await shop.see("/k", product_html(price="5.00"), timedelta(days=3))
    await shop.see("/k", product_html(price="49.00"), timedelta(days=2))
    assert [one.is_implausible for one in await changes(database)] == [False, True]
