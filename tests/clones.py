"""Databases that take long to fill: filled once for a module, and cloned for each of its tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from messor.store.database import Database
from tests.template_server import run_sql, with_database


@contextmanager
def filled_once(
    server_dsn: str, name: str, fill: Callable[[Database], Awaitable[None]]
) -> Iterator[str]:
    """The name of a database that was filled, and that nobody is connected to."""
    name = f"{name}_{os.getpid()}"
    asyncio.run(
        run_sql(server_dsn, f"CREATE DATABASE {name} TEMPLATE template_messor STRATEGY file_copy")
    )

    async def open_and_fill() -> None:
        async with Database(with_database(server_dsn, name)) as database:
            await fill(database)

    asyncio.run(open_and_fill())
    yield name
    asyncio.run(run_sql(server_dsn, f"DROP DATABASE {name} WITH (FORCE)"))


@asynccontextmanager
async def clone_of(server_dsn: str, filled: str) -> AsyncIterator[Database]:
    """A test's own copy of a database that was filled."""
    name = f"{filled}_clone"
    await run_sql(server_dsn, f"CREATE DATABASE {name} TEMPLATE {filled} STRATEGY file_copy")
    async with Database(with_database(server_dsn, name)) as opened:
        yield opened
    await run_sql(server_dsn, f"DROP DATABASE {name} WITH (FORCE)")
