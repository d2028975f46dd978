"""Error logs take whatever an error says."""

from __future__ import annotations

from messor.ledger.errors import LoggedError, log
from messor.store.database import Database


async def test_a_fault_with_nul_bytes_is_kept(database: Database) -> None:
    error = ValueError("bad \x00 value")
    fault = LoggedError.of_task(3, "storage", error, "trace \x00", {"url": "http://one.test/"})
    async with database.transaction() as connection:
        await log(connection, [fault, LoggedError("internal", "X", "y", None)])
    rows = await database.fetch("SELECT * FROM messor.error_logs ORDER BY crawl_task_id")
    assert (rows[0]["error_message"], rows[0]["error_type"]) == ("bad  value", "ValueError")
    assert len(rows) == 2


async def test_a_url_with_a_nul_byte_does_not_cost_the_fault(database: Database) -> None:
    fault = LoggedError.of_task(3, "storage", ValueError("x"), "", {"url": "http://one.test/\x00"})
    async with database.transaction() as connection:
        await log(connection, [fault])
    assert await database.fetchval("SELECT count(*) FROM messor.error_logs") == 1


async def test_the_url_of_a_page_is_kept_and_others_lose_their_secrets(database: Database) -> None:
    url = "https://shop.example/item?key=123"
    faults = [
        LoggedError.of_task(3, "storage", ValueError("x"), "", {"url": url}),
        LoggedError("http", "X", "y", None, detail={"url": url}),
    ]
    async with database.transaction() as connection:
        await log(connection, faults)
    rows = await database.fetch(
        "SELECT detail ->> 'url' AS url FROM messor.error_logs ORDER BY crawl_task_id"
    )
    assert [row["url"] for row in rows] == [url, "https://shop.example/item?key=…"]
