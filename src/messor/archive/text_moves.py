"""Moves texts of snapshots between PostgreSQL and the archive, while workers run.

Each batch is one transaction: its texts are in their new place before the rows say so, and the rows
are held meanwhile, so that an erasure waits and finds them where they then are. Nothing is remembered
between batches: what is not where it should be is moved, whenever it is started.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from messor.archive import snapshots
from messor.archive.segments import Place
from messor.archive.storage import Archive
from messor.archive.text_archiver import TextArchiver
from messor.archive.text_records import Text
from messor.archive.texts import load_all
from messor.archive.writer import Writer, own_segments
from messor.politeness.lease import WorkerLease
from messor.settings import Settings
from messor.store.database import Connection, Database

AT_ONCE = 500

STORED = """
SELECT s.id, s.page_id, p.url, x.markdown, x.data::text AS data
  FROM messor.page_snapshots s JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
  JOIN messor.pages p ON p.id = s.page_id
 WHERE s.id = ANY (ARRAY(SELECT snapshot_id FROM messor.snapshot_texts
                          WHERE snapshot_id > $1 AND markdown <> '' ORDER BY snapshot_id LIMIT $2))
 ORDER BY s.id FOR NO KEY UPDATE OF s
"""
ARCHIVED = """
SELECT s.id, s.page_id, g.name, s.text_segment_id, s.text_offset, s.text_length
  FROM messor.page_snapshots s JOIN messor.segments g ON g.id = s.text_segment_id
 WHERE s.id > $1 ORDER BY s.id LIMIT $2 FOR NO KEY UPDATE OF s
"""
POINT = """
UPDATE messor.page_snapshots s
   SET text_segment_id = g.segment_id, text_offset = g.at, text_length = g.length, text_words = g.words
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::int[])
       AS g (id, segment_id, at, length, words)
 WHERE s.id = g.id
"""
FORGET_PLACE = """
UPDATE messor.page_snapshots
   SET text_segment_id = NULL, text_offset = NULL, text_length = NULL, text_words = NULL
 WHERE id = ANY ($1::bigint[])
"""
REMAINING = {
    "archive": "SELECT count(*) FROM messor.snapshot_texts WHERE markdown <> ''",
    "database": "SELECT count(*) FROM messor.page_snapshots WHERE text_segment_id IS NOT NULL",
}


@dataclass(slots=True)
class MovedTexts:
    """How far a move is."""

    moved: int = 0
    elsewhere: list[int] = field(
        default_factory=list
    )  # unreadable here: on another machine, or damaged


async def remaining(database: Database, target: str) -> int:
    """How many texts are not where they should be."""
    count: int = await database.fetchval(REMAINING[target])
    return count


async def move(settings: Settings, database: Database) -> AsyncIterator[MovedTexts]:
    """Move every text to where `MESSOR_TEXTS` wants it; yields how far it is after each batch."""
    archive, done = Archive.of(settings), MovedTexts()
    if settings.texts == "database":
        async for each in _to_database(archive, database, done):
            yield each
        return
    async with own_segments(
        archive,
        database,
        "texts",
        lease_seconds=settings.worker_lease,
        limit=settings.segment_bytes,
    ) as (lease, writer):
        async for each in _to_archive(database, lease, writer, done):
            yield each


async def _to_archive(
    database: Database, lease: WorkerLease, writer: Writer, done: MovedTexts
) -> AsyncIterator[MovedTexts]:
    archiver, after = TextArchiver(writer), 0
    while True:
        await writer.ready()
        async with database.transaction() as connection:
            await lease.renew(connection, 0)
            rows = await connection.fetch(STORED, after, AT_ONCE)
            if not rows:
                return
            given = [(row["url"], Text(row["markdown"], row["data"])) for row in rows]
            places = await archiver.append_all(given)
            await writer.commit_bytes()
            ids = [row["id"] for row in rows]
            await connection.execute(POINT, ids, *snapshots.text_columns(places))
            await snapshots.unstore(connection, ids)
        after = rows[-1]["id"]
        done.moved += len(rows)
        yield done


async def _to_database(
    archive: Archive, database: Database, done: MovedTexts
) -> AsyncIterator[MovedTexts]:
    after = 0
    while True:
        async with database.transaction() as connection:
            rows = await connection.fetch(ARCHIVED, after, AT_ONCE)
            if not rows:
                return
            await _bring_back(archive, connection, rows, done)
        after = rows[-1]["id"]
        yield done


async def _bring_back(
    archive: Archive, connection: Connection, rows: Sequence[Any], done: MovedTexts
) -> None:
    found = await load_all(archive, rows)
    here = [row for row in rows if row["id"] in found]
    done.moved += len(here)
    done.elsewhere += [row["id"] for row in rows if row["id"] not in found]
    brought = [(row["id"], found[row["id"]].markdown, found[row["id"]].data) for row in here]
    await snapshots.rewrite(connection, brought)
    await connection.execute(FORGET_PLACE, [row["id"] for row in here])
    # The records stay in their segments, and go when their page is forgotten.
    await snapshots.spare(connection, [(row["page_id"], _place(row)) for row in here])


def _place(row: Any) -> Place:
    return Place(row["text_segment_id"], row["text_offset"], row["text_length"])
