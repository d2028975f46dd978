"""The server that the commands of `messor db` work on: it need not be at this release's revision."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from messor.settings import Settings
from messor.store.session import embedded_server


@asynccontextmanager
async def server_dsn(settings: Settings) -> AsyncIterator[str]:
    """The database's DSN, with the embedded server running while it is used."""
    if settings.database_url:
        yield settings.database_url
        return
    server = embedded_server(settings)
    dsn = await asyncio.to_thread(server.acquire)
    try:
        yield dsn
    finally:
        await asyncio.to_thread(server.release)
