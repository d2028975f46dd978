"""The job that keeps an archive on an object store in order: compaction, and what is to be deleted."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from messor.archive import garbage
from messor.archive.compaction import compact
from messor.archive.storage import Archive
from messor.governance.promotion import let_go
from messor.jobs.handlers import LONG_SECONDS, Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.ledger.events import Event, record
from messor.settings import Settings
from messor.store.database import Connection, Database

JOB_TYPE = "archive"
ACTOR = "O-Archive"


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the job's handler in a process."""
    turn = asyncio.Lock()

    @handlers.prepares(JOB_TYPE, limit_seconds=LONG_SECONDS)
    async def keep_in_order(job: Job) -> Effects:
        after_retention = bool(job.payload.get("after_retention"))
        async with turn:
            found = await tidy(
                Archive.of(settings), settings, database, after_retention=after_retention
            )
        return partial(_store, found)


async def tidy(
    archive: Archive, settings: Settings, database: Database, *, after_retention: bool = False
) -> dict[str, Any]:
    """Erase what must go, compact what is small, delete what nobody names; what was done."""
    erased = await let_go(settings, database)
    emptied = await garbage.drop_empty(database) if after_retention else 0
    done = await compact(archive, database, settings.segment_bytes)
    return {
        **done.as_dict(),
        "erased": erased,
        "emptied": emptied,
        "deleted": await garbage.collect(archive, database),
    }


async def _store(found: dict[str, Any], connection: Connection) -> Result:
    if found["objects"] or found["damaged"]:
        await record(connection, [Event("archive.compacted", ACTOR, data=found)])
    return found
