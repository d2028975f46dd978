"""A page of many products, from a crawl to what the command line says of each."""

from __future__ import annotations

import asyncio
from pathlib import Path

from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.store.database import Database
from tests.cli.conftest import Messor
from tests.crawling import admit, crawl
from tests.extraction.test_extract import SHOP, kettles, product
from tests.little_web import LittleWeb, page

CARDS = [(f"Kettle {n}", f"{n}0.50", f"/p/{n}") for n in range(1, 7)]


async def harvest(dsn: str, folder: Path) -> None:
    """Crawl a list of six kettles, of which one has a page that says more."""
    soon = {link: page("Soon") for _, _, link in CARDS}
    rooms = {"/": page("Home", "/kettles"), "/kettles": kettles(*CARDS), **soon}
    rooms["/p/1"] = product("12.00", name="Kettle 1")
    async with LittleWeb(folder, {SHOP: rooms}) as web, Database(dsn) as database:
        await admit(database, f"http://{SHOP}/")
        await crawl(web.settings(), database)
        readers = ReaderPool(1)
        await Extractor(database, web.settings().data_dir / "archive", readers).run()
        await readers.close()


def test_six_cards_are_six_products_each_with_its_evidence(
    dsn: str, tmp_path: Path, messor: Messor
) -> None:
    asyncio.run(harvest(dsn, tmp_path))
    found = {row["product_name"]: row for row in messor("products", "list", "--json").json}
    assert set(found) == {name for name, _, _ in CARDS}, "none is named after the page"
    for name, price, link in CARDS[1:]:
        row = found[name]
        assert (row["price"], row["url"]) == (float(price), f"http://{SHOP}{link}")
        record = messor("records", "show", str(row["record_id"]), "--json").json
        quotes = {name: one["evidence"]["quote"] for name, one in record["fields"].items()}
        assert (quotes["product_name"], price in quotes["price"]) == (name, True)
        assert link in quotes["url"]
    first = found["Kettle 1"]
    assert (first["price"], first["sku"]) == (12, "K-100"), "its own page completes it"
    sure = messor("products", "list", "--min-confidence", "0.9", "--json").json
    assert [row["product_name"] for row in sure] == ["Kettle 1"]
    listed = messor(
        "records", "list", "--kind", "listed_product", "--min-confidence", "0.71", "--json"
    )
    assert listed.json == []
    assert len(messor("records", "list", "--kind", "listed_product", "--json").json) == 6
