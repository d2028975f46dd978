"""Erasing: the bytes of a purged record leave its segment, and the segment stays readable.

A record is one gzip member. It is overwritten in place by a member of the same length that holds an
empty WARC record, so no other record moves and no row that points into the segment changes.
"""

from __future__ import annotations

import os
import zlib
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

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
WAITING = "SELECT count(*) FROM messor.blanks WHERE blanked_at IS NULL"

_COMMENT = 0x10
_TAIL = 8  # checksum and size
_HEAD = 10


async def blank_waiting(folder: Path, database: Database, limit: int = 1000) -> int:
    """Erase the eligible records in segments on this machine; returns how many."""
    blanked = 0
    for row in await database.fetch(OPEN, limit):
        path = folder / row["name"]
        if not path.exists():
            continue  # another machine's archive
        overwrite(path, row["segment_offset"], row["segment_length"])
        await database.fetch(DONE, row["segment_id"], row["segment_offset"])
        blanked += 1
    return blanked


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
