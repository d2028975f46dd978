"""A PostgreSQL server whose disk is full: it says so (53100) for what would write to some tables."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from messor.store.database import Database

# As PostgreSQL says it, from the table it could not extend.
FULL = """
CREATE OR REPLACE FUNCTION messor.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END
$$;
"""
TABLE = """
CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON messor.{table} EXECUTE FUNCTION messor.full_disk();
"""
ROOM = "DROP FUNCTION messor.full_disk() CASCADE"


@asynccontextmanager
async def full(database: Database, *tables: str) -> AsyncIterator[None]:
    """While the context is open there is no room in these tables."""
    async with database.connection() as connection:
        await connection.execute(FULL + "".join(TABLE.format(table=table) for table in tables))
    yield
    async with database.connection() as connection:
        await connection.execute(ROOM)
