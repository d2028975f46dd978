"""Writes segments outside the crawl path: under their own lease, renewed, sealed at the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from messor import __version__
from messor.archive.segments import SegmentWriter
from messor.errors import MessorError
from messor.politeness.lease import WorkerLease
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

Purpose = Literal["import", "promotion", "repair"]


@asynccontextmanager
async def own_segments(
    folder: Path, database: Database, purpose: Purpose, *, lease_seconds: float, limit: int
) -> AsyncIterator[tuple[WorkerLease, SegmentWriter]]:
    """A lease and a writer for one purpose; uncommitted records are truncated by the next worker."""
    name = f"{purpose}-{platform.node()}-{os.getpid()}"
    lease = await WorkerLease.take(database, name, lease_seconds)
    writer = SegmentWriter(
        folder,
        database,
        worker_id=lease.id,
        name=f"{name}-{lease.id}",
        limit=limit,
        software=f"Messor/{__version__}",
    )
    beating = asyncio.create_task(_keep_alive(database, lease))
    try:
        yield lease, writer
        await writer.seal()
    finally:
        beating.cancel()
        await asyncio.wait([beating])
        writer.abandon()
        async with database.transaction() as connection:
            await lease.end(connection)


async def _keep_alive(database: Database, lease: WorkerLease) -> None:
    """Renew the lease meanwhile; a transaction that finds it lost raises."""
    while True:
        await asyncio.sleep(lease.seconds / 4)
        with contextlib.suppress(MessorError, *LOST_CONNECTION, *TRY_AGAIN):
            async with database.transaction() as connection:
                await lease.renew(connection, 0)
