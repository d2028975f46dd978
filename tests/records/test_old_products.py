"""Old products are archived whole, stay in analytics, come back with their page, and are erased."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from messor.analytics.lake import Lake
from messor.analytics.sync import rebuild, sync
from messor.feed.queries import ChangeFilter, read_feed
from messor.governance import erasure
from messor.records import old_products
from messor.store.database import Database
from tests.analytics.stores import plain_whole, whole
from tests.harvested import Harvest, open_harvest, product_html

YEAR = timedelta(days=365)


async def stocked(database: Database) -> Harvest:
    """A kettle that went two years ago, a pot that went yesterday, a cup that is there."""
    shop = await open_harvest(database)
    for days, price in ((900, "59.90"), (800, "49.90")):
        await shop.see("/kettle", product_html(price=price), timedelta(days=days))
    await shop.see("/kettle", None, timedelta(days=730))
    await shop.see("/pot", product_html("Pot", sku="P"), timedelta(days=900))
    await shop.see("/pot", None, timedelta(days=1))
    await shop.see("/cup", product_html("Cup", sku="C"), timedelta(days=900))
    return shop


async def rows(database: Database, table: str) -> list[dict[str, Any]]:
    found = await database.fetch(f"SELECT t::text AS row FROM messor.{table} t ORDER BY 1")
    return [dict(row) for row in found]


async def erased(database: Database) -> list[str]:
    page = await read_feed(database, ChangeFilter(state="erased", kinds="product"))
    return [one.subject for one in page.items if one.kind == "product"]


async def test_only_what_went_long_ago_is_archived_and_analytics_keeps_it(
    database: Database, tmp_path: Path
) -> None:
    shop = await stocked(database)
    lake = Lake(tmp_path / "lake")
    kettle = await shop.product_id("/kettle")
    await sync(database, lake)
    before = {table: whole(lake, table) for table in ("products", "prices")}
    assert await old_products.count_old(database, YEAR) == 1
    done = await old_products.archive(database, YEAR)
    assert (done.products, done.prices) == (1, 2)
    left = [row["id"] for row in await database.fetch("SELECT id FROM messor.products")]
    assert (len(left), kettle in left) == (2, False)
    assert await erased(database) == []
    await sync(database, lake)
    assert {table: whole(lake, table) for table in before} == before
    await rebuild(database, lake)
    for table, kept in before.items():
        assert whole(lake, table) == kept == await plain_whole(database, table)
    assert (await old_products.archive(database, YEAR)).products == 0


async def test_it_comes_back_with_its_page_as_it_was(database: Database) -> None:
    shop = await stocked(database)
    kettle = await shop.product_id("/kettle")
    products, prices = await rows(database, "products"), await rows(database, "product_prices")
    await old_products.archive(database, YEAR)
    async with database.transaction() as connection:
        page_id = await connection.fetchval("SELECT page_id FROM messor.archived_products")
        await old_products.restore(connection, [page_id])
    assert await rows(database, "products") == products
    assert await rows(database, "product_prices") == prices
    await old_products.archive(database, YEAR)
    await shop.see("/kettle", product_html(price="39.90"))
    assert await shop.product_id("/kettle") == kettle
    seen = await database.fetch(
        "SELECT price FROM messor.product_prices WHERE product_id = $1 ORDER BY seen_at", kettle
    )
    assert [float(row["price"]) for row in seen] == [59.9, 49.9, 39.9]
    assert await rows(database, "archived_products") == []
    assert await erased(database) == []


async def test_an_erasure_reaches_the_archive_and_analytics(
    database: Database, tmp_path: Path
) -> None:
    shop = await stocked(database)
    kettle = await shop.product_id("/kettle")
    lake = Lake(tmp_path / "lake")
    await old_products.archive(database, YEAR)
    await sync(database, lake)
    async with database.transaction() as connection:
        url = "https://shop.example/kettle"
        await erasure.erase_url(connection, url, actor="ann", reason="asked")
    assert await rows(database, "archived_products") == []
    assert await erased(database) == [f"product:{kettle}"]
    await sync(database, lake)
    assert kettle not in {row[0] for row in whole(lake, "products")}
    assert kettle not in {row[0] for row in whole(lake, "prices")}
    # Gone from the files, not only from view.
    assert all(b"kettle" not in path.read_bytes() for path in lake.folder.glob("products-*"))
