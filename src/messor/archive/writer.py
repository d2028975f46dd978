"""Opens writers of segments; outside the crawl path under their own lease, sealed at the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from messor import __version__
from messor.archive.object_writer import ObjectWriter
from messor.archive.segments import SegmentWriter
from messor.archive.storage import ArchiveSource, archive_at
from messor.errors import MessorError
from messor.politeness.lease import WorkerLease
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

Writer = SegmentWriter | ObjectWriter
Purpose = Literal["import", "promotion", "repair", "texts"]


def open_writer(
    source: ArchiveSource, database: Database, lease: WorkerLease, name: str, limit: int
) -> Writer:
    """A writer under a lease: of objects where the archive has a store for them, else of files."""
    archive = archive_at(source)
    name, software = f"{name}-{lease.id}", f"Messor/{__version__}"
    if archive.store is not None:
        return ObjectWriter(archive, database, worker_id=lease.id, name=name, software=software)
    return SegmentWriter(
        archive.folder, database, worker_id=lease.id, name=name, limit=limit, software=software
    )


@asynccontextmanager
async def own_segments(
    source: ArchiveSource, database: Database, purpose: Purpose, *, lease_seconds: float, limit: int
) -> AsyncIterator[tuple[WorkerLease, Writer]]:
    """A lease and a writer for one purpose; uncommitted records are truncated by the next worker."""
    name = f"{purpose}-{platform.node()}-{os.getpid()}"
    lease = await WorkerLease.take(database, name, lease_seconds)
    writer = open_writer(source, database, lease, name, limit)
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
