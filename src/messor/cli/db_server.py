"""Database access for `messor db`, at any revision of the schema."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from messor.settings import Settings
from messor.store.session import embedded_server


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
