"""Running an export: window by window into the working file, a checkpoint after each, then the file.

A killed export continues after its last checkpoint: the working file is cut to the size recorded
there. Nothing is written twice, and nothing is skipped.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from messor.archive.storage import Archive, ArchiveSource
from messor.errors import ConflictError, MessorError
from messor.exports.batches import ExportWindow, Selection, copy_window, next_window, widened
from messor.exports.formats import Format, format_of
from messor.exports.nouns import noun_of
from messor.exports.queries import Export, get
from messor.exports.requests import checked_filters, described, file_of, folder_of
from messor.exports.spool import Spool, unwritable
from messor.ledger.events import Event, record
from messor.rights.uses import parsed
from messor.settings import Settings
from messor.store.database import Database

Progress = Callable[[int], None]

# Rows carry the numbers of transactions in this cluster; what is older than it is everything.
TAKE = """
UPDATE messor.exports SET state = 'running', error = NULL, finished_at = NULL, updated_at = messor.clock()
 WHERE id = $1 AND state IN ('queued', 'running', 'failed')
RETURNING noun, format, filters::text AS filters, options::text AS options, since_at,
          after::text AS after, is_read, rows, spool_bytes, held, created_at,
          (SELECT CASE WHEN since_tx::text::bigint >= o.since
                       THEN since_tx::text::bigint - messor.commit_shift() END
             FROM messor.commit_order o) AS since_tx,
          (SELECT greatest(position::text::bigint, o.since) - messor.commit_shift()
             FROM messor.commit_order o) AS position
"""
CHECKPOINT = """
UPDATE messor.exports SET after = $2, is_read = $3, rows = $4, spool_bytes = $5, held = $6, updated_at = messor.clock()
 WHERE id = $1 AND state = 'running' RETURNING id
"""
DONE = """
UPDATE messor.exports SET state = 'done', file_bytes = $2, file_hash = $3, finished_at = messor.clock(),
       updated_at = messor.clock()
 WHERE id = $1 AND state = 'running' RETURNING requested_by
"""
FAILED = """
UPDATE messor.exports SET state = 'failed', error = left($2, 500), finished_at = messor.clock(),
       updated_at = messor.clock()
 WHERE id = $1 AND state = 'running'
"""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where finished files go, and where the archive's segments are."""

    exports: Path
    archive: ArchiveSource

    @classmethod
    def of(cls, settings: Settings, exports: Path | None = None) -> Folders:
        return cls(exports or folder_of(settings), Archive.of(settings))


@dataclass(slots=True)
class Checkpoint:
    """How far an export is: the last key, and rows and bytes up to it."""

    after: tuple[str, ...] | None
    is_read: bool
    rows: int
    bytes: int
    held: int = 0  # pages whose rows may not leave


async def run(
    database: Database,
    folders: Folders,
    export_id: UUID,
    progress: Progress = lambda _: None,
) -> Export:
    """Perform or continue an export; returns it when it is done."""
    export = await get(database, export_id)
    row = await database.fetchrow(TAKE, export_id)
    if row is None:
        raise ConflictError(f"This export is {export.state}.")
    target = file_of(folders.exports, export)
    try:
        wanted = _selection(row, folders.archive)
        await _perform(database, export_id, wanted, row, target=target, progress=progress)
    except OSError as error:
        fault = unwritable(target, error)
        await database.fetch(FAILED, export_id, str(fault))
        raise fault from error
    except MessorError as error:
        await database.fetch(FAILED, export_id, str(error))
        raise
    return await get(database, export_id)


async def _perform(
    database: Database,
    export_id: UUID,
    selection: Selection,
    row: Mapping[str, Any],
    *,
    target: Path,
    progress: Progress,
) -> None:
    made = format_of(row["format"])
    options = msgspec.json.decode(row["options"])
    after = msgspec.json.decode(row["after"]) if row["after"] else None
    reached = Checkpoint(
        after and tuple(after), row["is_read"], row["rows"], row["spool_bytes"], row["held"]
    )
    draft = target.with_name(f"{target.name}.part")
    with Spool(draft, reached.bytes) as spool:
        if spool.is_lost:
            reached = Checkpoint(None, is_read=False, rows=0, bytes=0)
        if reached.bytes == 0:
            await spool.write(made.head(selection.noun.name, selection.columns, options))
        if not reached.is_read:
            async for rows in _read(database, export_id, selection, spool, reached):
                progress(rows)
        size, digest = await asyncio.to_thread(_finish, made, selection, draft, target)
    await _complete(database, export_id, size, digest)


def _selection(row: Mapping[str, Any], archive: ArchiveSource) -> Selection:
    noun, made = noun_of(row["noun"]), format_of(row["format"])
    options = msgspec.json.decode(row["options"])
    return Selection(
        noun,
        checked_filters(noun, msgspec.json.decode(row["filters"])),
        noun.chosen(tuple(options.get("columns", ()))),
        made.shape,
        row["position"],
        row["created_at"],
        row["since_tx"],
        row["since_at"],
        archive,
        parsed(options.get("uses", ())),
    )


async def _read(
    database: Database,
    export_id: UUID,
    wanted: Selection,
    spool: Spool,
    reached: Checkpoint,
) -> AsyncIterator[int]:
    """Write window after window, with a checkpoint after each; yields the rows so far."""
    window: ExportWindow | None = ExportWindow(None if reached.after is None else (), reached.after)
    while window is not None:
        window = await next_window(database, wanted, window)
        if window is not None:
            rows, held = await copy_window(database, wanted, window, spool.write)
            reached.held += held
            reached.after = None if window.up_to is None else tuple(window.up_to)
            reached.rows += rows
            window = widened(window, rows)
        reached.is_read = window is None or window.up_to is None
        reached.bytes = await asyncio.to_thread(spool.sync)
        await _checkpoint(database, export_id, reached)
        yield reached.rows
        if reached.is_read:
            return


async def _checkpoint(database: Database, export_id: UUID, reached: Checkpoint) -> None:
    after = None if reached.after is None else msgspec.json.encode(reached.after).decode()
    row = await database.fetchrow(
        CHECKPOINT, export_id, after, reached.is_read, reached.rows, reached.bytes, reached.held
    )
    if row is None:
        raise ConflictError("This export was cancelled.")


def _finish(made: Format, wanted: Selection, draft: Path, target: Path) -> tuple[int, bytes]:
    """Make the file that was asked for and put it in its place; returns its size and hash."""
    whole = draft
    if made.finish is not None:
        whole = target.with_name(f"{target.name}.whole")
        whole.unlink(missing_ok=True)
        try:
            made.finish(draft, whole, wanted.noun.name, wanted.columns)
        except MessorError:
            raise
        except OSError:
            whole.unlink(missing_ok=True)
            raise
        whole.chmod(0o600)
    with whole.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
        os.fsync(file.fileno())
    size = whole.stat().st_size
    whole.replace(target)
    if whole is not draft:
        draft.unlink(missing_ok=True)
    return size, digest


async def _complete(database: Database, export_id: UUID, size: int, digest: bytes) -> None:
    async with database.transaction() as connection:
        actor = await connection.fetchval(DONE, export_id, size, digest)
        if actor is None:
            raise ConflictError("This export was cancelled.")
        done = await get(connection, export_id)
        await record(connection, [Event("export.finished", actor, data=described(done))])
