"""The change feed: every change once, in commit order, with before, after and evidence."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from messor.errors import CursorExpiredError, UsageError
from messor.feed.queries import CHANGES, Change, ChangeFilter, newest, read_feed
from messor.records import listed_rows
from messor.store.database import Database
from tests.harvested import open_harvest, product_html

EVERYTHING = ChangeFilter()


async def changes(database: Database, **wanted: Any) -> list[Change]:
    return (await read_feed(database, ChangeFilter(**wanted))).items


async def test_a_record_is_told_with_what_it_was_and_what_it_became(database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(price="49.90"), timedelta(days=2))
    await shop.see("/kettle", product_html(price="39.90"), timedelta(days=1))
    await shop.see("/kettle", None)
    told = await changes(database, kinds="product")
    assert [one.state for one in told] == ["new", "changed", "removed"]
    new, changed, removed = told
    assert {one.subject for one in told} == {f"record:{new.record_id}"}
    assert (new.domain, new.url) == ("shop.example", "https://shop.example/kettle")
    assert new.product_id == await shop.product_id("/kettle")
    assert new.before is None
    assert new.after is not None
    assert (new.after["price"], new.after["product_name"]) == (
        49.9,
        "Copper kettle",
    )  # as it was then
    assert (changed.before, changed.after) == ({"price": 49.9}, {"price": 39.9})
    assert changed.evidence is not None
    assert changed.evidence["fields"]["price"]["quote"] == '"price": "39.90"'
    assert removed.before is not None
    assert (removed.before["price"], removed.after) == (39.9, None)


async def test_a_changed_record_is_told_whole_on_request(database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(price="49.90"), timedelta(days=2))
    await shop.see("/kettle", product_html(price="39.90"), timedelta(days=1))
    await shop.see("/kettle", product_html(price="29.90"))
    page = await read_feed(database, ChangeFilter(kinds="product", state="changed"), whole=True)
    then, now = page.items
    assert (then.before, now.before) == ({"price": 49.9}, {"price": 39.9})
    assert then.after is not None
    assert now.after is not None
    assert (then.after["price"], now.after["price"]) == (39.9, 29.9)  # as it was then
    assert then.after["product_name"] == now.after["product_name"] == "Copper kettle"


async def test_a_page_is_told_with_both_its_snapshots(database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/a", product_html(), timedelta(days=1))
    await shop.see("/a", product_html(price="1.00"))
    rows = await database.fetch("SELECT id FROM messor.page_snapshots ORDER BY id")
    first, second = (row["id"] for row in rows)
    before, changed = await changes(database, kinds="page")
    assert (before.before, before.after and before.after["snapshot_id"]) == (None, first)
    assert (changed.before and changed.before["snapshot_id"]) == first
    assert (changed.after and changed.after["snapshot_id"]) == second
    assert changed.evidence is not None
    assert changed.evidence["snapshot_id"] == second


async def test_domains_are_told_with_their_event(database: Database) -> None:
    await open_harvest(database)
    told = await changes(database, kinds="domain")
    assert told[0].topic == "domain.submitted"
    assert (told[0].state, told[0].domain) == ("new", "shop.example")
    assert "domain.approved" in {one.topic for one in told}
    assert all(one.evidence and one.evidence["event_id"] for one in told)


async def test_a_cursor_continues_where_it_was(database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html(), timedelta(days=1))
    page = await read_feed(database, EVERYTHING, limit=2)
    assert len(page.items) == 2
    read = [*page.items]
    while page.next:
        page = await read_feed(database, EVERYTHING, cursor=page.next, limit=2)
        read += page.items
    assert [one.id for one in read] == [one.id for one in await changes(database)]
    assert (await read_feed(database, EVERYTHING, cursor=page.cursor)).items == []
    await shop.see("/kettle", product_html(price="1.00"))
    page_entry, after = (await read_feed(database, EVERYTHING, cursor=page.cursor)).items
    assert (page_entry.kind, after.after) == ("page", {"price": 1.0})


async def test_a_reader_whose_filter_matches_nothing_moves_on(database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html())
    none = ChangeFilter(kinds="opportunity")
    page = await read_feed(database, none)
    assert page.items == []
    end = await newest(database)
    assert CHANGES.position_at(none, "committed", page.cursor) == end


async def test_a_cursor_whose_entries_were_dropped_says_so(database: Database) -> None:
    shop = await open_harvest(database)
    await shop.see("/kettle", product_html())
    page = await read_feed(database, EVERYTHING, limit=1)
    await database.fetch("DELETE FROM messor.changes")
    with pytest.raises(CursorExpiredError, match="no longer kept"):
        await read_feed(database, EVERYTHING, cursor=page.cursor)


async def test_a_cursor_of_other_filters_is_refused(database: Database) -> None:
    page = await read_feed(database, EVERYTHING)
    with pytest.raises(UsageError, match="cursor is invalid"):
        await read_feed(database, ChangeFilter(kinds="page"), cursor=page.cursor)


async def test_a_transaction_that_commits_late_is_not_stepped_over(database: Database) -> None:
    shop = await open_harvest(database)
    pages = [await shop.see(f"/{name}", None) for name in ("slow", "quick")]
    start = (await read_feed(database, EVERYTHING)).cursor
    note = """INSERT INTO messor.page_changes (page_id, seen_at, state)
              VALUES ($1, messor.clock(), 'changed')"""
    async with database.transaction() as slow:
        await slow.execute(note, pages[0])
        async with database.transaction() as quick:
            await quick.execute(note, pages[1])
        held = await read_feed(database, EVERYTHING, cursor=start)
        assert held.items == []
    told = (await read_feed(database, EVERYTHING, cursor=held.cursor)).items
    assert [one.page_id for one in told] == pages


async def test_a_listed_product_whose_page_is_gone_is_told(database: Database) -> None:
    """Its record is the card, which stays: only the product is removed."""
    shop = await open_harvest(database)
    page_id = await shop.see("/kettle", product_html())
    product_id = await shop.product_id("/kettle")
    await database.fetch("UPDATE messor.products SET listing_page_id = 1")
    start = (await read_feed(database, EVERYTHING)).cursor
    await database.fetch(listed_rows.END, [page_id])
    (told,) = (await read_feed(database, EVERYTHING, cursor=start)).items
    assert (told.state, told.subject) == ("removed", f"product:{product_id}")
    assert (told.page_id, told.product_id) == (page_id, product_id)
    assert (told.before, told.after) == (None, None)
