"""Notifications arrive on commit and not before, for all waiters, and after a lost connection."""

from __future__ import annotations

import asyncio

from messor.ledger.events import Event, record
from messor.store.database import Database
from messor.store.notifications import NotificationListener
from tests.crawling import until

LISTENERS = """
SELECT pid FROM pg_stat_activity
 WHERE query LIKE 'LISTEN%' AND datname = current_database() AND pid <> pg_backend_pid()
"""
LONG = 60.0


async def test_it_rings_on_commit(database: Database) -> None:
    listener = NotificationListener(database)
    async with listener.listening():
        await until(lambda: listener.rings)  # it listens
        heard = listener.rings
        async with database.transaction() as connection:
            await record(connection, [Event("domain.noted", "tester")])
            assert await database.fetchval("SELECT 1") == 1
            assert listener.rings == heard
        waiting = [listener.wait(heard, LONG) for _ in range(3)]
        assert await asyncio.gather(*waiting) == [heard + 1] * 3
    async with asyncio.timeout(LONG):  # a backend ends a moment after its client hung up
        while await database.fetch(LISTENERS):  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.01)


async def test_what_rang_before_is_not_waited_for(database: Database) -> None:
    listener = NotificationListener(database)
    listener.ring()
    assert await listener.wait(0, LONG) == 1
    assert await listener.wait(1, 0.01) == 1


async def test_a_lost_connection_is_opened_again(database: Database) -> None:
    listener = NotificationListener(database)
    async with listener.listening():
        await until(lambda: listener.rings)
        heard = listener.rings
        await database.fetch(f"SELECT pg_terminate_backend(pid) FROM ({LISTENERS}) l")
        # Whoever waited looks again then: what was committed meanwhile was not heard of.
        heard = await listener.wait(heard, LONG)
        async with database.transaction() as connection:
            await record(connection, [Event("domain.kept", "tester")])
        assert await listener.wait(heard, LONG) > heard
