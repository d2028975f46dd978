"""Corrections from end to end: said of records, learnt from the archive, put in force by a person."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from messor.errors import ConflictError, NotFoundError, UsageError
from messor.extraction import queue
from messor.extraction.extract import Extractor
from messor.extraction.learn_corrections import teach
from messor.extraction.reader_pool import ReaderPool
from messor.records import corrections, rankings
from messor.records.correction_queries import CORRECTIONS, CorrectionFilter
from messor.store.database import Database
from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.crawling import admit, crawl
from tests.extraction.test_extract import SHOP, opened_bench, product
from tests.little_web import LittleWeb, page

PRODUCTS = "SELECT id, (data ->> 'price')::float8 AS price FROM messor.records WHERE kind = 'product' ORDER BY id"
# What the page states of a corrected price, as its parser reads it now.
OWN_PRICES = """
SELECT (fields #>> '{price,correction,page_value}')::float8 AS price FROM messor.records
 WHERE kind = 'product' ORDER BY id
"""


def misleading(number: int) -> SimResponse:
    """A shop's page whose structured data lags behind; its meta element is right."""
    data = {
        "@context": "https://schema.org", "@type": "Product", "name": f"Kettle {number}",
        "offers": {"@type": "Offer", "price": f"{number + 20}.90", "priceCurrency": "EUR"},
    }  # fmt: skip
    head = (
        f'<meta property="product:price:amount" content="{number + 10}.50">'
        '<meta property="product:price:currency" content="EUR">'
        f'<script type="application/ld+json">{json.dumps(data)}</script>'
    )
    body = f"<html lang=en><title>Kettle {number}</title>{head}<h1>Kettle {number}</h1>"
    return SimResponse(200, (("Content-Type", HTML),), f"{body}<p>{'It boils. ' * 40}".encode())


async def test_corrections_are_learnt_measured_and_put_in_force_by_a_person(
    database: Database, tmp_path: Path
) -> None:
    paths = {f"/kettle-{n}": misleading(n) for n in range(5)}
    shops = {f"shop{n}.test": {"/": page("Home", *paths), **paths} for n in range(5)}
    async with LittleWeb(tmp_path, shops) as web, AsyncExitStack() as ending:
        for name in shops:
            await admit(database, f"http://{name}/", delay=0.01)
        settings = web.settings()
        archive = settings.data_dir / "archive"
        await crawl(settings, database)
        readers = ReaderPool(1)
        ending.push_async_callback(readers.close)
        await queue.catch_up(database)
        await Extractor(database, archive, readers).run()
        read = await database.fetch(PRODUCTS)
        assert len(read) == 25
        assert all(row["price"] > 20 for row in read)
        assert (await teach(database, archive, actor="reviewer")).version is None
        async with database.transaction() as connection:
            for row in read:
                right = f"{row['price'] - 10.4:.2f}"
                await corrections.correct(connection, row["id"], "price", right, actor="reviewer")
        taught = await teach(database, archive, actor="reviewer")
        assert (taught.lessons, taught.unreadable, taught.not_offered) == (25, 0, 0)
        (learnt,) = taught.learnt
        assert (learnt.name, learnt.usual, learnt.learnt) == ("price", 0.0, 1.0)
        assert await rankings.in_force(database) is None
        async with database.transaction() as connection:
            await rankings.use(connection, taught.version, actor="reviewer")
        await queue.replay(database, domain_id=None, since=None, parser=None, pin=None)
        await Extractor(database, archive, readers).run()
        again = await database.fetch(OWN_PRICES)
        assert [round(b["price"] - a["price"], 2) for b, a in zip(read, again, strict=True)] == (
            [10.4] * 25
        )
        versions = "SELECT DISTINCT parser_version FROM messor.records WHERE kind = 'product'"
        assert [row[0] for row in await database.fetch(versions)] == [f"1+{taught.version}"]


async def test_what_cannot_be_corrected_is_refused_in_a_sentence(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with opened_bench(tmp_path, dsn, kettle=product()) as bench:
        await bench.crawl()
        await bench.extract()
        (record,) = await bench.rows("SELECT id FROM messor.records WHERE kind = 'product'")
    async with database.transaction() as connection:
        with pytest.raises(NotFoundError, match="no record 999"):
            await corrections.correct(connection, 999, "price", "1", actor="x")
        with pytest.raises(UsageError, match="no field 'smell'"):
            await corrections.correct(connection, record["id"], "smell", "1", actor="x")
        with pytest.raises(UsageError, match="Enter a value"):
            await corrections.correct(connection, record["id"], "price", " ", actor="x")
        with pytest.raises(ConflictError, match="states no seller to confirm"):
            await corrections.confirm(connection, record["id"], "seller", actor="x")
        with pytest.raises(NotFoundError, match="no ranking 7"):
            await rankings.use(connection, 7, actor="x")
        await corrections.confirm(connection, record["id"], "sku", actor="x")
        await corrections.correct(connection, record["id"], "sku", None, actor="y")
    (said,) = (await CORRECTIONS.read(database, CorrectionFilter())).items
    assert (said.domain, said.field, said.found, said.correct) == (SHOP, "sku", "K-100", None)
    assert said.corrected_by == "y"
