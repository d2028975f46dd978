"""Garbage: deletes segments that were compacted or moved, and finds objects that nothing points at."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from messor.archive.cdxj import index_of
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
