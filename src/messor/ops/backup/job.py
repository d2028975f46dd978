"""The job that makes a backup on schedule, and removes old ones."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from messor.core.logs import room_logger
from messor.jobs.handlers import LONG_SECONDS, Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.ops.backup.create import Installation, create, prune
from messor.ops.backup.place import place_at
from messor.settings import Settings
from messor.store.database import Connection, Database

JOB_TYPE = "backup"
ACTOR = "O-Backup"

logger = room_logger(__name__)


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the job's handler in a process."""
    if settings.backup_to is None:
        return
    where, turn = settings.backup_to, asyncio.Lock()

    @handlers.prepares(JOB_TYPE, limit_seconds=LONG_SECONDS)
    async def back_up(_: Job) -> Effects:
        async with turn:
            source = Installation(database, database.dsn, settings)
            place = place_at(where, settings)
            made = await create(source, place, actor=ACTOR, progress=logger.debug)
            removed = await prune(source, place, settings.backup_keep)
        told = {"backup": made.name, "bytes": made.bytes, "removed": removed}
        return partial(_store, told)


async def _store(told: dict[str, Any], _: Connection) -> Result:
    return told
