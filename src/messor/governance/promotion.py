"""Promotion: rewrites bytes that other pages need before the record holding them is blanked.

A removed page takes its record along, with its address and headers. Where snapshots of other pages
refer to that record, the bytes are written again for the first of them and the others refer to the
copy. Nothing that remains is lost, and nothing removed stays.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from messor.archive import records, warc
from messor.archive.erased_bytes import WRITER_IS_GONE, blank_waiting
from messor.archive.records import ArchiveRecord, DamagedRecordError
from messor.archive.storage import Archive, ArchiveSource, archive_at
from messor.archive.writer import Writer, own_segments
from messor.errors import NotFoundError
from messor.records import image_rows
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.web.urls import parse

AT_ONCE = 50  # records per transaction

# Records that must be blanked and that snapshots still need.
NEEDED = f"""
SELECT b.segment_id, b.segment_offset, b.segment_length, g.name
  FROM messor.blanks b JOIN messor.segments g ON g.id = b.segment_id
 WHERE b.blanked_at IS NULL AND {WRITER_IS_GONE}
   AND (b.segment_id, b.segment_offset) > ($1, $2)
   AND EXISTS (SELECT FROM messor.page_snapshots s
                WHERE s.segment_id = b.segment_id AND s.segment_offset = b.segment_offset)
 ORDER BY b.segment_id, b.segment_offset LIMIT $3
"""
HEIRS = """
SELECT s.id, p.url, s.segment_id, s.segment_offset, s.status_code, s.content_type, s.crawled_at,
       s.revisit_segment_id, s.revisit_offset, s.revisit_length, r.name AS revisit_name
  FROM unnest($1::bigint[], $2::bigint[]) AS k (segment_id, segment_offset)
  JOIN messor.page_snapshots s USING (segment_id, segment_offset)
  JOIN messor.pages p ON p.id = s.page_id
  LEFT JOIN messor.segments r ON r.id = s.revisit_segment_id
 ORDER BY s.id FOR NO KEY UPDATE OF s
"""
MOVE = """
UPDATE messor.page_snapshots s
   SET segment_id = $2, segment_offset = $3, segment_length = $4, revisit_segment_id = g.segment_id,
       revisit_offset = g.segment_offset, revisit_length = g.segment_length
  FROM unnest($1::bigint[], $5::bigint[], $6::bigint[], $7::int[])
       AS g (id, segment_id, segment_offset, segment_length)
 WHERE s.id = g.id
"""
BLANK = """
INSERT INTO messor.blanks (segment_id, segment_offset, segment_length)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::int[]) ON CONFLICT DO NOTHING
"""
# Its page still exists: only another page with the same bytes was removed.
STAYS = """
DELETE FROM messor.blanks WHERE segment_id = $1 AND segment_offset = $2 AND blanked_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class _Head:
    """A snapshot's own response head, without the bytes."""

    url: str
    date: str
    http: bytes


async def let_go(settings: Settings, database: Database) -> int:
    """Blank all removed records that may go, in segments on this machine; returns how many."""
    archive = Archive.of(settings)
    if await database.fetch(NEEDED, 0, 0, 1):
        async with own_segments(
            archive,
            database,
            "promotion",
            lease_seconds=settings.worker_lease,
            limit=settings.segment_bytes,
        ) as (_, writer):
            await promote(archive, database, writer)
    return await blank_waiting(archive, database)


async def promote(archive: ArchiveSource, database: Database, writer: Writer) -> int:
    """Rewrite needed bytes of records that must go; returns how many."""
    promoted, after = 0, (0, 0)
    while rows := await database.fetch(NEEDED, *after, AT_ONCE):
        after = rows[-1]["segment_id"], rows[-1]["segment_offset"]
        here = [row for row in rows if archive_at(archive).has(row["name"])]
        if here:
            await writer.ready()
            async with database.transaction() as connection:
                promoted += await _promote(archive, connection, writer, here)
                await writer.commit_bytes()
    return promoted


async def _promote(
    archive: ArchiveSource, connection: Connection, writer: Writer, rows: Sequence[Any]
) -> int:
    heirs: defaultdict[tuple[int, int], list[Any]] = defaultdict(list)
    places = [row["segment_id"] for row in rows], [row["segment_offset"] for row in rows]
    for heir in await connection.fetch(HEIRS, *places):
        heirs[heir["segment_id"], heir["segment_offset"]].append(heir)
    promoted = 0
    for row in rows:
        key = row["segment_id"], row["segment_offset"]
        try:
            place = row["name"], row["segment_offset"], row["segment_length"]
            record = await asyncio.to_thread(records.load, archive, *place)
        except (OSError, DamagedRecordError, NotFoundError):
            continue  # its bytes cannot be saved here; it is not blanked while needed
        if any(_is_of(record, heir) for heir in heirs[key]):
            await connection.execute(STAYS, *key)
        elif heirs[key]:
            await _inherit(archive, connection, writer, record, heirs[key])
            promoted += 1
    return promoted


def _is_of(record: ArchiveRecord, heir: Any) -> bool:
    """Whether the record belongs to this snapshot."""
    url = parse(heir["url"])
    own = url.href if url is not None else heir["url"]
    return heir["revisit_name"] is None and record.url in (heir["url"], own)


async def _inherit(
    archive: ArchiveSource,
    connection: Connection,
    writer: Writer,
    record: ArchiveRecord,
    heirs: list[Any],
) -> None:
    """Give the bytes to the first snapshot and let the others refer to it."""
    heads = await asyncio.to_thread(lambda: [_own_head(archive, record, heir) for heir in heirs])
    first = heads[0]
    original = warc.Original(first.url, first.date, record.digest)
    place = writer.append(warc.full(original, first.http, record.payload, packed=record.is_packed))
    revisits = [
        None,
        *(
            writer.append(warc.reference(each.url, each.date, each.http, original))
            for each in heads[1:]
        ),
    ]
    ids = [heir["id"] for heir in heirs]
    await connection.execute(
        MOVE,
        ids,
        place.segment_id,
        place.offset,
        place.length,
        [each and each.segment_id for each in revisits],
        [each and each.offset for each in revisits],
        [each and each.length for each in revisits],
    )
    await image_rows.move(connection, ids)
    # Their records name the one to be blanked.
    old = [heir for heir in heirs if heir["revisit_segment_id"] is not None]
    await connection.execute(
        BLANK,
        [heir["revisit_segment_id"] for heir in old],
        [heir["revisit_offset"] for heir in old],
        [heir["revisit_length"] for heir in old],
    )


def _own_head(archive: ArchiveSource, record: ArchiveRecord, heir: Any) -> _Head:
    """A snapshot's own response head; built from its row where it has no record."""
    url = parse(heir["url"])
    href = url.href if url is not None else heir["url"]
    if heir["revisit_name"] is not None:
        place = heir["revisit_name"], heir["revisit_offset"], heir["revisit_length"]
        try:
            own = records.load(archive, *place)
        except (OSError, DamagedRecordError, NotFoundError):
            pass  # lost, or on another machine: the row suffices
        else:
            return _Head(own.url, own.date, own.http)
    return _Head(href, warc.written(heir["crawled_at"]), _plain_head(record, heir))


def _plain_head(record: ArchiveRecord, heir: Any) -> bytes:
    headers = []
    if heir["content_type"]:
        headers.append((b"Content-Type", heir["content_type"].encode("latin-1", "replace")))
    if record.is_packed:
        headers.append((b"Content-Encoding", b"gzip"))
    status: int = heir["status_code"]
    known = status in HTTPStatus.__members__.values()
    reason = HTTPStatus(status).phrase if known else ""
    return warc.http_head(status, reason, headers, len(record.payload), packed=record.is_packed)
