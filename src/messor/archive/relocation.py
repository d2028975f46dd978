"""Relocation: moves segments from this machine's folder, or another store, to the archive's store.

Workers and readers go on meanwhile: each segment is whole at its new place before its name leads
there, and stays at the old one for an hour.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from uuid import uuid4

from messor.archive.cdxj import index_of
from messor.archive.compaction import GRACE_SECONDS, NOTE_DEAD
from messor.archive.erased_bytes import RENAME
from messor.archive.location import is_remote
from messor.archive.objects import ObjectStore
from messor.archive.storage import Archive
from messor.errors import UsageError
from messor.store.database import Database

# Objects once, however many segments they hold; files one by one.
ELSEWHERE = """
SELECT split_part(name, '#', 1) AS name, max(bytes) AS bytes FROM messor.segments
 WHERE state = 'sealed' AND bytes > 0 AND NOT starts_with(name, $1) AND split_part(name, '#', 1) > $2
 GROUP BY 1 ORDER BY 1 LIMIT $3
"""
AT_ONCE = 100
TRIES = 3
HOLD = """
SELECT id FROM messor.segments WHERE name = $1 OR starts_with(name, $1 || '#') ORDER BY id FOR UPDATE
"""
# What was erased in a segment: it must not come back with a copy made before.
ERASED = """
SELECT count(*) FROM messor.blanks b JOIN messor.segments s ON s.id = b.segment_id
 WHERE b.blanked_at IS NOT NULL AND (s.name = $1 OR starts_with(s.name, $1 || '#'))
"""


@dataclass(frozen=True, slots=True)
class Relocated:
    """A segment that was looked at; `new` is None if it is on another machine."""

    old: str
    new: str | None
    bytes: int = 0


async def relocate(archive: Archive, database: Database) -> AsyncIterator[Relocated]:
    """Move all sealed segments that are not in the archive's store."""
    store, after = archive.store, ""
    if store is None:
        raise UsageError("Set MESSOR_ARCHIVE_URL to the store to move the archive to.")
    while rows := await database.fetch(ELSEWHERE, f"{store.url}/", after, AT_ONCE):
        after = rows[-1]["name"]
        for row in rows:
            yield await _move(archive, database, store, row["name"])


async def _move(archive: Archive, database: Database, store: ObjectStore, name: str) -> Relocated:
    for _ in range(TRIES):
        erased = await database.fetchval(ERASED, name)
        content = await asyncio.to_thread(_content, archive, name)
        if content is None:
            break
        new = store.url_of(_key(archive, name))
        await asyncio.to_thread(_put, archive, store, (name, new), content)
        if await _lead(database, name, new, erased):
            return Relocated(name, new, len(content))
        await asyncio.to_thread(store.delete, [store.key_of(each) for each in (new, index_of(new))])
    return Relocated(name, None)


async def _lead(database: Database, name: str, new: str, erased: int) -> bool:
    """Lead a segment's names to its copy; False if something was erased, or it moved, meanwhile."""
    async with database.transaction() as connection:
        held = await connection.fetch(HOLD, name)
        if not held or await connection.fetchval(ERASED, name) != erased:
            return False
        await connection.fetch(RENAME, name, new)
        await connection.execute(NOTE_DEAD, [name], GRACE_SECONDS)
    return True


def _key(archive: Archive, name: str) -> str:
    """The old key, made unlike any that was used."""
    key = archive.store_of(name).key_of(name) if is_remote(name) else name
    path = PurePosixPath(key)
    stem = path.name.removesuffix(".warc.gz").partition("~")[0]
    return str(path.with_name(f"{stem}~{uuid4().hex[:12]}.warc.gz"))


def _content(archive: Archive, name: str) -> bytes | None:
    try:
        if is_remote(name):
            source = archive.store_of(name)
            return source.whole(source.key_of(name))
        return (archive.folder / name).read_bytes()
    except FileNotFoundError:
        return None


def _put(archive: Archive, store: ObjectStore, names: Sequence[str], content: bytes) -> None:
    old, new = names
    if is_remote(old):
        source = archive.store_of(old)
        if source.size(source.key_of(index_of(old))) is not None:
            index = source.whole(source.key_of(index_of(old)))
            store.put(store.key_of(index_of(new)), index)
    store.put(store.key_of(new), content)
