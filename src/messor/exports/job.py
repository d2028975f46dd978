"""The job `export`: makes the file of an export in the data folder; a retry continues it."""

from __future__ import annotations

import asyncio
from uuid import UUID

import msgspec

from messor.exports.requests import JOB_TYPE, remove_outdated
from messor.exports.run import Folders, run
from messor.jobs.handlers import LONG_SECONDS, Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.settings import Settings
from messor.store.database import Connection, Database


class ExportRequest(msgspec.Struct):
    """The job's payload."""

    export: UUID


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the job's handler in a process; it makes one file at a time."""
    turn = asyncio.Lock()
    folders = Folders.of(settings)
    folder = folders.exports

    @handlers.prepares(JOB_TYPE, limit_seconds=LONG_SECONDS)
    async def export(job: Job) -> Effects:
        wanted = msgspec.convert(job.payload, ExportRequest)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        async with turn:
            await remove_outdated(database, folder)
            made = await run(database, folders, wanted.export)
        return _told(made.rows)


def _told(rows: int) -> Effects:
    async def nothing(_: Connection) -> Result:
        return {"rows": rows}

    return nothing
