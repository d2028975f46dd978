"""The job `export`: makes the file of an export in the data folder; a retry continues it.

The file of a standing export is then delivered to its place, and the job is done when it is there.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from uuid import UUID

import msgspec

from messor.exports import queries
from messor.exports.places import Places
from messor.exports.queries import Export
from messor.exports.requests import (
    JOB_TYPE,
    TIDY_JOB,
    delivered_name,
    described,
    file_of,
    remove_outdated,
)
from messor.exports.run import Folders, run
from messor.jobs.handlers import LONG_SECONDS, Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.ledger.events import Event, record
from messor.settings import Settings
from messor.store.database import Connection, Database

# One that was removed meanwhile, for an erasure, is there again: it is noted so, and removed next time.
DELIVERED = """
UPDATE messor.exports SET delivered_as = $2, state = 'done', updated_at = messor.clock()
 WHERE id = $1 AND state IN ('done', 'removed')
"""


class ExportRequest(msgspec.Struct):
    """The job's payload."""

    export: UUID


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the job's handlers in a process; it makes one file at a time."""
    turn = asyncio.Lock()
    folders, places = Folders.of(settings), Places.of_settings(settings)
    folder = folders.exports

    @handlers.prepares(JOB_TYPE, limit_seconds=LONG_SECONDS)
    async def export(job: Job) -> Effects:
        wanted = msgspec.convert(job.payload, ExportRequest)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        async with turn:
            await remove_outdated(database, folder, places)
            made = await queries.get(database, wanted.export)
            if made.state != "done":  # a retry may only have to deliver it
                made = await run(database, folders, wanted.export)
            if made.place is None:
                return _told(made.rows)
            name = await _delivered(database, folder, places, made)
        return partial(_note, made, name)

    @handlers.prepares(TIDY_JOB)
    async def tidy(_: Job) -> Effects:
        async with turn:
            return _told(await remove_outdated(database, folder, places))


async def _delivered(database: Database, folder: Path, places: Places, made: Export) -> str:
    """Copy the file to its place; returns its name there."""
    assert made.place is not None
    name = await delivered_name(database, made)
    await asyncio.to_thread(places.of(made.place).put, file_of(folder, made), name)
    return name


async def _note(made: Export, name: str, connection: Connection) -> Result:
    await connection.execute(DELIVERED, made.id, name)
    data = {**described(made), "place": made.place, "as": name}
    await record(connection, [Event("export.delivered", made.requested_by, data=data)])
    return {"rows": made.rows, "as": name}


def _told(rows: int) -> Effects:
    async def nothing(_: Connection) -> Result:
        return {"rows": rows}

    return nothing
