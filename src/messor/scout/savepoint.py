"""A part of a transaction that may fail without the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from messor.errors import MessorError
from messor.store.database import Connection, Database

# Errors of one row that are no reason to give up the others.
BAD_ROW = (MessorError, asyncpg.DataError, asyncpg.IntegrityConstraintViolationError)


@asynccontextmanager
async def isolated(source: Connection | Database) -> AsyncIterator[Connection]:
    """A transaction of its own, or a savepoint within the caller's."""
    if isinstance(source, Database):
        async with source.transaction() as connection:
            yield connection
        return
    await source.execute("SAVEPOINT apart")
    try:
        yield source
    except BAD_ROW:
        await source.execute("ROLLBACK TO SAVEPOINT apart")
        raise
    await source.execute("RELEASE SAVEPOINT apart")
