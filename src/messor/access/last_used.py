"""Reading with a note of it: that somebody was here is worth writing down, but not worth refusing.

On a full disk PostgreSQL still reads. Who is known then stays known, and can see what is wrong.
"""

from __future__ import annotations

from typing import Any

import asyncpg

from messor.store.database import Connection, Database

Question = tuple[Any, ...]  # a statement and its values


async def fetchrow(
    source: Connection | Database, noted: Question, unnoted: Question
) -> asyncpg.Record | None:
    """The row, by the statement that notes it; without the note where there is no room for it."""
    try:
        return await source.fetchrow(*noted)
    except asyncpg.DiskFullError:
        if isinstance(source, Connection):  # its transaction is lost
            raise
        return await source.fetchrow(*unnoted)
