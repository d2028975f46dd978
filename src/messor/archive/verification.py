"""Verifies a snapshot's row against the records it points at.

Checks that the bytes exist, are complete, match the hash and belong to the page; and that the
page's URL has its own record, so that it replays. The text is compared where pages are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any

from messor.archive import hashes, records, texts
from messor.archive.location import is_remote
from messor.archive.records import ArchiveRecord, DamagedRecordError
from messor.archive.storage import ArchiveSource
from messor.archive.text_records import DamagedTextError
from messor.errors import NotFoundError
from messor.store.database import Database
from messor.web.urls import parse

_ROWS = """
SELECT s.id, s.page_id, p.url, t.kind, t.snapshot_id = s.id AS is_current, s.provider, s.raw_hash,
       s.content_hash, s.content_type, s.status_code, s.reader_version, s.crawled_at, s.misfiled_at,
       g.name AS segment, s.segment_offset, s.segment_length,
       r.name AS revisit_segment, s.revisit_offset, s.revisit_length,
       a.name AS text_segment, s.text_offset, s.text_length,
       coalesce(x.markdown, '') <> '' OR a.id IS NOT NULL AS has_text,
       x.markdown = '' OR sha256(convert_to(x.markdown, 'UTF8')) = s.content_hash AS is_hashed
  FROM {chosen} s
  JOIN messor.pages p ON p.id = s.page_id JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.crawl_tasks t ON t.page_id = s.page_id
  JOIN messor.segments g ON g.id = s.segment_id
  LEFT JOIN messor.segments r ON r.id = s.revisit_segment_id
  LEFT JOIN messor.segments a ON a.id = s.text_segment_id
  LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
"""
# Random blocks of the table, a few more than needed.
SAMPLED = _ROWS.format(
    chosen="""(SELECT * FROM messor.page_snapshots TABLESAMPLE SYSTEM ({percent})
               ORDER BY random() LIMIT $1)"""
)
FOLLOWING = (
    _ROWS.format(chosen="messor.page_snapshots")
    + " WHERE s.id > $1 AND ($3::uuid IS NULL OR h.domain_id = $3) ORDER BY s.id LIMIT $2"
)
NAMED = _ROWS.format(chosen="messor.page_snapshots") + " WHERE s.id = ANY ($1::bigint[])"
COUNT = "SELECT reltuples::bigint FROM pg_class WHERE oid = 'messor.page_snapshots'::regclass"


class SnapshotFlaw(StrEnum):
    """What can be wrong with a snapshot."""

    MISFILED = "misfiled"  # its record holds other bytes than those fetched
    DAMAGED = "damaged"  # its record is unreadable, or differs from what was written
    LOST = "lost"  # its bytes were erased
    UNRECORDED = "unrecorded"  # its bytes exist, but its URL has no record of its own
    HASH = "hash"  # its bytes are its own, but the hash in its row does not match
    TEXT = "text"  # its text does not match its bytes


@dataclass(frozen=True, slots=True)
class SnapshotFinding:
    """A snapshot that does not match its row."""

    snapshot_id: int
    page_id: int
    url: str
    flaw: SnapshotFlaw
    message: str
    is_current: bool  # it represents its page
    provider: str
    raw_hash: bytes | None = None  # of the bytes found


@dataclass(frozen=True, slots=True)
class Examined:
    """The result for a snapshot's records; without a flaw and a finding everything matches so far."""

    row: Any
    is_here: bool = True  # its segments are on this machine
    flaw: SnapshotFlaw | None = None
    message: str = ""
    raw_hash: bytes | None = None
    is_known: bool = False  # found before: its page waits to be fetched, or can never be again

    def finding(self, flaw: SnapshotFlaw | None = None, message: str = "") -> SnapshotFinding:
        row, flaw = self.row, flaw or self.flaw
        assert flaw is not None
        return SnapshotFinding(
            row["id"],
            row["page_id"],
            row["url"],
            flaw,
            message or self.message,
            row["is_current"] is True,
            row["provider"],
            self.raw_hash,
        )


async def sample(database: Database, size: int) -> Sequence[Any]:
    """A random sample of snapshots, ready to be examined."""
    count: int = await database.fetchval(COUNT)
    percent = 100 if count <= 10 * size else max(0.01, 1000 * size / count)
    return await database.fetch(SAMPLED.format(percent=percent), size)


async def following(
    database: Database, after: int, limit: int, domain_id: Any = None
) -> Sequence[Any]:
    """Snapshots in order of their ids, ready to be examined."""
    return await database.fetch(FOLLOWING, after, limit, domain_id)


async def named(database: Database, ids: Sequence[int]) -> Sequence[Any]:
    """These snapshots in their current state, without deleted ones."""
    return await database.fetch(NAMED, ids)


def examine(source: ArchiveSource, row: Any) -> Examined:
    """Check a row against its records. Blocks: call it off the event loop."""
    place = row["segment"], row["segment_offset"], row["segment_length"]
    try:
        record = records.load(source, *place)
        own = record
        if row["revisit_segment"] is not None:
            place = row["revisit_segment"], row["revisit_offset"], row["revisit_length"]
            own = records.load(source, *place)
    except OSError:
        if is_remote(place[0]):
            message = f"its object {place[0]} does not exist"
            return Examined(
                row, flaw=SnapshotFlaw.DAMAGED, message=message, is_known=_is_known(row)
            )
        return Examined(row, is_here=False)
    except DamagedRecordError as error:
        return Examined(row, flaw=SnapshotFlaw.DAMAGED, message=str(error), is_known=_is_known(row))
    except NotFoundError:
        return Examined(
            row, flaw=SnapshotFlaw.LOST, message="its bytes were erased", is_known=_is_known(row)
        )
    flaw, message, raw_hash = _judge(row, record, own)
    if flaw is None and (objection := _objection_to_text(source, row)) is not None:
        flaw, message = SnapshotFlaw.TEXT, objection
    return Examined(row, True, flaw, message, raw_hash, _is_known(row))


def _objection_to_text(source: ArchiveSource, row: Any) -> str | None:
    """What is wrong with the text that is stored, by its hash alone."""
    if row["text_segment"] is None:
        return "its text does not match its hash" if row["is_hashed"] is False else None
    try:
        text = texts.load(source, row["text_segment"], row["text_offset"], row["text_length"])
    except OSError:
        is_lost = is_remote(row["text_segment"])
        return f"its text was in {row['text_segment']}, which does not exist" if is_lost else None
    except DamagedTextError as error:
        return str(error)
    is_same = sha256(text.markdown.encode()).digest() == row["content_hash"]
    return None if is_same else "its text does not match its hash"


def _is_known(row: Any) -> bool:
    return row["misfiled_at"] is not None


def _judge(
    row: Any, record: ArchiveRecord, own: ArchiveRecord
) -> tuple[SnapshotFlaw | None, str, bytes | None]:
    """What is wrong, as a message, and the hash of the bytes found."""
    if record.kind != "response" or not record.is_intact:
        return SnapshotFlaw.DAMAGED, "the payload differs from the one that was written", None
    raw_hash = hashes.raw_hash(record.body)
    url = parse(row["url"])
    is_own = own.url in (row["url"], url.href if url is not None else None)
    flaw, message = None, ""
    if raw_hash != row["raw_hash"] and not is_own:
        flaw, message = SnapshotFlaw.MISFILED, f"its record belongs to {own.url}"
    elif raw_hash != row["raw_hash"]:
        flaw, message = SnapshotFlaw.HASH, "the hash in its row does not match its bytes"
    elif not is_own:
        flaw, message = SnapshotFlaw.UNRECORDED, f"its bytes are only in the record of {own.url}"
    elif own is not record and not _refers(own, record):
        flaw, message = (
            SnapshotFlaw.UNRECORDED,
            "its record refers to a payload of another snapshot",
        )
    return flaw, message, raw_hash


def _refers(own: ArchiveRecord, record: ArchiveRecord) -> bool:
    return own.digest == record.digest and own.refers_to == (record.url, record.date)
