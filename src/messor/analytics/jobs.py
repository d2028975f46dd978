"""The job that brings the tables of analytics up to date, and how it is asked for."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from messor.analytics.answers import store_of
from messor.analytics.sync import Synced, sync
from messor.jobs import jobs
from messor.jobs.handlers import LONG_SECONDS, Effects, Handlers, Result
from messor.jobs.jobs import Job, NewJob
from messor.records import old_products
from messor.records.old_products import ArchivedProducts
from messor.settings import Settings
from messor.store.database import Connection, Database

SYNC = "analytics_sync"
WINDOW = timedelta(hours=2)


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the job's handler in a process; it does one at a time."""
    turn = asyncio.Lock()

    @handlers.prepares(SYNC, limit_seconds=LONG_SECONDS)
    async def follow(_: Job) -> Effects:
        async with turn:
            store = await asyncio.to_thread(store_of, settings)
            with store:
                done = await sync(database, store)
            moved = ArchivedProducts()
            if settings.product_archive_days:
                age = timedelta(days=settings.product_archive_days)
                moved = await old_products.archive(database, age)
        return partial(_counted, done, moved)


async def _counted(done: Synced, moved: ArchivedProducts, _: Connection) -> Result:
    return {**asdict(done), "products_archived": moved.products}


async def ask(connection: Connection) -> UUID | None:
    """Enqueue this hour's run; None if it is asked for already."""
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    key = f"{SYNC}:{now:%Y-%m-%dT%H}"
    new = await jobs.enqueue(
        connection, [NewJob(SYNC, key, "analytics", priority=8, window_ends_at=now + WINDOW)]
    )
    return new[0].id if new else None
