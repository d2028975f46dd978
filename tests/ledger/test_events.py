"""Events are read in commit order: nothing that commits late is lost, nothing is read twice."""

from __future__ import annotations

import asyncio

import asyncpg
import msgspec
import pytest

from messor.ledger.events import Event, data_of, record
from messor.ledger.queries import START
from messor.store.database import Database
from messor.store.listing import Position
from tests.recorded import read_after

PAGE = "https://shop.example/item?key=123&session=winter"


async def actors_after(database: Database, cursor: Position) -> tuple[list[str], Position]:
    read = await read_after(database, cursor)
    return [r.actor for r in read], read[-1].position if read else cursor


async def test_a_lower_id_that_commits_later_is_not_lost(database: Database) -> None:
    async with database.transaction() as slow:
        await record(slow, [Event("domain.noted", "slow")])
        async with database.transaction() as quick:
            await record(quick, [Event("domain.noted", "quick")])
        # The quick one is committed, yet reading it now would step over the slow one.
        assert await actors_after(database, START) == ([], START)
    types, cursor = await actors_after(database, START)
    assert types == ["slow", "quick"]
    assert await actors_after(database, cursor) == ([], cursor)


async def test_an_id_taken_late_by_an_old_transaction_is_not_lost(database: Database) -> None:
    async with database.transaction() as old:
        await record(old, [Event("domain.noted", "first")])
        async with database.transaction() as other:
            await record(other, [Event("domain.noted", "between")])
        await record(old, [Event("domain.noted", "second")])
    types, _ = await actors_after(database, START)
    assert types == ["first", "second", "between"]


async def test_what_rolls_back_never_happened(database: Database) -> None:
    with pytest.raises(asyncpg.DivisionByZeroError):  # noqa: PT012 - the transaction is the point
        async with database.transaction() as connection:
            await record(connection, [Event("domain.noted", "undone")])
            await connection.execute("SELECT 1/0")
    assert await read_after(database, START) == []


async def test_pages_of_a_long_ledger_join_without_gap_or_overlap(database: Database) -> None:
    async def write(number: int) -> None:
        async with database.transaction() as connection:
            await record(connection, [Event("domain.noted", f"e{number}.{n}") for n in range(5)])

    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(write(number))
    read: list[str] = []
    cursor = START
    while page := await read_after(database, cursor, limit=7):
        read += [recorded.actor for recorded in page]
        cursor = page[-1].position
    assert len(read) == 100
    assert len(set(read)) == 100


async def test_a_reader_beside_many_writers_misses_none(database: Database) -> None:
    read: list[str] = []

    async def write(number: int) -> None:
        async with database.transaction() as connection:
            await record(connection, [Event("domain.noted", f"{number}")])
            await asyncio.sleep(0.001 * (number * 7 % 5))

    async def follow() -> None:
        cursor = START
        while len(read) < 60:
            types, cursor = await actors_after(database, cursor)
            read.extend(types)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(follow())
        for number in range(60):
            group.create_task(write(number))
    assert sorted(read, key=int) == [str(number) for number in range(60)]


async def test_events_carry_what_they_were_given(database: Database) -> None:
    given = Event("page.flagged", "reviewer", page_id=7, data={"text": "Grüße \u2028 '\"", "n": 1})
    async with database.transaction() as connection:
        await record(connection, [given])
        await record(connection, [])
    (recorded,) = await read_after(database, START)
    found = (recorded.type, recorded.actor, recorded.page_id, recorded.data)
    assert found == (given.type, given.actor, given.page_id, given.data)
    assert recorded.occurred_at.tzinfo is not None


@pytest.mark.parametrize(
    "kind",
    ["url.submitted", "crawl.started", "candidate.approved", "extraction.completed",
     "record.changed", "product.price_changed"],
)  # fmt: skip
def test_the_url_of_a_page_leads_there(kind: str) -> None:
    stored = {"url": PAGE, "reason": f"GET {PAGE} failed"}
    told = data_of(kind, msgspec.json.encode(stored).decode())
    assert told["url"] == PAGE
    assert "winter" not in told["reason"]
    stored = {"url": "https://ada:hunter2@shop.example/item?key=123"}
    told = data_of(kind, msgspec.json.encode(stored).decode())
    assert told["url"] == "https://ada:…@shop.example/item?key=123"


def test_what_else_holds_the_url_of_a_page() -> None:
    paused = msgspec.json.encode({"scope": "url", "name": PAGE}).decode()
    assert data_of("tasks.paused", paused)["name"] == PAGE
    corrected = {"field": "url", "found": PAGE, "correct": f"{PAGE}&a=b"}
    assert data_of("record.corrected", msgspec.json.encode(corrected).decode()) == corrected


@pytest.mark.parametrize("kind", ["webhook.added", "proxy.added", "schedule.failed", "new.kind"])
def test_other_urls_tell_no_secret(kind: str) -> None:
    told = data_of(kind, msgspec.json.encode({"url": PAGE}).decode())
    assert "winter" not in told["url"]


async def test_an_undeclared_type_is_refused(database: Database) -> None:
    with pytest.raises(ValueError, match=r"undeclared event types: domain\.sold"):
        async with database.transaction() as connection:
            await record(connection, [Event("domain.sold", "reviewer")])
