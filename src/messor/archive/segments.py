"""Segments: append-only WARC files that hold the bytes.

Records gather in memory and reach the disk once per flush, synced before the rows that point at
them commit. Each writer has its own segments and holds a lock on the open ones, so that a dead
writer's unfinished segment can be told from a live one's.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from messor.archive import warc
from messor.archive.location import is_remote, located
from messor.archive.storage import Archive, ArchiveSource, archive_at
from messor.errors import UnavailableError
from messor.store.database import Database

OPEN = "INSERT INTO messor.segments (name, worker_id) VALUES ($1, $2) RETURNING id"
SEAL = """
UPDATE messor.segments SET state = 'sealed', bytes = $2, sealed_at = messor.clock() WHERE id = $1
"""
# Only of leases that have ended: none of their flushes can still be about to commit.
ABANDONED = """
WITH left_open AS MATERIALIZED (
  SELECT g.id, g.name FROM messor.segments g JOIN messor.worker_leases w ON w.id = g.worker_id
   WHERE g.state = 'open' AND w.ended_at IS NOT NULL
), held AS (
  SELECT segment_id AS id, segment_offset + segment_length AS ends FROM messor.page_snapshots
   WHERE segment_id IN (SELECT id FROM left_open)
   UNION ALL
  SELECT revisit_segment_id, revisit_offset + revisit_length FROM messor.page_snapshots
   WHERE revisit_segment_id IN (SELECT id FROM left_open)
   UNION ALL
  SELECT text_segment_id, text_offset + text_length FROM messor.page_snapshots
   WHERE text_segment_id IN (SELECT id FROM left_open)
   UNION ALL
  SELECT segment_id, segment_offset + segment_length FROM messor.spare_records
   WHERE segment_id IN (SELECT id FROM left_open)
)
SELECT o.id, o.name, coalesce(max(h.ends), 0) AS committed
  FROM left_open o LEFT JOIN held h ON h.id = o.id GROUP BY o.id, o.name
"""

# Not every system has it; syncing more than needed is safe.
_MEMBER = b"\x1f\x8b\x08"  # what each record begins with
_sync_data = getattr(os, "fdatasync", os.fsync)


@dataclass(frozen=True, slots=True)
class Place:
    """Location of a record."""

    segment_id: int
    offset: int
    length: int


class _Segment:
    """One file being written: its content, and what is not on disk yet."""

    def __init__(self, segment_id: int, file: int) -> None:
        self.id = segment_id
        self.size = 0
        self.synced = 0  # bytes known to be on disk: whole records
        self.broken: str | None = None
        self._file = file
        self._waiting: list[bytes] = []

    def append(self, record: bytes) -> Place:
        place = Place(self.id, self.size, len(record))
        self._waiting.append(record)
        self.size += len(record)
        return place

    def sync(self) -> None:
        """Write buffered records and wait until they are on disk.

        After a failure the segment stays broken, so that no later sync can claim to have stored
        what this one lost; whatever reached the file is truncated, because it may end within a
        record.
        """
        if self.broken is None and self._waiting:
            waiting, self._waiting = self._waiting, []
            data = memoryview(b"".join(waiting))
            end = self.synced + len(data)
            try:
                while data:
                    data = data[os.write(self._file, data) :]
                _sync_data(self._file)
                self.synced = end
            except OSError as error:
                self.broken = str(error)
                with contextlib.suppress(OSError):  # otherwise truncated when it is sealed
                    os.ftruncate(self._file, self.synced)
        if self.broken is not None:
            raise UnavailableError(f"The archive cannot be written: {self.broken}")

    def close(self) -> None:
        os.close(self._file)


class SegmentWriter:
    """Appends records to the current segment of one worker."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        *,
        worker_id: int,
        name: str,
        limit: int,
        software: str,
    ) -> None:
        self._folder = folder
        self._database = database
        self._worker_id = worker_id
        self._name = name
        self._limit = limit
        self._software = software
        self._count = 0
        self._current: _Segment | None = None
        self._full: list[_Segment] = []
        self._lost: set[int] = set()

    async def ready(self) -> None:
        """Ensure an open segment with room. Appends may continue meanwhile, to the previous one."""
        current = self._current
        if current is None or current.broken is not None or current.size >= self._limit:
            fresh = await self._open()
            if current is not None:
                self._full.append(current)
            self._current = fresh
        await self._seal_full()

    def append(self, record: bytes) -> Place:
        """Append a record; it is on disk after the next sync."""
        if self._current is None or self._current.broken is not None:
            raise UnavailableError("The archive is not open for writing.")
        return self._current.append(record)

    def cut(self, segment_ids: Collection[int] | None = None) -> None:
        """Nothing to do: a file takes the records of many flushes."""

    async def commit_bytes(self) -> None:
        """Have all that was appended on disk, for rows about to be committed."""
        await asyncio.to_thread(self.sync)

    def sync(self) -> None:
        """Write buffered records and wait until they are on disk. Blocks: call it off the event
        loop.
        """
        for segment in [*self._full, self._current]:
            if segment is not None:
                segment.sync()

    async def seal(self) -> None:
        """Close everything for good."""
        if self._current is not None:
            self._full.append(self._current)
            self._current = None
        await self._seal_full()

    def abandon(self) -> None:
        """Leave the segments as they are; the next worker truncates and seals them."""
        for segment in [*self._full, self._current]:
            if segment is not None:
                self._lost.add(segment.id)
                segment.close()
        self._full, self._current = [], None

    def has(self, place: Place) -> bool:
        """Whether a record is on disk, or can still be expected to get there."""
        return place.segment_id not in self._lost

    async def _open(self) -> _Segment:
        self._count += 1
        name = f"{datetime.now(UTC):%Y/%m/%d}/{self._name}-{self._count:05d}.warc.gz"
        path = self._folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        except OSError as error:
            raise UnavailableError(f"The archive cannot be written: {error}") from error
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            segment_id: int = await self._database.fetchval(OPEN, name, self._worker_id)
        except BaseException:
            os.close(file)
            path.unlink(missing_ok=True)
            raise
        segment = _Segment(segment_id, file)
        segment.append(warc.warcinfo(self._software))
        return segment

    async def _seal_full(self) -> None:
        while self._full:
            segment = self._full[0]
            if segment.broken is None:
                await asyncio.to_thread(segment.sync)
                await self._database.fetch(SEAL, segment.id, segment.size)
            else:
                self._lost.add(segment.id)  # sealed when the lease has ended, as after a crash
            self._full.remove(segment)
            segment.close()


async def seal_abandoned(source: ArchiveSource, database: Database) -> int:
    """Seal what dead writers left open, up to the end of the last committed record.

    Anything beyond was never committed: it was fetched again, and may be torn. A file is looked at
    by its own machine, an object by any.
    """
    archive, sealed = archive_at(source), 0
    for row in await database.fetch(ABANDONED):
        if is_remote(row["name"]):
            size = await asyncio.to_thread(_left_object, archive, row)
        else:
            size = _left_file(archive.folder / row["name"], row["committed"])
        if size is not None:
            await database.fetch(SEAL, row["id"], size)
            sealed += 1
    return sealed


def _left_file(path: Path, committed: int) -> int | None:
    """Truncate a file; its size, or None if it is not here or its writer is alive."""
    if not path.exists():
        return None
    file = os.open(path, os.O_WRONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(file, committed)
        os.fsync(file)
    except BlockingIOError:
        return None
    else:
        return committed
    finally:
        os.close(file)


def _left_object(archive: Archive, row: Any) -> int | None:
    """The size of an object that was put whole; without committed records it is deleted.

    None if committed records should be in it and it does not exist: nothing may hide that.
    """
    url = located(row["name"]).url
    try:
        store = archive.store_of(url)
        if not row["committed"]:
            store.delete([store.key_of(url)])
            return 0
        size = store.size(store.key_of(url))
    except UnavailableError:
        return None  # the next worker tries again
    return size if size is not None and size >= row["committed"] else None


class OpenSegment:
    """Reads records of segments; keeps the last segment open, because the next read is usually from
    the same.

    Segments are appended to, truncated and erased in place, so an open one stays current unless the
    archive is replaced: close it when there is nothing more to read.
    """

    __slots__ = ("_file", "_path")

    def __init__(self) -> None:
        self._path = ""
        self._file = -1

    def read(self, source: ArchiveSource, name: str, offset: int, length: int) -> bytes:
        """One record's bytes as stored: a gzip member. Only files of this machine."""
        folder = source.folder if isinstance(source, Archive) else source
        path = f"{folder}/{name}"
        if path != self._path:
            self.close()
            self._file = os.open(path, os.O_RDONLY)
            self._path = path
        return os.pread(self._file, length, offset)

    def close(self) -> None:
        if self._path:
            self._path = ""
            os.close(self._file)


def read_record(source: ArchiveSource, name: str, offset: int, length: int) -> bytes:
    """One record's bytes as stored: a gzip member."""
    archive = archive_at(source)
    data = archive.read(name, offset, length)
    if is_remote(name) and (len(data) < length or not data.startswith(_MEMBER)):
        return archive.read_afresh(name, offset, length)  # the store may have answered wrongly
    return data
