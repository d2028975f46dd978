"""A database of its own for tests of the schema."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from tests.template_server import with_database

_numbers = itertools.count()


@asynccontextmanager
async def blank_database(server_dsn: str) -> AsyncIterator[str]:
    """The DSN of a database without Messor's schema."""
    raw = await asyncpg.connect(server_dsn, ssl=False)
    name = f"blank_{os.getpid()}_{next(_numbers)}"
    try:
        await raw.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
        yield with_database(server_dsn, name)
        await raw.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await raw.close()


@pytest.fixture
async def blank_dsn(server_dsn: str) -> AsyncIterator[str]:
    async with blank_database(server_dsn) as blank:
        yield blank


@pytest.fixture
async def other_blank_dsn(server_dsn: str) -> AsyncIterator[str]:
    async with blank_database(server_dsn) as blank:
        yield blank
