"""The bell: rings on commit and not before, for all who wait, and again after a lost connection."""

from __future__ import annotations

import asyncio

from messor.ledger.events import Event, record
from messor.store.bell import NotificationListener
from messor.store.database import Database
from tests.crawling import until

LISTENERS = """
SELECT pid FROM pg_stat_activity
 WHERE query LIKE 'LISTEN%' AND datname = current_database() AND pid <> pg_backend_pid()
"""
LONG = 60.0


async def test_it_rings_on_commit(database: Database) -> None:
    bell = NotificationListener(database)
    async with bell.listening():
        await until(lambda: bell.rings)  # it listens
        heard = bell.rings
        async with database.transaction() as connection:
            await record(connection, [Event("test.one", "tester")])
            assert await database.fetchval("SELECT 1") == 1
            assert bell.rings == heard
        waiting = [bell.wait(heard, LONG) for _ in range(3)]
        assert await asyncio.gather(*waiting) == [heard + 1] * 3
    async with asyncio.timeout(LONG):  # a backend ends a moment after its client hung up
        while await database.fetch(LISTENERS):  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.01)


async def test_what_rang_before_is_not_waited_for(database: Database) -> None:
    bell = NotificationListener(database)
    bell.ring()
    assert await bell.wait(0, LONG) == 1
    assert await bell.wait(1, 0.01) == 1


async def test_a_lost_connection_is_opened_again(database: Database) -> None:
    bell = NotificationListener(database)
    async with bell.listening():
        await until(lambda: bell.rings)
        heard = bell.rings
        await database.fetch(f"SELECT pg_terminate_backend(pid) FROM ({LISTENERS}) l")
        # Whoever waited looks again then: what was committed meanwhile was not heard of.
        heard = await bell.wait(heard, LONG)
        async with database.transaction() as connection:
            await record(connection, [Event("test.two", "tester")])
        assert await bell.wait(heard, LONG) > heard
