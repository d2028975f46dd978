"""A database session: the external server, or the embedded one started and upgraded.

The embedded server's schema is upgraded automatically; an external server is only checked, because
its migrations are for its owner to run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from messor.settings import Settings
from messor.store import revisions
from messor.store.database import Database
from messor.store.server import EmbeddedServer


class Session:
    """An open database, and how to restart its server."""

    def __init__(self, database: Database, server: EmbeddedServer | None) -> None:
        self.database = database
        self._server = server

    async def repair(self) -> None:
        """Restart the embedded server if it died; an external one is not ours to repair."""
        if self._server is not None:
            await asyncio.to_thread(self._server.ensure_running)


def embedded_server(settings: Settings) -> EmbeddedServer:
    return EmbeddedServer(
        settings.data_dir, bin_dir=settings.postgres_bin, port=settings.postgres_port
    )


@asynccontextmanager
async def open_session(settings: Settings, *, pool_size: int = 4) -> AsyncIterator[Session]:
    """Open the configured database, ready for use."""
    if settings.database_url:
        async with Database(
            settings.database_url, pool_size=pool_size, settings=settings
        ) as database:
            await database.require_schema()
            yield Session(database, None)
        return
    server = embedded_server(settings)
    dsn = await asyncio.to_thread(server.acquire)
    try:
        async with Database(dsn, pool_size=pool_size, settings=settings) as database:
            if await database.revision() != revisions.newest():
                from messor.store import migrate  # noqa: PLC0415 - it is seldom needed, and slow to load

                await asyncio.to_thread(migrate.upgrade, dsn)
            yield Session(database, server)
    finally:
        await asyncio.to_thread(server.release)


@asynccontextmanager
async def server_dsn(settings: Settings) -> AsyncIterator[str]:
    """Yield the database's DSN and keep the embedded server running meanwhile."""
    if settings.database_url:
        yield settings.database_url
        return
    server = embedded_server(settings)
    dsn = await asyncio.to_thread(server.acquire)
    try:
        yield dsn
    finally:
        await asyncio.to_thread(server.release)
