"""WARC files of pages: their records as archived, each whole by itself.

A page whose bytes are kept in another page's record gets a full record in the copy, so that nothing
outside the file is needed. Erased and misfiled records are left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from messor.archive import warc
from messor.archive.records import ArchiveRecord, load
from messor.archive.storage import ArchiveSource
from messor.errors import NotFoundError, UnavailableError

WINDOW = 200  # pages per batch
BATCH = 20  # records read per thread call

# Appended to the tables of pages.
JOINS = """JOIN messor.page_snapshots y ON y.page_id = k.page_id AND y.misfiled_at IS NULL
  JOIN messor.segments g ON g.id = y.segment_id
  LEFT JOIN messor.segments v ON v.id = y.revisit_segment_id"""
COLUMNS = """g.name AS segment, y.segment_offset, y.segment_length, v.name AS revisit_segment,
  y.revisit_offset, y.revisit_length"""


def info(noun: str) -> bytes:
    """The record that opens the file."""
    return warc.warcinfo(f"Messor, an export of {noun}")


async def records(archive: ArchiveSource, rows: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """The records of some snapshots, compressed."""
    return await asyncio.to_thread(_records, archive, rows)


def _records(archive: ArchiveSource, rows: Sequence[Mapping[str, Any]]) -> list[bytes]:
    found = []
    for row in rows:
        try:
            found.append(_record(archive, row))
        except NotFoundError:  # its bytes were erased
            continue
        except FileNotFoundError as error:
            raise UnavailableError(
                f"Segment {row['segment']} is not on this machine; export where the archive is."
            ) from error
    return found


def _record(archive: ArchiveSource, row: Mapping[str, Any]) -> bytes:
    held = load(archive, row["segment"], row["segment_offset"], row["segment_length"])
    own = held
    if row["revisit_segment"] is not None:
        own = load(archive, row["revisit_segment"], row["revisit_offset"], row["revisit_length"])
    return _written(own, held)


def _written(own: ArchiveRecord, held: ArchiveRecord) -> bytes:
    """One record: the page's own URL, time and head with the bytes that are held."""
    original = warc.Original(own.url, own.date, held.digest)
    return warc.full(original, own.http, held.payload, packed=held.is_packed)
