"""Texts of snapshots, wherever they are: in PostgreSQL, or in the archive beside the bytes.

Everything that reads markdown or structured data of snapshots reads it here. A text is in one of the
two places, row by row, so that a change of `MESSOR_TEXTS` needs no pause and texts move meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from messor.archive.location import is_remote, located
from messor.archive.segments import read_record
from messor.archive.storage import Archive, ArchiveSource
from messor.archive.text_records import DamagedTextError, Text, unpacked
from messor.errors import NotFoundError, UnavailableError
from messor.store.database import Connection, Database

AT_ONCE = 200  # texts in memory at a time, for callers that read many
READERS = 16  # objects read at a time

# A row's text is in one place or the other, and one statement sees it where it is.
PLACES = """
SELECT s.id, x.markdown, x.data::text AS data, g.name, s.text_offset, s.text_length
  FROM messor.page_snapshots s LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
  LEFT JOIN messor.segments g ON g.id = s.text_segment_id
 WHERE s.id = ANY ($1::bigint[])
"""

_archives: WeakKeyDictionary[Database, Archive] = WeakKeyDictionary()


async def texts(source: Connection | Database, ids: Iterable[int | None]) -> dict[int, Text]:
    """Texts by snapshot; without those that have none, or that this machine cannot read.

    UnavailableError: the object store that holds one does not answer.
    """
    found: dict[int, Text] = {}
    wanted = sorted({one for one in ids if one is not None})
    for _ in range(2):  # an object may have been replaced between the query and the read
        rows = await source.fetch(PLACES, wanted) if wanted else []
        found |= {row["id"]: _stored(row) for row in rows if row["markdown"] is not None}
        archived = [row for row in rows if row["markdown"] is None and row["name"] is not None]
        if archived:
            found |= await load_all(archive_of(source), archived)
        wanted = [row["id"] for row in archived if row["id"] not in found]
        if not wanted:
            break
    return found


async def markdown(source: Connection | Database, snapshot_id: int) -> str:
    """The text of one snapshot."""
    found = (await texts(source, [snapshot_id])).get(snapshot_id)
    if found is None:
        raise NotFoundError(
            f"Snapshot {snapshot_id} has no text, or it is in the archive of another machine."
        )
    return found.markdown


def archive_of(source: Connection | Database) -> Archive:
    """The archive that belongs to a database."""
    database = source if isinstance(source, Database) else source.database
    archive = _archives.get(database)
    if archive is None:
        if database.settings is None:
            raise UnavailableError("This database was opened without its archive.")
        archive = _archives[database] = Archive.of(database.settings)
    return archive


async def load_all(archive: Archive, rows: Sequence[Any]) -> dict[int, Text]:
    """Archived texts by snapshot, of rows with `id`, `name`, `text_offset` and `text_length`."""
    groups: dict[str, list[Any]] = {}
    for row in rows:
        name = row["name"]
        groups.setdefault(located(name).url if is_remote(name) else name, []).append(row)
    turn = asyncio.Semaphore(READERS)

    async def read(group: list[Any]) -> dict[int, Text]:
        async with turn:
            return await asyncio.to_thread(_load_group, archive, group)

    found: dict[int, Text] = {}
    for some in await asyncio.gather(*(read(group) for group in groups.values())):
        found |= some
    return found


def load(archive: ArchiveSource, name: str, offset: int, length: int) -> Text:
    """Read one text. Blocks: call it off the event loop. FileNotFoundError: it is not here."""
    return unpacked(read_record(archive, name, offset, length))


def _stored(row: Any) -> Text:
    return Text(row["markdown"], row["data"])


def _load_group(archive: Archive, rows: Sequence[Any]) -> dict[int, Text]:
    found = {}
    for row in sorted(rows, key=lambda row: (row["name"], row["text_offset"])):
        try:
            place = row["name"], row["text_offset"], row["text_length"]
            found[row["id"]] = load(archive, *place)
        except (OSError, DamagedTextError):
            continue
    return found
