"""Garbage: deletes segments that were compacted or moved, and finds objects that nothing points at."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from messor.archive.cdxj import index_of
from messor.archive.erased_bytes import WRITER_IS_GONE
from messor.archive.location import is_remote, located
from messor.archive.objects import StoredObject
from messor.archive.storage import Archive
from messor.store.database import Database

AT_ONCE = 1_000
ORPHAN_AGE = timedelta(days=1)  # what is younger may belong to a transaction about to commit
# Only of names that no segment has any more, nor a backup: a kept one refers to objects, and one that is being
# made copies files.
DUE = """
SELECT d.name FROM messor.dead_segments d
 WHERE d.delete_after <= messor.clock()
   AND NOT EXISTS (SELECT FROM messor.segments s WHERE s.name = d.name)
   AND NOT EXISTS (SELECT FROM messor.backups b
                    WHERE b.removed_at IS NULL AND b.error IS NULL AND b.started_at <= d.noted_at
                      AND CASE WHEN b.finished_at IS NULL THEN b.started_at > messor.clock() - interval '1 day'
                               ELSE strpos(d.name, '://') > 0 END)
 ORDER BY d.name LIMIT $1
"""
GONE = "DELETE FROM messor.dead_segments WHERE name = ANY ($1::text[])"
KNOWN = """
SELECT split_part(name, '#', 1) AS url FROM messor.segments WHERE starts_with(name, $1)
 UNION SELECT name FROM messor.dead_segments WHERE starts_with(name, $1)
"""
# Sealed segments of which nothing is needed any more. An object that holds several goes with the last.
EMPTY = f"""
WITH needed AS (
  SELECT segment_id AS id FROM messor.page_snapshots
   UNION SELECT revisit_segment_id FROM messor.page_snapshots WHERE revisit_segment_id IS NOT NULL
   UNION SELECT text_segment_id FROM messor.page_snapshots WHERE text_segment_id IS NOT NULL
   UNION SELECT segment_id FROM messor.spare_records
   UNION SELECT segment_id FROM messor.blanks WHERE blanked_at IS NULL
), gone AS MATERIALIZED (
  SELECT g.id, split_part(g.name, '#', 1) AS url FROM messor.segments g
   WHERE g.state = 'sealed' AND g.bytes > 0 AND g.sealed_at < messor.clock() - interval '1 hour'
     AND {WRITER_IS_GONE} AND NOT EXISTS (SELECT FROM needed n WHERE n.id = g.id)
), urls AS (
  SELECT split_part(s.name, '#', 1) AS url FROM messor.segments s
   WHERE split_part(s.name, '#', 1) IN (SELECT url FROM gone)
   GROUP BY 1 HAVING bool_and(s.id IN (SELECT id FROM gone))
), dead AS (
  INSERT INTO messor.dead_segments (name, delete_after) SELECT url, messor.clock() FROM urls
  ON CONFLICT (name) DO NOTHING
), blanks AS (
  DELETE FROM messor.blanks b USING gone WHERE b.segment_id = gone.id
), dropped AS (
  DELETE FROM messor.segments s USING gone WHERE s.id = gone.id RETURNING s.id
)
SELECT count(*) FROM dropped
"""
OLDEST = "SELECT messor.clock() - $1::interval"


@dataclass(frozen=True, slots=True)
class OrphanList:
    """Objects of a store that no segment names."""

    objects: Sequence[StoredObject]

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.objects)


async def collect(archive: Archive, database: Database) -> int:
    """Delete what is due: objects, and files of this machine; returns how many."""
    deleted = 0
    while rows := await database.fetch(DUE, AT_ONCE):
        names = [row["name"] for row in rows]
        gone = await asyncio.to_thread(_delete, archive, names)
        await database.fetch(GONE, gone)
        deleted += len(gone)
        if len(rows) < AT_ONCE or not gone:
            break
    return deleted


def _delete(archive: Archive, names: Sequence[str]) -> list[str]:
    gone = []
    by_store: dict[str, list[str]] = {}
    for name in names:
        if is_remote(name):
            by_store.setdefault(archive.store_of(name).url, []).append(name)
        elif (archive.folder / name).exists():
            with contextlib.suppress(OSError):
                (archive.folder / name).unlink()
                gone.append(name)
    for urls in by_store.values():
        store = archive.store_of(urls[0])
        store.delete([store.key_of(each) for url in urls for each in (url, index_of(url))])
        for url in urls:
            archive.forget(url)
        gone += urls
    return gone


async def drop_empty(database: Database) -> int:
    """Have segments deleted of which nothing is needed; returns how many. Reads all snapshots."""
    async with database.transaction() as connection:
        await connection.execute("SET LOCAL statement_timeout = 0")
        count: int = await connection.fetchval(EMPTY)
    return count


async def orphans(archive: Archive, database: Database) -> OrphanList:
    """Old objects of the archive's store that no segment names.

    Two installations must not share a prefix: each would call the other's objects orphans.
    """
    store = archive.store
    if store is None:
        return OrphanList([])
    oldest = await database.fetchval(OLDEST, ORPHAN_AGE)
    listed = await asyncio.to_thread(lambda: [*store.listed()])
    known = {located(row["url"]).url for row in await database.fetch(KNOWN, f"{store.url}/")}
    return OrphanList(
        [
            each
            for each in listed
            if each.written_at < oldest
            and store.url_of(each.key).removesuffix(".cdxj") not in known
        ]
    )


async def delete_orphans(archive: Archive, found: OrphanList) -> None:
    store = archive.store
    if store is not None and found.objects:
        await asyncio.to_thread(store.delete, [each.key for each in found.objects])
