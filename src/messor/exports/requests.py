"""Requests for exports: checked, recorded with their commit position, found again, cancelled.

Who exported what is an event. Files of the data folder are kept for a week, and never longer than
until something is erased: the file may contain it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from pydantic import ValidationError

from messor.core.ids import new_id
from messor.core.logs import room_logger
from messor.errors import ConflictError, MessorError, NotFoundError, UsageError
from messor.exports.formats import Format, format_of
from messor.exports.nouns import Noun, noun_of
from messor.exports.places import Places
from messor.exports.queries import COLUMNS, Export, get
from messor.jobs import jobs
from messor.jobs.jobs import NewJob, enqueue
from messor.ledger.events import Event, record
from messor.rights.uses import ApprovedUse
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.store.listing import Filters, age_of, fault_of

logger = room_logger(__name__)

JOB_TYPE = "export"
TIDY_JOB = "export_tidy"
MAX_WAITING = 5  # unfinished ones of a person
MAX_COLUMNS = 100

# In a restored database all rows are new, and beyond 2^31 transactions a row's age is unknown.
POSITION = """
SELECT messor.commit_horizon()::text::bigint AS position, messor.clock() AS now,
       (SELECT since FROM messor.commit_order) AS cluster_since,
       (SELECT count(*) FROM messor.exports
         WHERE requested_by = $1 AND state IN ('queued', 'running') AND target IS NULL
           AND standing_id IS NULL) AS waiting
"""
SINCE = "SELECT noun, state, position::text::bigint AS position FROM messor.exports WHERE id = $1"
ADD = f"""
INSERT INTO messor.exports AS x (id, noun, format, filters, options, since, since_tx, since_at, position,
                                 target, state, job_id, requested_by, standing_id, place)
VALUES ($1, $2, $3, $4, $5, $6, $7::text::xid8, $8, $9::text::xid8, $10, $11, $12, $13, $14, $15)
RETURNING {COLUMNS}
"""
UNFINISHED = f"""
SELECT {COLUMNS} FROM messor.exports x
 WHERE x.target = $1 AND x.noun = $2 AND x.format = $3 AND x.filters = $4::jsonb
   AND x.options = $5::jsonb AND x.since IS NOT DISTINCT FROM $6
   AND x.state IN ('running', 'failed') ORDER BY x.created_at DESC LIMIT 1
"""
CANCEL = """
UPDATE messor.exports SET state = 'cancelled', finished_at = messor.clock(), updated_at = messor.clock()
 WHERE id = $1 AND state IN ('queued', 'running') RETURNING job_id
"""
# Their copy here is not needed any more.
DELIVERED = """
SELECT id FROM messor.exports WHERE id = ANY ($1::uuid[]) AND delivered_as IS NOT NULL
"""
REMOVED = """
UPDATE messor.exports SET state = 'removed', finished_at = messor.clock() WHERE id = $1
"""
# Erased data may be in any file that was begun before, wherever it was delivered.
OUTDATED = """
SELECT x.id FROM messor.exports x
 WHERE x.target IS NULL AND x.state IN ('done', 'failed', 'cancelled')
   AND ((x.finished_at < messor.clock() - interval '7 days' AND x.delivered_as IS NULL)
        OR x.created_at <= (SELECT max(e.created_at) FROM messor.erasures e))
 ORDER BY x.created_at LIMIT 1000
"""
NAME = """
SELECT s.name FROM messor.exports x JOIN messor.standing_exports s ON s.id = x.standing_id WHERE x.id = $1
"""
ERASED_SINCE = "SELECT EXISTS (SELECT FROM messor.erasures WHERE created_at >= $1)"


@dataclass(frozen=True, slots=True)
class NewExport:
    """What is asked for; `filters` are those of the noun's list."""

    noun: str
    format: str
    filters: Mapping[str, Any]
    columns: Sequence[str] = ()
    bom: bool = False
    since: str | None = None
    target: Path | None = None
    standing_id: UUID | None = None  # made on a schedule
    place: str | None = None  # where it is delivered then
    uses: tuple[ApprovedUse, ...] = ()  # what it is for; empty: what each domain is approved for

    def checked(self) -> tuple[Noun, Format, Filters]:
        """Noun, format and filters; raises a sentence about the first fault."""
        noun, made = noun_of(self.noun), format_of(self.format)
        made.require(noun.name)
        if len(self.columns) > MAX_COLUMNS or len(set(self.columns)) < len(self.columns):
            raise UsageError("Name each column once.")
        if self.columns and made.nouns is not None:
            raise UsageError(f"{made.name} has no columns to choose.")
        columns = noun.chosen(tuple(self.columns))
        if made.is_partitioned and noun.partition not in {each.name for each in columns}:
            raise UsageError(
                f"{noun.name} are partitioned by {noun.partition}; include that column in the export."
            )
        if self.bom and self.format != "csv":
            raise UsageError("Only CSV can begin with a byte order mark.")
        return noun, made, checked_filters(noun, self.filters)

    @property
    def options(self) -> dict[str, Any]:
        given: dict[str, Any] = {"columns": list(self.columns)} if self.columns else {}
        if self.uses:
            given["uses"] = [use.value for use in self.uses]
        return {**given, "bom": True} if self.bom else given


def checked_filters(noun: Noun, given: Mapping[str, Any]) -> Filters:
    """The filters of the noun's list; raises a sentence about the first fault."""
    try:
        filters: Filters = noun.listing.filters.model_validate(given)
    except ValidationError as error:
        raise UsageError(fault_of(error)) from error
    return filters


async def begin(
    connection: Connection, wanted: NewExport, *, actor: str, may_audit: bool = False
) -> Export:
    """Record an export and who asked for it; without a target path a worker makes the file."""
    noun, _, filters = wanted.checked()
    if getattr(filters, "with_audit", False) and not may_audit:
        filters = filters.model_copy(update={"with_audit": False})
    now = await connection.fetchrow(POSITION, actor)
    assert now is not None
    is_asked_for = wanted.target is None and wanted.standing_id is None
    if is_asked_for and now["waiting"] >= MAX_WAITING:
        raise ConflictError(
            f"{MAX_WAITING} of your exports are unfinished; wait for one or cancel it."
        )
    since_tx, since_at = await _since(connection, noun, wanted.since, now)
    export_id = new_id()
    job = None if wanted.target else _job(export_id)
    row = await connection.fetchrow(
        ADD, export_id, noun.name, wanted.format, _stored(filters), _json(wanted.options), wanted.since,
        None if since_tx is None else str(since_tx), since_at, str(now["position"]),
        None if wanted.target is None else str(wanted.target),
        "queued" if wanted.target is None else "running", job and job.id, actor,
        wanted.standing_id, wanted.place,
    )  # fmt: skip
    assert row is not None
    if job is not None:
        await enqueue(connection, [job])
    made = Export.of(row)
    await record(connection, [Event("export.started", actor, data=described(made))])
    return made


def _job(export_id: UUID) -> NewJob:
    return NewJob(
        JOB_TYPE,
        f"{JOB_TYPE}:{export_id}",
        "export",
        target_id=export_id,
        payload={"export": str(export_id)},
    )


def described(export: Export) -> dict[str, Any]:
    """What an event says about an export."""
    found = {"export": str(export.id), "noun": export.noun, "format": export.format}
    found |= {"uses": ",".join(export.uses)} if export.uses else {}
    return {**found, "filters": export.filters, "since": export.since, "rows": export.rows}


async def _since(
    connection: Connection, noun: Noun, given: str | None, now: Any
) -> tuple[int | None, datetime | None]:
    """The commit position or the time from which on rows are wanted."""
    if given is None:
        return None, None
    try:
        earlier = UUID(given)
    except ValueError:
        return None, _moment(given, now["now"])
    row = await connection.fetchrow(SINCE, earlier)
    if row is None or row["noun"] != noun.name:
        raise NotFoundError(f"There is no export {earlier} of {noun.name} to continue from.")
    if row["state"] not in ("done", "removed"):
        raise ConflictError(
            f"Export {earlier} is {row['state']}; only a finished one has a next part."
        )
    is_here = row["position"] >= now["cluster_since"]
    is_known = is_here and now["position"] - row["position"] < 2**31
    return (row["position"] if is_known else None), None


def _moment(text: str, now: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            return now - age_of(text)  # type: ignore[no-any-return]
        except (ValueError, TypeError) as error:
            raise UsageError(
                f"--since {text[:60]!r} is neither an export nor a time such as 2026-11-01 or 7d."
            ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)


def _stored(filters: Filters) -> str:
    return filters.model_dump_json(exclude_none=True)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


async def unfinished(database: Database, wanted: NewExport) -> Export | None:
    """The same request to the same path that was interrupted."""
    _, _, filters = wanted.checked()
    row = await database.fetchrow(
        UNFINISHED, str(wanted.target), wanted.noun, wanted.format, _stored(filters),
        _json(wanted.options), wanted.since,
    )  # fmt: skip
    return None if row is None else Export.of(row)


async def cancel(connection: Connection, export: Export, *, actor: str) -> None:
    """Stop an unfinished export; what it wrote is removed later."""
    row = await connection.fetchrow(CANCEL, export.id)
    if row is None:
        raise ConflictError(
            f"This export is {export.state}; only an unfinished one can be cancelled."
        )
    if row["job_id"] is not None:
        await jobs.cancel(connection, [row["job_id"]])
    await record(connection, [Event("export.cancelled", actor, data=described(export))])


async def download(connection: Connection, folder: Path, export: Export, *, actor: str) -> Path:
    """The finished file; who downloads it is an event. Raises if it is gone."""
    path = file_of(folder, export)
    if export.is_downloadable:
        has_erased = await connection.fetchval(ERASED_SINCE, export.created_at)
        if not has_erased and path.exists():
            await record(connection, [Event("export.downloaded", actor, data=described(export))])
            return path
    if export.place is not None:
        raise NotFoundError(f"This export is delivered to {export.place}; it cannot be downloaded.")
    if export.state in ("queued", "running"):
        raise ConflictError("This export is not finished; ask for its state until it is done.")
    raise NotFoundError("The file of this export is no longer kept; export again.")


def folder_of(settings: Settings) -> Path:
    """Where files that are downloaded lie."""
    return settings.data_dir / "exports"


def file_of(folder: Path, export: Export) -> Path:
    """Where the file is: the target, or a file of the data folder."""
    if export.target is not None:
        return Path(export.target)
    return folder / f"{export.id}{format_of(export.format).suffixes[0]}"


async def delivered_name(database: Database, export: Export) -> str:
    """The name of a standing export's file at its place: sorted by time, the same at every attempt."""
    if export.delivered_as is not None:
        return export.delivered_as
    name = await database.fetchval(NAME, export.id) or "removed"
    return (
        f"{name}/{export.noun}-{export.created_at:%Y%m%dT%H%M%SZ}-{export.id.hex[-8:]}"
        f"{format_of(export.format).suffixes[0]}"
    )


def download_name(export: Export) -> str:
    """The name under which a browser saves the file."""
    return f"{export.noun}{format_of(export.format).suffixes[0]}"


def _ids_in(folder: Path) -> list[UUID]:
    return sorted({UUID(path.name[:36]) for path in folder.glob("????????-*")})


def _unlink(folder: Path, export_id: UUID) -> None:
    for path in folder.glob(f"{export_id}*"):
        path.unlink(missing_ok=True)


async def remove_outdated(database: Database, folder: Path, places: Places) -> int:
    """Remove files that are older than a week, or older than an erasure; returns how many.

    A file at a place that cannot be reached is tried again next time.
    """
    kept = await asyncio.to_thread(_ids_in, folder)
    for row in await database.fetch(DELIVERED, kept):
        await asyncio.to_thread(_unlink, folder, row["id"])
    rows, removed = await database.fetch(OUTDATED), 0
    for row in rows:
        await asyncio.to_thread(_unlink, folder, row["id"])
        if await _is_off_its_place(database, places, await get(database, row["id"])):
            async with database.transaction() as connection:
                await connection.execute(REMOVED, row["id"])
            removed += 1
    return removed


async def _is_off_its_place(database: Database, places: Places, export: Export) -> bool:
    """Remove what was delivered, also what a delivery that was killed left there."""
    if export.place is None or export.state != "done":
        return True
    name = await delivered_name(database, export)
    try:
        await asyncio.to_thread(places.of(export.place).remove, name)
    except MessorError as error:
        logger.warning("An export that holds erased data may still be there: %s", error)
        return False
    return True
