"""Reads a row and records its last use; if that cannot be written, the read still succeeds.

On a full disk PostgreSQL still reads: callers stay authenticated and can see what is wrong.
"""

from __future__ import annotations

from typing import Any

import asyncpg

from messor.store.database import Connection, Database

Question = tuple[Any, ...]  # a statement and its parameters


async def fetchrow(
    source: Connection | Database, noted: Question, unnoted: Question
) -> asyncpg.Record | None:
    """The row, by the statement that records its use; without recording when the disk is full."""
    try:
        return await source.fetchrow(*noted)
    except asyncpg.DiskFullError:
        if isinstance(source, Connection):  # its transaction is aborted
            raise
        return await source.fetchrow(*unnoted)
