"""Reads the content of snapshots: their text, their bytes, and the difference between two."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass

from isal import isal_zlib

from messor.archive.segments import read_record
from messor.archive.storage import ArchiveSource
from messor.errors import NotFoundError, UnavailableError
from messor.store.database import Connection, Database

MAX_BYTES = 50_000_000  # of a record, decompressed
MAX_LINES = 5_000  # of a compared text
MAX_LINE = 2_000

_BLANK_LINE = b"\r\n\r\n"
_GZIPPED = b"\x1f\x8b"
_REVISIT = b"WARC/1.1\r\nWARC-Type: revisit"
# Lines of an HTTP head, excluding the first.
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*+(\d{1,18})[ \t]*+(?=\r\n|\Z)", re.IGNORECASE)
_ENCODING = re.compile(rb"\r\ncontent-encoding:", re.IGNORECASE)

WHERE = """
SELECT g.name, s.segment_offset, s.segment_length, s.misfiled_at FROM messor.page_snapshots s
  JOIN messor.segments g ON g.id = s.segment_id WHERE s.id = $1
"""


@dataclass(frozen=True, slots=True)
class TextDifference:
    """The difference between two texts, line by line."""

    added: int
    removed: int
    diff: str  # unified, three lines of context
    is_cut: bool  # one of the texts is too long to be compared whole


async def record_place(source: Connection | Database, snapshot_id: int) -> tuple[str, int, int]:
    """The segment that holds a snapshot's bytes, the record's offset and length."""
    row = await source.fetchrow(WHERE, snapshot_id)
    if row is None:
        raise NotFoundError(f"There is no snapshot {snapshot_id}.")
    if row["misfiled_at"] is not None:
        raise NotFoundError(
            f"The archive does not hold the bytes of snapshot {snapshot_id}: they were found to be "
            f"wrong on {row['misfiled_at']:%Y-%m-%d}. Its page is fetched anew (messor archive verify)."
        )
    return row["name"], row["segment_offset"], row["segment_length"]


def read_body(
    source: ArchiveSource,
    name: str,
    offset: int,
    length: int,
    *,
    read: Callable[[ArchiveSource, str, int, int], bytes] = read_record,
) -> bytes:
    """The body of a response record as the site sent it, decompressed. Blocks: call it off the
    event loop.

    Callers that read many records may pass their own `read`.
    """
    try:
        packed = read(source, name, offset, length)
    except OSError as error:
        raise UnavailableError(
            "The bytes of this snapshot are not on this machine: they were archived elsewhere."
        ) from error
    record = unpack(packed)
    http = record.find(_BLANK_LINE) + len(_BLANK_LINE)
    if not record.startswith(b"HTTP/", http):
        raise NotFoundError("The bytes of this snapshot were erased.")
    if record.startswith(_REVISIT):
        raise UnavailableError("This record refers to another one, which holds its bytes.")
    end = record.find(_BLANK_LINE, http)
    if end < 0:
        return b""
    start = end + len(_BLANK_LINE)
    length_line = _LENGTH.search(record, http, end)
    payload = record[start : start + int(length_line[1]) if length_line else None]
    is_packed = payload.startswith(_GZIPPED) and _ENCODING.search(record, http, end)
    return unpack(payload) if is_packed else payload


def unpack(packed: bytes) -> bytes:
    """Decompress a gzip or zlib member, up to MAX_BYTES."""
    unpacker = isal_zlib.decompressobj(wbits=47)  # gzip or zlib, auto-detected
    try:
        return unpacker.decompress(packed, MAX_BYTES)
    except isal_zlib.error as error:  # type: ignore[misc]
        raise UnavailableError("The archive's record of this snapshot is damaged.") from error


def compare(before: str, after: str) -> TextDifference:
    """Compare line by line. Blocks: call it off the event loop."""
    old, new = before.splitlines(), after.splitlines()
    is_cut = any(len(lines) > MAX_LINES for lines in (old, new))
    old, new = ([line[:MAX_LINE] for line in lines[:MAX_LINES]] for lines in (old, new))
    lines = list(difflib.unified_diff(old, new, "before", "after", lineterm=""))
    changed = lines[2:]
    added = sum(line.startswith("+") for line in changed)
    removed = sum(line.startswith("-") for line in changed)
    return TextDifference(added, removed, "\n".join(lines), is_cut)
