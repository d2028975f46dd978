"""An open overview is told of events when they are committed, not when somebody looks next."""

from __future__ import annotations

import asyncio

import pytest

from messor.console.views import overview
from messor.ledger.events import Event, record
from messor.store.database import Database
from tests.console.conftest import Visitor
from tests.console.test_overview import read_until

NEVER = 3_600.0


async def _listens(database: Database) -> None:
    """Wait until a process listens for events."""
    async with asyncio.timeout(60):
        while not await database.fetchval(  # noqa: ASYNC110 - a database has no event
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND state = 'idle'"
            " AND datname = current_database()"
        ):
            await asyncio.sleep(0.01)


async def test_an_event_is_pushed(
    admin: Visitor, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nobody looking by himself, a notice alone brings it: one after the other."""
    monkeypatch.setattr(overview, "TICK_SECONDS", NEVER)
    async with admin.session.get(f"{admin.base}/live") as answer:
        await read_until(answer.content, "event: overview")
        await _listens(database)
        for number in range(5):
            mark = f"it was number {number}"
            async with database.transaction() as connection:
                await record(connection, [Event("page.flagged", "tester", data={"reason": mark})])
            await read_until(answer.content, mark)


async def test_the_listener_goes_with_the_last_page(admin: Visitor, database: Database) -> None:
    async with admin.session.get(f"{admin.base}/live") as answer:
        await read_until(answer.content, "event: overview")
        await _listens(database)
    async with asyncio.timeout(60):
        while await database.fetchval(  # noqa: ASYNC110 - a database has no event
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        ):
            await asyncio.sleep(0.01)
