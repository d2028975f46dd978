"""Erasing: the bytes of a purged record leave its segment, and the segment stays readable.

A record is one gzip member. It is overwritten by a member of the same length that holds an empty
WARC record, so no other record moves and no row that points into the segment changes: in place in a
file; an object is replaced by a new one, to which its segments' names then lead, and deleted.
"""

from __future__ import annotations

import asyncio
import os
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from messor.archive.cdxj import cdxj, index_of
from messor.archive.location import is_remote, located
from messor.archive.objects import ObjectStore
from messor.archive.storage import Archive, ArchiveSource, archive_at
from messor.errors import UnavailableError
from messor.store.database import Database

# A live writer may still assign the same bytes to another page.
WRITER_IS_GONE = """
NOT EXISTS (SELECT FROM messor.worker_leases w WHERE w.id = g.worker_id AND w.ended_at IS NULL)
"""

# Only records without references; `governance.promotion` handles the others.
OPEN = f"""
SELECT b.segment_id, b.segment_offset, b.segment_length, g.name
  FROM messor.blanks b JOIN messor.segments g ON g.id = b.segment_id
 WHERE b.blanked_at IS NULL
   AND {WRITER_IS_GONE}
   AND NOT EXISTS (SELECT FROM messor.page_snapshots s
                    WHERE s.segment_id = b.segment_id AND s.segment_offset = b.segment_offset)
   AND NOT EXISTS (SELECT FROM messor.page_snapshots s
                    WHERE s.revisit_segment_id = b.segment_id AND s.revisit_offset = b.segment_offset)
 ORDER BY b.segment_id, b.segment_offset LIMIT $1
"""
DONE = """
UPDATE messor.blanks SET blanked_at = messor.clock()
 WHERE segment_id = $1 AND segment_offset = $2
"""
# Also of the segments that were compacted into it.
RENAME = """
UPDATE messor.segments SET name = $2 || substring(name FROM length($1) + 1)
 WHERE name = $1 OR starts_with(name, $1 || '#') RETURNING id
"""
# A segment that is being moved or compacted waits, or has another name afterwards.
HOLD = "SELECT id FROM messor.segments WHERE id = $1 AND name = $2 FOR UPDATE"
WAITING = "SELECT count(*) FROM messor.blanks WHERE blanked_at IS NULL"

_COMMENT = 0x10
_TAIL = 8  # checksum and size
_HEAD = 10


async def blank_waiting(source: ArchiveSource, database: Database, limit: int = 1000) -> int:
    """Erase the eligible records in objects and in files of this machine; returns how many."""
    archive, blanked = archive_at(source), 0
    objects: dict[str, list[Any]] = {}
    for row in await database.fetch(OPEN, limit):
        if is_remote(row["name"]):
            objects.setdefault(located(row["name"]).url, []).append(row)
            continue
        path = archive.folder / row["name"]
        if not path.exists():
            continue  # another machine's archive
        blanked += await _overwrite_held(database, path, row)
    for url, rows in objects.items():
        blanked += await replace_object(archive, database, url, rows)
    return blanked


async def _overwrite_held(database: Database, path: Path, row: Any) -> bool:
    """Erase a record in a file unless the file was moved away; then its new place has its turn."""
    async with database.transaction() as connection:
        if await connection.fetchval(HOLD, row["segment_id"], row["name"]) is None:
            return False
        await asyncio.to_thread(overwrite, path, row["segment_offset"], row["segment_length"])
        await connection.execute(DONE, row["segment_id"], row["segment_offset"])
    return True


async def replace_object(
    archive: Archive, database: Database, url: str, rows: Sequence[Any]
) -> int:
    """Replace an object by one without these records; returns how many were erased."""
    store = archive.store_of(url)
    new = f"{url.removesuffix('.warc.gz').partition('~')[0]}~{uuid4().hex[:12]}.warc.gz"
    try:
        await asyncio.to_thread(_write_without, store, url, new, rows)
    except (UnavailableError, FileNotFoundError):
        return 0  # tried again, perhaps under another name
    async with database.transaction() as connection:
        led = {row["id"] for row in await connection.fetch(RENAME, url, new)}
        # What was compacted or moved meanwhile is erased at its new place.
        done = [row for row in rows if row["segment_id"] in led]
        for row in done:
            await connection.execute(DONE, row["segment_id"], row["segment_offset"])
    await asyncio.to_thread(_delete, archive, store, url if led else new)
    return len(done)


def _write_without(store: ObjectStore, url: str, new: str, rows: Sequence[Any]) -> None:
    content = bytearray(store.whole(store.key_of(url)))
    for row in rows:
        start = located(row["name"]).base + row["segment_offset"]
        content[start : start + row["segment_length"]] = blank(row["segment_length"])
    data = bytes(content)
    store.put(store.key_of(new), data)
    if store.size(store.key_of(index_of(url))) is not None:
        store.put(store.key_of(index_of(new)), cdxj(data, new))


def _delete(archive: Archive, store: ObjectStore, url: str) -> None:
    store.delete([store.key_of(url), store.key_of(index_of(url))])
    archive.forget(url)


async def waiting(database: Database) -> int:
    """How many records still have to be erased."""
    count: int = await database.fetchval(WAITING)
    return count


def overwrite(path: Path, offset: int, length: int) -> None:
    """Replace one record, and wait until it is on disk."""
    file = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(file, blank(length), offset)
        os.fsync(file)
    finally:
        os.close(file)


def blank(length: int) -> bytes:
    """A gzip member of exactly this length: an empty WARC record, padded by a comment."""
    for content in (_empty_record(), b""):
        packer = zlib.compressobj(9, wbits=-15)
        packed = packer.compress(content) + packer.flush()
        padding = length - _HEAD - len(packed) - _TAIL - 1
        if padding >= 0:
            checksum = zlib.crc32(content).to_bytes(4, "little")
            size = len(content).to_bytes(4, "little")
            head = b"\x1f\x8b\x08" + bytes((_COMMENT,)) + b"\x00\x00\x00\x00\x00\xff"
            return head + b"-" * padding + b"\x00" + packed + checksum + size
    return b"\x00" * length  # shorter than any member: padding between records


def _empty_record() -> bytes:
    lines = (
        "WARC/1.1",
        "WARC-Type: metadata",
        f"WARC-Record-ID: <urn:uuid:{uuid4()}>",
        f"WARC-Date: {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "Content-Type: application/warc-fields",
        "Content-Length: 0",
    )
    return ("\r\n".join(lines) + "\r\n\r\n\r\n\r\n").encode()
