"""Extraction of crawled pages: what is new, changed, gone or back is told once, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from messor.extraction import queue
from messor.extraction.compare import compare_archive
from messor.extraction.extract import Extractor, Tally
from messor.extraction.reader_pool import ReaderPool
from messor.extraction.reader_protocol import ReadResult as ReaderAnswer
from messor.parsers import pins
from messor.parsers.health import health
from messor.settings import Settings
from messor.store.database import Connection, Database
from simweb import SimResponse
from simweb.documents import HTML
from tests.crawling import admit, crawl, later, until
from tests.little_web import LittleWeb, page

SHOP = "shop.example"
CONNECTIONS = """
SELECT count(*) AS others FROM pg_stat_activity
 WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
# Which version of its row each record is.
VERSIONS = (
    "SELECT id, xmin::text AS written_by, ctid::text AS place FROM messor.records ORDER BY id"
)
TEXTS = """
SELECT pg_table_size('messor.extractions') AS bytes,
       (SELECT sum(length(main_text) + length(markdown)) FROM messor.extractions) AS characters
"""


def product(
    price: str = "19.90",
    *,
    stock: str = "InStock",
    name: str = "Kettle",
    words: str = "A fine kettle.",
) -> SimResponse:
    """A shop's page; its price stands in structured data alone."""
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": name,
        "sku": "K-100",
        "image": ["/kettle.jpg", "/kettle-2.jpg"],
        "offers": {
            "@type": "Offer",
            "price": price,
            "priceCurrency": "EUR",
            "availability": f"https://schema.org/{stock}",
        },
    }
    body = (
        f"<!doctype html><html lang=en><title>{name}</title><h1>{name}</h1>"
        f"<p>{words} {'It boils water. ' * 30}</p>"
        f'<script type="application/ld+json">{json.dumps(data)}</script></html>'
    )
    return SimResponse(200, (("Content-Type", HTML),), body.encode())


@dataclass
class Bench:
    """A little shop that is crawled and extracted, time after time."""

    web: LittleWeb
    settings: Settings
    dsn: str
    readers: ReaderPool
    hours: int = 0

    async def crawl(self, hours: int = 48) -> None:
        """Look at every page again, so many hours after the last time."""
        self.hours += hours
        async with self.opened() as database:
            await crawl(self.settings, database)

    async def extract(self) -> Tally:
        async with self.opened() as database:
            await queue.catch_up(database)
            return await self.extractor(database).run()

    def extractor(self, database: Database, **options: Any) -> Extractor:
        return Extractor(database, self.settings.data_dir / "archive", self.readers, **options)

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        async with self.opened() as database:
            return [dict(row) for row in await database.fetch(sql)]

    async def events(self, kind: str) -> list[dict[str, Any]]:
        found = await self.rows(f"SELECT data FROM messor.events WHERE type = '{kind}' ORDER BY id")
        return [json.loads(row["data"]) for row in found]

    def set(self, path: str, answer: SimResponse) -> None:
        self.web.houses[SHOP].rooms[path] = answer

    def opened(self) -> Database:
        return Database(later(self.dsn, timedelta(hours=self.hours)))


@asynccontextmanager
async def opened_bench(folder: Path, dsn: str, **rooms: SimResponse) -> AsyncIterator[Bench]:
    paths = {f"/{name}": room for name, room in rooms.items()}
    async with LittleWeb(folder, {SHOP: {"/": page("Home", *paths), **paths}}) as web:
        readers = ReaderPool(1)
        bench = Bench(web, web.settings(), dsn, readers)
        async with Database(dsn) as database:
            await admit(database, f"http://{SHOP}/")
        try:
            yield bench
        finally:
            await readers.close()


@pytest.fixture
async def shop(tmp_path: Path, dsn: str) -> AsyncIterator[Bench]:
    async with opened_bench(tmp_path, dsn, kettle=product()) as bench:
        yield bench


async def test_a_new_product_is_stored_with_its_price_images_and_evidence(shop: Bench) -> None:
    await shop.crawl()
    tally = await shop.extract()
    assert (tally.pages, tally.put_off, tally.set_aside) == (2, 0, 0)
    (row,) = await shop.rows("SELECT * FROM messor.products")
    assert (row["product_name"], float(row["price"]), row["currency"]) == ("Kettle", 19.9, "EUR")
    assert (row["availability"], row["sku"], row["state"]) == ("in_stock", "K-100", "current")
    assert row["url"] == f"http://{SHOP}/kettle"
    (record,) = await shop.rows("SELECT * FROM messor.records WHERE kind = 'product'")
    assert record["id"] == row["record_id"]
    assert "19.90" in json.loads(record["fields"])["price"]["evidence"]["quote"]
    assert (record["parser"], record["parser_version"]) == (row["parser"], row["parser_version"])
    images = await shop.rows("SELECT image_url, image_type FROM messor.images ORDER BY position")
    assert [tuple(image.values()) for image in images] == [
        (f"http://{SHOP}/kettle.jpg", "primary"),
        (f"http://{SHOP}/kettle-2.jpg", "gallery"),
    ]
    assert len(await shop.rows("SELECT * FROM messor.product_prices")) == 1
    (told, *_) = [e for e in await shop.events("extraction.completed") if e["url"] == row["url"]]
    assert told["new"] == told["records"] > 0
    assert await shop.rows("SELECT * FROM messor.extraction_due") == []


async def test_a_thumbnail_stands_beside_its_image(shop: Bench) -> None:
    small = '{"@type": "ImageObject", "url": "/big.jpg", "thumbnailUrl": "/small.jpg"}'
    body = (product().body or b"").decode().replace('"/kettle-2.jpg"', small)
    shop.set("/kettle", SimResponse(200, (("Content-Type", "text/html"),), body.encode()))
    await shop.crawl()
    await shop.extract()
    sql = "SELECT image_url, image_type, position FROM messor.images ORDER BY position, image_type"
    assert [tuple(image.values()) for image in await shop.rows(sql)] == [
        (f"http://{SHOP}/kettle.jpg", "primary", 0),
        (f"http://{SHOP}/big.jpg", "gallery", 1),
        (f"http://{SHOP}/small.jpg", "thumbnail", 1),
    ]


async def test_an_unchanged_page_costs_no_extraction(shop: Bench) -> None:
    await shop.crawl()
    await shop.extract()
    before = await shop.rows("SELECT * FROM messor.products")
    await shop.crawl()
    assert len(shop.web.paths(SHOP)) >= 5
    assert (await shop.extract()).pages == 0
    assert await shop.rows("SELECT * FROM messor.products") == before


QUEUED = """
SELECT p.url, q.cause, q.snapshot_id = t.snapshot_id AS is_newest FROM messor.extraction_due q
  JOIN messor.pages p ON p.id = q.page_id JOIN messor.crawl_tasks t ON t.page_id = q.page_id
 ORDER BY q.id
"""


async def test_the_flush_itself_queues_what_changed_and_nothing_else(shop: Bench) -> None:
    """Judged before the extractor looks for what was missed."""

    async def queued() -> list[tuple[object, ...]]:
        found = [tuple(row.values()) for row in await shop.rows(QUEUED)]
        await shop.rows("DELETE FROM messor.extraction_due")
        return found

    kettle = (f"http://{SHOP}/kettle", "page", True)
    await shop.crawl()
    assert await queued() == [(f"http://{SHOP}/", "page", True), kettle]
    looks = len(shop.web.paths(SHOP))
    await shop.crawl()
    assert len(shop.web.paths(SHOP)) > looks
    assert await queued() == []
    for changed in (product("17.50"), product("17.50", words="Other words."), product()):
        shop.set("/kettle", changed)
        await shop.crawl()
        assert await queued() == [kettle]
    shop.set("/kettle", SimResponse(404, (("Content-Type", HTML),), b"<p>Not here."))
    await shop.crawl()
    assert await queued() == [(f"http://{SHOP}/kettle", "page", None)]


async def test_a_price_that_changes_in_structured_data_alone_is_seen(shop: Bench) -> None:
    await shop.crawl()
    await shop.extract()
    (before,) = await shop.rows("SELECT * FROM messor.products")
    shop.set("/kettle", product("17.50"))
    await shop.crawl()
    assert (await shop.extract()).changed == 1
    (after,) = await shop.rows("SELECT * FROM messor.products")
    assert (after["id"], float(after["price"])) == (before["id"], 17.5)
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    prices = await shop.rows("SELECT price FROM messor.product_prices ORDER BY seen_at")
    assert [float(row["price"]) for row in prices] == [19.9, 17.5]
    (told,) = await shop.events("product.price_changed")
    assert (told["before"], told["after"], told["currency"]) == (19.9, 17.5, "EUR")
    (change,) = await shop.rows("SELECT * FROM messor.record_changes WHERE state = 'changed'")
    assert (change["field"], change["before"], change["after"]) == ("price", "19.9", "17.5")
    assert change["cause"] == "page"
    (told,) = await shop.events("record.changed")
    assert told["fields"] == ["price"]


async def test_other_words_around_the_same_product_do_not_touch_it(shop: Bench) -> None:
    await shop.crawl()
    await shop.extract()
    (before,) = await shop.rows("SELECT * FROM messor.products")
    shop.set("/kettle", product(words="Now with a new text."))
    await shop.crawl()
    assert (await shop.extract()).pages == 1
    (after,) = await shop.rows("SELECT * FROM messor.products")
    assert after["updated_at"] == before["updated_at"]
    assert after["snapshot_id"] > before["snapshot_id"]
    assert len(await shop.rows("SELECT * FROM messor.product_prices")) == 1


async def test_a_product_that_goes_and_comes_back(shop: Bench) -> None:
    await shop.crawl()
    await shop.extract()
    shop.set("/kettle", SimResponse(404, (("Content-Type", HTML),), b"<p>Not here."))
    await shop.crawl()
    assert (await shop.extract()).removed > 0
    (row,) = await shop.rows("SELECT state, price FROM messor.products")
    assert (row["state"], float(row["price"])) == ("removed", 19.9)  # its last price is no zero
    assert [told["kind"] for told in await shop.events("record.removed")] == ["product"]
    assert (await shop.extract()).pages == 0
    shop.set("/kettle", product())
    await shop.crawl(hours=700)
    await shop.extract()
    (row,) = await shop.rows("SELECT state FROM messor.products")
    assert row["state"] == "current"
    states = await shop.rows(
        """SELECT c.state FROM messor.record_changes c JOIN messor.records r ON r.id = c.record_id
            WHERE r.kind = 'product' ORDER BY c.id"""
    )
    assert [row["state"] for row in states] == ["new", "removed", "returned"]


@pytest.mark.parametrize("after, told", [("17.50", [(19.9, 17.5)]), ("19.90", [])])
async def test_a_price_that_was_not_stated_for_a_while_is_held_against_the_last_one(
    after: str, told: list[tuple[float, float]], shop: Bench
) -> None:
    for price in ("19.90", "", after):
        shop.set("/kettle", product(price))
        await shop.crawl()
        await shop.extract()
    prices = await shop.rows("SELECT price FROM messor.product_prices ORDER BY seen_at")
    assert [row["price"] and float(row["price"]) for row in prices] == [19.9, None, float(after)]
    events = await shop.events("product.price_changed")
    assert [(event["before"], event["after"]) for event in events] == told


async def test_a_price_that_returns_to_what_it_was_is_a_change_again(shop: Bench) -> None:
    for price in ("19.90", "17.50", "19.90"):
        shop.set("/kettle", product(price))
        await shop.crawl(hours=240)
        await shop.extract()
    prices = await shop.rows("SELECT price FROM messor.product_prices ORDER BY seen_at")
    assert [float(row["price"]) for row in prices] == [19.9, 17.5, 19.9]


async def test_products_lost_by_pages_that_stay_are_alarming(tmp_path: Path, dsn: str) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 7)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        await bench.extract()
        for name in rooms:
            bench.set(f"/{name}", page(f"A page of another make, {name}"))
        await bench.crawl()
        await bench.extract()
        async with bench.opened() as database:
            (first, *_) = await health(database, kinds=["product"])
        assert (first.kind, first.held, first.lost, first.is_alarming) == ("product", 0, 6, True)


async def test_a_failed_fetch_takes_nothing_away(shop: Bench) -> None:
    await shop.crawl()
    await shop.extract()
    shop.set("/kettle", SimResponse(500, (("Content-Type", HTML),), b"<p>Sorry."))
    await shop.crawl()
    assert (await shop.extract()).pages == 0
    (row,) = await shop.rows("SELECT state, price FROM messor.products")
    assert (row["state"], float(row["price"])) == ("current", 19.9)


async def test_a_reader_killed_in_between_loses_nothing_and_doubles_nothing(
    tmp_path: Path, dsn: str
) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 9)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        async with bench.opened() as database:
            await queue.catch_up(database)
            running = asyncio.create_task(bench.extractor(database).run())
            await until(lambda: bench.readers.pids)
            os.kill(bench.readers.pids[0], signal.SIGKILL)
            tally = await running
        assert tally.put_off == 1
        assert tally.pages == 8
        bench.hours += 1
        assert (await bench.extract()).pages == 1
        rows = await bench.rows("SELECT price FROM messor.products ORDER BY price")
        assert [float(row["price"]) for row in rows] == [n + 0.5 for n in range(1, 9)]
        assert len(await bench.rows("SELECT * FROM messor.product_prices")) == 8
        assert await bench.rows("SELECT * FROM messor.extraction_due") == []


async def test_a_transaction_cut_off_leaves_all_as_it_was(
    shop: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await shop.crawl()
    async with shop.opened() as database:
        await queue.catch_up(database)
        waiting = (await queue.waiting(database)).waiting
        with monkeypatch.context() as patch:
            patch.setattr("messor.extraction.extract.queue.finish", _cut_off)
            with pytest.raises(ConnectionResetError):
                await shop.extractor(database).run()
        assert (await queue.waiting(database)).waiting == waiting
        assert await database.fetch("SELECT FROM messor.records") == []
        assert (await shop.extractor(database).run()).pages == waiting
    assert len(await shop.rows("SELECT * FROM messor.products")) == 1


async def _cut_off(connection: Connection, ids: object) -> None:
    del ids
    await connection.execute("SELECT 1")
    raise ConnectionResetError


async def test_a_page_that_always_ends_its_reader_is_set_aside_with_its_reason(
    shop: Bench,
) -> None:
    await shop.crawl()
    async with shop.opened() as database:
        await database.fetch(
            "UPDATE messor.page_snapshots SET segment_offset = 0 WHERE title = 'Kettle'"
        )
        await queue.catch_up(database)
    for _ in range(4):
        shop.hours += 1
        async with shop.opened() as database:
            await shop.extractor(database).run()
    (fault,) = await shop.rows("SELECT * FROM messor.error_logs WHERE category = 'parse'")
    assert json.loads(fault["detail"])["url"] == f"http://{SHOP}/kettle"
    assert fault["error_message"].endswith(".")
    assert await shop.rows("SELECT * FROM messor.extraction_due") == []
    assert len(await shop.rows("SELECT * FROM messor.extractions")) == 1


async def test_what_postgresql_refuses_costs_itself_alone(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_bench(tmp_path, dsn, a=product(), b=product(name="Pot")) as bench:
        await bench.crawl()
        monkeypatch.setattr(bench.readers, "ask", _spoil(bench.readers.ask, "Pot"))
        tally = await bench.extract()
        assert (tally.pages, tally.set_aside) == (2, 1)
        assert [r["product_name"] for r in await bench.rows("SELECT * FROM messor.products")] == [
            "Kettle"
        ]
        (fault,) = await bench.rows("SELECT * FROM messor.error_logs WHERE category = 'storage'")
        assert json.loads(fault["detail"])["step"] == "extraction"


def _spoil(ask: Callable[[Any], Any], headline: str) -> Callable[[Any], Any]:
    async def spoilt(answer: asyncio.Future[ReaderAnswer]) -> ReaderAnswer:
        page = (await answer).page
        assert page is not None
        if page.metadata.get("title") == headline:
            page = msgspec.structs.replace(page, metadata_json='{"title": "\\u0000"}')
        return ReaderAnswer(page=page)

    return lambda orders: [asyncio.ensure_future(spoilt(answer)) for answer in ask(orders)]


async def test_rows_of_one_page_are_taken_one_after_another(shop: Bench) -> None:
    await shop.crawl()
    async with shop.opened() as database:
        await queue.catch_up(database)
        (row,) = await database.fetch(
            "SELECT page_id, snapshot_id FROM messor.extraction_due ORDER BY id LIMIT 1"
        )
        async with database.transaction() as connection:
            await queue.feed(connection, [row["page_id"]], [row["snapshot_id"]])
        async with database.transaction() as first, database.transaction() as second:
            taken = [each.page_id for each in await queue.claim(first, 10)]
            assert len(set(taken)) == len(taken) == 2
            assert await queue.claim(second, 10) == []


async def test_a_page_that_becomes_too_complex_keeps_what_it_had(shop: Bench) -> None:
    await shop.crawl()
    await shop.extract()
    before = await shop.rows("SELECT main_text, records FROM messor.extractions ORDER BY page_id")
    endless = b"<title>Kettle</title><p>It boils water." + b" and boils it" * 500_000
    shop.set("/kettle", SimResponse(200, (("Content-Type", HTML),), endless))
    await shop.crawl()
    assert (await shop.extract()).pages == 1
    assert before == await shop.rows(
        "SELECT main_text, records FROM messor.extractions ORDER BY page_id"
    )
    (row,) = await shop.rows("SELECT state, price FROM messor.products")
    assert (row["state"], float(row["price"])) == ("current", 19.9)
    warned = await shop.rows("SELECT warnings FROM messor.extractions WHERE warnings <> '[]'")
    assert len(warned) == 1


async def test_two_extractors_at_once_double_nothing(tmp_path: Path, dsn: str) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 9)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        async with bench.opened() as database, bench.opened() as other:
            await queue.catch_up(database)
            tallies = await asyncio.gather(
                bench.extractor(database, batch=2).run(), bench.extractor(other, batch=2).run()
            )
        assert sum(tally.pages for tally in tallies) == 9
        assert len(await bench.rows("SELECT * FROM messor.products")) == 8
        assert len(await bench.rows("SELECT * FROM messor.product_prices")) == 8


async def test_a_page_that_is_forgotten_is_forgotten_here_too(shop: Bench) -> None:
    await shop.crawl()
    await shop.extract()
    await shop.rows("SELECT messor.forget_pages(array_agg(id), true) FROM messor.pages")
    for table in ("records", "record_changes", "products", "product_prices", "product_images",
                  "extractions", "extraction_due"):  # fmt: skip
        assert await shop.rows(f"SELECT FROM messor.{table}") == [], table


CONTACT = "<p>Call <a href='tel:+4930901820'>+49 30 901820</a> now.</p>"
STANDING = "SELECT kind FROM messor.records WHERE state = 'current' ORDER BY kind"


async def test_kinds_that_are_not_read_stay_as_they_were(tmp_path: Path, dsn: str) -> None:
    async with opened_bench(tmp_path, dsn, kettle=product(words=CONTACT)) as bench:
        await bench.crawl()
        await bench.extract()
        before = [row["kind"] for row in await bench.rows(STANDING)]
        pictures = await bench.rows("SELECT * FROM messor.product_images ORDER BY id")
        assert {"contact", "image", "product"} <= set(before)
        assert len(pictures) == 2
        # Neither the contact nor a picture is there any more, and nobody looks for them.
        bare = product("17.50").body.replace(b"kettle.jpg", b"").replace(b"kettle-2.jpg", b"")
        bench.set("/kettle", SimResponse(200, (("Content-Type", HTML),), bare))
        await bench.crawl()
        async with bench.opened() as database:
            tally = await bench.extractor(database, kinds=frozenset(("product",))).run()
        assert (tally.pages, tally.records, tally.changed, tally.removed) == (1, 1, 1, 0)
        assert [row["kind"] for row in await bench.rows(STANDING)] == before
        assert await bench.rows("SELECT * FROM messor.product_images ORDER BY id") == pictures
        assert await bench.events("record.removed") == []
        (row,) = await bench.rows(
            "SELECT x.records FROM messor.extractions x JOIN messor.products p USING (page_id)"
        )
        assert row["records"] == len(before)
        async with bench.opened() as database:
            await queue.replay(database)
            assert (await bench.extractor(database).run()).removed > 0
        assert "contact" not in {row["kind"] for row in await bench.rows(STANDING)}


async def test_a_page_that_is_gone_takes_its_unread_kinds_along(shop: Bench) -> None:
    await shop.crawl()
    await shop.extract()
    shop.set("/kettle", SimResponse(404, (("Content-Type", HTML),), b"<p>Not here."))
    await shop.crawl()
    async with shop.opened() as database:
        tally = await shop.extractor(database, kinds=frozenset(("faq",))).run()
    assert tally.removed > 0
    assert "product" not in {row["kind"] for row in await shop.rows(STANDING)}


@pytest.mark.parametrize("bound", ["MOST_CHARS", "SLICE_SECONDS"])
async def test_a_batch_that_is_cut_short_is_gone_on_with(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 6)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        monkeypatch.setattr("messor.extraction.extract.SLICE", 2)
        async with bench.opened() as database:
            await queue.catch_up(database)
            extractor = bench.extractor(database)
            with monkeypatch.context() as patch:
                patch.setattr(f"messor.extraction.extract.{bound}", 0)
                assert await extractor.step() == 6
            done = {"MOST_CHARS": 2, "SLICE_SECONDS": 0}[bound]
            assert (extractor.tally.pages, extractor.tally.put_off) == (done, 0)
            assert (await queue.waiting(database)).waiting == 6 - done
            assert (await extractor.run()).pages == 6
        assert len(await bench.rows("SELECT * FROM messor.products")) == 5


async def test_a_replay_that_is_stopped_is_gone_on_with(tmp_path: Path, dsn: str) -> None:
    rooms = {f"item{n}": product(f"{n}.50", name=f"Kettle {n}") for n in range(1, 6)}
    async with opened_bench(tmp_path, dsn, **rooms) as bench:
        await bench.crawl()
        await bench.extract()
        before = await bench.rows("SELECT * FROM messor.products ORDER BY id")
        async with bench.opened() as database:
            assert await queue.replay(database) == 6
            assert await queue.replay(database) == 0  # what waits is not queued twice
            first: Extractor = bench.extractor(database, batch=1, progress=lambda _: first.stop())
            done = (await first.run()).pages
            assert 0 < done < 6
            assert (await queue.waiting(database)).replayed == 6 - done
            rest = await bench.extractor(database).run()
            assert (rest.pages, rest.changed, rest.new, rest.removed) == (6 - done, 0, 0, 0)
        assert await bench.rows("SELECT * FROM messor.products ORDER BY id") == before
        assert await bench.events("record.changed") == []


async def test_what_a_stopped_replay_left_is_read_as_the_next_one_has_it(shop: Bench) -> None:
    async with shop.opened() as database:
        await shop.crawl(hours=0)
        await shop.extract()
        assert await queue.replay(database, pin="products=0") == 2
        assert await queue.replay(database, pin="products=1") == 2
        rows = await shop.rows("SELECT DISTINCT pin FROM messor.extraction_due")
        assert [row["pin"] for row in rows] == ["products=1"]


async def test_a_change_waits_for_a_version_that_is_not_installed_here(shop: Bench) -> None:
    async with shop.opened() as database:
        async with database.transaction() as connection:
            await pins.pin(connection, "products", "0", domain_id=None, actor="tester")
        await shop.crawl(hours=0)
        tally = await shop.extract()
        assert (tally.pages, tally.put_off, tally.set_aside) == (0, 2, 0)
        rows = await shop.rows("SELECT attempts FROM messor.extraction_due")
        assert [row["attempts"] for row in rows] == [0, 0]
        assert await shop.rows("SELECT * FROM messor.extractions") == []
        async with database.transaction() as connection:
            await pins.lift(connection, "products", domain_id=None, actor="tester")
        shop.hours += 1
        assert (await shop.extract()).pages == 2


async def test_a_comparison_reads_by_what_is_pinned(shop: Bench) -> None:
    async with shop.opened() as database:
        await shop.crawl(hours=0)
        await shop.extract()
        archive = shop.settings.data_dir / "archive"
        assert (await compare_archive(database, archive, processes=1)).pages == 2
        async with database.transaction() as connection:
            await pins.pin(connection, "products", "0", domain_id=None, actor="tester")
        told = await compare_archive(database, archive, processes=1)
        assert (told.pages, told.unreadable) == (0, 2)  # no such version is there


async def test_one_that_follows_asks_an_empty_queue_by_one_connection_and_takes_what_comes(
    shop: Bench,
) -> None:
    async with shop.opened() as database:
        extractor = shop.extractor(database)
        following = asyncio.create_task(extractor.run(follow=True))
        before = database.round_trips
        await until(lambda: database.round_trips >= before + 12)  # some looks
        (row,) = await shop.rows(CONNECTIONS)
        await shop.crawl(hours=0)
        await until(lambda: extractor.tally.pages == 2)
        extractor.stop()
        await following
    assert row["others"] == 1
    assert await shop.rows("SELECT * FROM messor.extraction_due") == []


async def test_a_page_that_is_read_again_and_says_the_same_is_not_written_again(
    shop: Bench,
) -> None:
    words = " ".join(f"Kettle number {number} boils {number * 7} cups." for number in range(2000))
    shop.set("/kettle", product(words=words))
    await shop.crawl()
    await shop.extract()
    records = await shop.rows(VERSIONS)
    (before,) = await shop.rows(TEXTS)
    async with shop.opened() as database:
        assert await queue.replay(database) == 2
    assert (await shop.extract()).pages == 2
    (after,) = await shop.rows(TEXTS)
    assert await shop.rows(VERSIONS) == records
    assert after["characters"] == before["characters"] > 100_000
    assert after["bytes"] - before["bytes"] < before["characters"] / 2


async def test_pages_of_another_machine_are_left_to_it(
    shop: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their archive is elsewhere: no attempt is counted, and they come again soon."""
    await shop.crawl(hours=0)
    readers = shop.readers
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("socket.gethostname", lambda: "another")
        async with shop.opened() as database:
            await queue.catch_up(database)
            tally = await Extractor(database, tmp_path / "empty", readers).run()
    assert (tally.pages, tally.put_off, tally.set_aside) == (0, 2, 0)
    rows = await shop.rows("SELECT attempts FROM messor.extraction_due")
    assert [row["attempts"] for row in rows] == [0, 0]
    shop.hours += 1
    assert (await shop.extract()).pages == 2


def kettles(*cards: tuple[str, str, str]) -> SimResponse:
    """A list of products: name, price and link of each."""
    items = "".join(
        f'<li class="card"><a href="{link}">{name}</a> <b class="price">€{price}</b></li>'
        if link
        else f'<li class="card product"><h3>{name}</h3> <b class="price">€{price}</b></li>'
        for name, price, link in cards
    )
    body = f"<!doctype html><title>Kettles</title><h1>Kettles</h1><ul>{items}</ul>"
    return SimResponse(200, (("Content-Type", HTML),), body.encode())


async def test_cards_are_products_at_their_links_until_those_pages_are_read(
    tmp_path: Path, dsn: str
) -> None:
    cards = [(f"Kettle {n}", f"{n}0.50", f"/p/{n}") for n in range(1, 7)]
    others = [
        ("Old kettle", "5.00", ""),
        ("Far kettle", "9.00", "//far.example/k"),
        ("Lost kettle", "7.00", "/p/lost"),
    ]
    async with opened_bench(tmp_path, dsn, kettles=kettles(*cards, *others)) as shop:
        for _, _, link in cards:
            shop.set(link, page("Soon"))
        await shop.crawl()
        await shop.extract()
        sql = (
            "SELECT q.*, p.url AS place FROM messor.products q JOIN messor.pages p"
            " ON p.id = q.page_id ORDER BY p.url"
        )
        first = await shop.rows(sql)
        assert [(row["product_name"], float(row["price"]), row["url"]) for row in first] == [
            (name, float(price), f"http://{SHOP}{link}") for name, price, link in cards
        ]
        assert all(row["url"] == row["place"] and row["listing_page_id"] for row in first)
        assert {round(row["confidence"], 2) for row in first} == {0.7}
        records = await shop.rows("SELECT kind, data FROM messor.records WHERE kind ~ 'product'")
        assert [row["kind"] for row in records] == ["listed_product"] * 9
        prices = await shop.rows("SELECT price FROM messor.product_prices")
        assert len(prices) == 6

        # One page says more now, one is gone; the list asks more for all.
        shop.set("/p/1", product("12.00", name="Kettle 1"))
        del shop.web.houses[SHOP].rooms["/p/2"]
        shop.set("/kettles", kettles(*[(name, f"9{price}", link) for name, price, link in cards]))
        await shop.crawl(24 * 14)
        await shop.extract()
        row, gone, *rest = await shop.rows(sql)
        assert (row["id"], row["price"], row["sku"]) == (first[0]["id"], 12, "K-100")
        assert row["listing_page_id"] is None
        assert row["confidence"] > 0.9
        assert row["created_at"] == first[0]["created_at"]
        assert (gone["state"], gone["listing_page_id"]) == ("removed", None)
        assert [(float(one["price"]), one["state"]) for one in rest] == [
            (float(f"9{price}"), "current") for _, price, _ in cards[2:]
        ]
        changed = await shop.events("product.price_changed")
        assert {event["url"] for event in changed} >= {f"http://{SHOP}/p/{n}" for n in (1, 3, 6)}

        # The list cannot overrule the page.
        shop.set("/kettles", kettles(*[(name, "1.00", link) for name, _, link in cards]))
        await shop.crawl(24 * 14)
        await shop.extract()
        row, gone, *rest = await shop.rows(sql)
        assert (row["price"], gone["state"]) == (12, "removed")
        assert {one["price"] for one in rest} == {1}
        assert (
            await shop.rows(
                "SELECT url_hash FROM messor.products GROUP BY url_hash HAVING count(*) > 1"
            )
            == []
        )
