"""Every statement that a specification prints runs in its schema, as printed, and does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from messor.store.database import Connection, Database
from tests.specs import statements
from tests.specs.statements import PRINTED, SCHEMAS, SPECS, is_complete, printed, words

PAGE = (Path(__file__).parents[2] / "docs" / "spec-names.md").read_text(encoding="utf-8")


async def speak(connection: Connection, schema: str) -> None:
    """Let names mean those of a specification."""
    await connection.execute(f"SET LOCAL search_path = {schema}")


async def test_every_printed_statement_runs(filled: Database) -> None:
    for schema, texts in PRINTED.items():
        for text in texts:
            async with filled.transaction() as connection:
                await speak(connection, schema)
                await connection.execute(text)


async def test_a_submitted_task_is_pending_with_its_event(filled: Database) -> None:
    async with filled.transaction() as connection:
        await speak(connection, "forager")
        await connection.execute(statements.SUBMIT)
        rows = await connection.fetch(statements.PENDING)
        same = await connection.fetch(statements.DUE)
    found = {row["url"]: row for row in rows}
    task = found["https://example.com/product1"]
    assert (task["status"], task["priority"], task["domain_id"]) == ("pending", 5, 1)
    assert (task["retry_count"], task["max_retries"], len(task["url_hash"])) == (0, 3, 64)
    assert task["scheduled_at"] <= await filled.fetchval("SELECT now()")
    assert {row["url"] for row in same} == found.keys()
    assert [row["priority"] for row in rows] == sorted(row["priority"] for row in rows)
    event = await filled.fetchrow("SELECT * FROM events WHERE type = 'url.submitted'")
    assert event is not None
    assert (event["page_id"], event["actor"].split(":")[0]) == (task["id"], "sql")


async def test_products_are_asked_for_by_price_and_by_words(filled: Database) -> None:
    async with filled.transaction() as connection:
        await speak(connection, "forager")
        (row,) = await connection.fetch(statements.BY_PRICE)
        (found,) = await connection.fetch(statements.FULL_TEXT)
    assert (row["product_name"], row["domain_name"], row["price"]) == (
        "Headphones", "example.com", found["price"],
    )  # fmt: skip


async def test_a_proxy_that_failed_eleven_times_is_switched_off(filled: Database) -> None:
    async with filled.transaction() as connection:
        await speak(connection, "forager")
        await connection.execute(statements.FAILING_PROXIES)
    rows = await filled.fetch("SELECT proxy_url, is_active FROM proxies ORDER BY 1")
    assert [tuple(row) for row in rows] == [("10.0.0.1", True), ("10.0.0.2", False)]
    (event,) = await filled.fetch("SELECT data FROM events WHERE type = 'proxy.disabled'")
    assert "10.0.0.2" in event["data"]


async def test_unproductive_urls_are_those_without_a_record(filled: Database) -> None:
    async with filled.transaction() as connection:
        await speak(connection, "approval")
        rows = await connection.fetch(statements.UNPRODUCTIVE)
    assert [row["url"] for row in rows] == ["https://example.com/empty"]


async def test_no_domain_lacks_a_status(filled: Database) -> None:
    async with filled.transaction() as connection:
        await speak(connection, "approval")
        assert await connection.execute(statements.BACKFILL) == "UPDATE 0"


@pytest.mark.skipif(not SPECS.is_dir(), reason="the specifications are not here")
def test_all_complete_statements_of_the_specifications_are_tried() -> None:
    for path in sorted(SPECS.glob("*.txt")):
        schema = SCHEMAS[path.name[:3]]
        tried = {words(text) for text in PRINTED.get(schema, ())}
        complete = {text for text in printed(path.read_text()) if is_complete(text)}
        assert complete == tried, schema


@pytest.mark.skipif(not SPECS.is_dir(), reason="the specifications are not here")
def test_what_does_not_run_is_listed() -> None:
    for path in sorted(SPECS.glob("*.txt")):
        for statement in printed(path.read_text()):
            assert is_complete(statement) or f"| `{statement}` |" in PAGE
