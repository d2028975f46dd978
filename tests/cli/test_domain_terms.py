"""Terms of a domain from the command line, and what follows for pages already scheduled."""

from __future__ import annotations

from asyncio import run
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from messor.extraction.extract import Extractor
from messor.extraction.reader_pool import ReaderPool
from messor.store.database import Database
from simweb.answers import SimResponse
from tests.cli.conftest import Messor
from tests.crawling import admit, crawl, later
from tests.little_web import LittleWeb, page

HOUR = timedelta(hours=1)
DUE = """
SELECT p.url, t.due_at, t.last_fetched_at, t.due_at - t.last_fetched_at AS wait
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id WHERE t.kind = 'page'
"""
MISSING = "http://one.test/missing"


def shop(price: str) -> SimResponse:
    body = f"""<title>Tea | Shop</title><h1>Green tea</h1><p class="price">&pound;{price}</p>
      <p>SKU: TEA-1</p><button>Add to basket</button><p>Good tea of the first harvest.</p>"""
    return SimResponse(200, (("Content-Type", "text/html"),), body.encode())


async def waits(dsn: str) -> dict[str, Any]:
    async with Database(dsn) as database:
        return {row["url"]: row for row in await database.fetch(DUE)}


async def visit(dsn: str, folder: Path, price: str, after: timedelta = timedelta()) -> None:
    """Crawl the shop at some time and extract what came."""
    rooms = {"/": page("Home", "/tea", "/missing"), "/tea": shop(price)}
    async with (
        LittleWeb(folder, {"one.test": rooms}) as web,
        Database(later(dsn, after)) as database,
    ):
        if not after:
            await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        readers = ReaderPool(1)
        await Extractor(database, web.settings().data_dir / "archive", readers).run()
        await readers.close()


def test_a_shorter_frequency_applies_to_scheduled_pages(
    dsn: str, tmp_path: Path, messor: Messor
) -> None:
    run(visit(dsn, tmp_path, "10.00"))
    assert all(each["wait"] > 12 * HOUR for each in run(waits(dsn)).values())
    told = messor("domains", "configure", "one.test", "--every", "1", "--json")
    assert told.code == 0
    assert told.json["scrape_frequency_hours"] == 1
    found = run(waits(dsn))
    assert found.pop(MISSING)["wait"] > 12 * HOUR, "a missing page is asked for rarely"
    assert {each["wait"] for each in found.values()} == {HOUR}
    assert messor("domains", "configure", "one.test", "--every", "48").code == 0
    assert {each["wait"] for each in run(waits(dsn)).values()} >= {HOUR}, "nothing is put off"


def test_a_page_that_is_overdue_by_the_new_frequency_is_due_now(
    dsn: str, tmp_path: Path, messor: Messor
) -> None:
    run(visit(dsn, tmp_path, "10.00"))

    async def age() -> None:
        async with Database(dsn) as database:
            await database.fetch(
                "UPDATE messor.crawl_tasks SET last_fetched_at = last_fetched_at - interval '5 hours'"
            )

    run(age())
    assert messor("domains", "configure", "one.test", "--every", "1").code == 0

    async def claimable() -> datetime:
        async with Database(dsn) as database:
            found: datetime = await database.fetchval("SELECT claim_at FROM messor.lanes")
            return found

    found = run(waits(dsn))["http://one.test/tea"]
    assert found["wait"] >= 5 * HOUR
    assert run(claimable()) <= found["due_at"], "its lane wakes up for it"


def test_a_price_that_changes_in_the_text_is_followed_closely(
    dsn: str, tmp_path: Path, messor: Messor
) -> None:
    run(visit(dsn, tmp_path, "10.00"))
    assert [each["price"] for each in messor("products", "list", "--json").json] == [10]
    run(visit(dsn, tmp_path, "12.00", timedelta(days=2)))
    assert [each["price"] for each in messor("products", "list", "--json").json] == [12]
    tea = run(waits(dsn))["http://one.test/tea"]
    assert tea["wait"] <= 6 * HOUR + timedelta(minutes=2), "a quarter of a day, not a day"


def test_a_priority_is_set_shown_and_refused(dsn: str, tmp_path: Path, messor: Messor) -> None:
    run(visit(dsn, tmp_path, "10.00"))
    assert messor("domains", "configure", "one.test", "--priority", "1").code == 0
    assert messor("domains", "show", "one.test", "--json").json["priority"] == 1
    refused = messor("domains", "configure", "one.test", "--priority", "11")
    assert refused.code == 2
    assert "1<=x<=10" in refused.err
