"""Sessions of a test's database at another time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from urllib.parse import quote

import pytest

from messor.store.database import Database

Later = Callable[[str], Awaitable[Database]]


@pytest.fixture
async def later(database: Database) -> AsyncIterator[Later]:
    """The same database, seen by sessions whose clock is ahead by an interval."""
    async with AsyncExitStack() as opened:

        async def ahead(interval: str) -> Database:
            dsn = f"{database.dsn}?messor.clock_offset={quote(interval)}"
            return await opened.enter_async_context(Database(dsn))

        yield ahead
