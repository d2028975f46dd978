"""Compaction: many small objects become one of the usual size, with a CDXJ index beside it.

A WARC is a row of members, so segments are put one behind the other as they are, and only their names
change: no row that points into them does. The small objects are deleted an hour later, when nobody
can still be reading under the old name.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from messor.archive.cdxj import cdxj, index_of
from messor.archive.location import located
from messor.archive.objects import ObjectStore
from messor.archive.storage import Archive
from messor.store.database import Connection, Database

SMALL_SHARE = 4  # of the target: larger objects stay as they are
MOST = 10_000  # segments looked at in one round
WAIT_SECONDS = 86_400.0  # how long small objects wait for others

SMALL = """
SELECT id, name, bytes, extract(epoch FROM messor.clock() - sealed_at) AS age
  FROM messor.segments
 WHERE state = 'sealed' AND strpos(name, '://') > 0 AND strpos(name, '#') = 0
   AND bytes BETWEEN 1 AND $1 AND id > $2 ORDER BY id LIMIT $3
"""
# Only if nothing else happened to them meanwhile, such as an erasure.
LOCK = """
SELECT s.id FROM messor.segments s
  JOIN unnest($1::bigint[], $2::text[]) AS g (id, name) ON s.id = g.id AND s.name = g.name
 ORDER BY s.id FOR UPDATE OF s
"""
STILL = """
SELECT s.name FROM messor.segments s
  JOIN unnest($1::bigint[], $2::text[]) AS g (id, name) ON s.id = g.id AND s.name = g.name
 ORDER BY s.id
"""
MOVE = """
UPDATE messor.segments s SET name = g.new
  FROM unnest($1::bigint[], $2::text[], $3::text[]) AS g (id, old, new)
 WHERE s.id = g.id AND s.name = g.old RETURNING s.id
"""
NOTE_DEAD = """
INSERT INTO messor.dead_segments (name, delete_after)
SELECT name, messor.clock() + make_interval(secs => $2) FROM unnest($1::text[]) AS name
ON CONFLICT (name) DO NOTHING
"""
GRACE_SECONDS = 3_600.0


@dataclass(slots=True)
class Compacted:
    """What a compaction did."""

    segments: int = 0
    objects: int = 0
    bytes: int = 0
    damaged: list[str] = field(default_factory=list)  # objects unlike their rows; left alone

    def as_dict(self) -> dict[str, Any]:
        return {
            "segments": self.segments,
            "objects": self.objects,
            "bytes": self.bytes,
            "damaged": self.damaged,
        }


async def compact(
    archive: Archive, database: Database, target: int, *, wait_seconds: float = WAIT_SECONDS
) -> Compacted:
    """Put small objects together, as long as there are enough of them, or old ones."""
    done, after = Compacted(), 0
    while rows := await database.fetch(SMALL, target // SMALL_SHARE, after, MOST):
        after = rows[-1]["id"]
        for store, group in _groups(archive, rows, target):
            is_full = sum(row["bytes"] for row in group) >= target
            if len(group) > 1 and (is_full or group[0]["age"] >= wait_seconds):
                await _compact(store, database, group, done)
        if len(rows) < MOST:
            break
    return done


def _groups(
    archive: Archive, rows: Sequence[Any], target: int
) -> list[tuple[ObjectStore, list[Any]]]:
    """The rows by store, in groups of about the target; the last of a store may be smaller."""
    groups: list[tuple[ObjectStore, list[Any]]] = []
    open_groups: dict[str, tuple[list[Any], int]] = {}
    for row in rows:
        store = archive.store_of(located(row["name"]).url)
        group, size = open_groups.get(store.url, ([], 0))
        if not group:
            groups.append((store, group))
        group.append(row)
        size += row["bytes"]
        open_groups[store.url] = (group, size) if size < target else ([], 0)
    return groups


async def _compact(
    store: ObjectStore, database: Database, group: Sequence[Any], done: Compacted
) -> None:
    damaged: list[Any] = []
    whole = await asyncio.to_thread(_joined, store, group, damaged)
    # One that was replaced meanwhile, because of an erasure, is not damaged.
    still = await database.fetch(STILL, [r["id"] for r in damaged], [r["name"] for r in damaged])
    done.damaged += [row["name"] for row in still]
    if len(whole.rows) < 2:
        return
    await asyncio.to_thread(_write, store, whole)
    async with database.transaction() as connection:
        moved = await _move(connection, whole)
    if not moved:
        await asyncio.to_thread(store.delete, whole.keys(store))
        return
    done.segments += len(whole.rows)
    done.objects += 1
    done.bytes += len(whole.content)


@dataclass(slots=True)
class _Whole:
    """An object made of segments, and where each begins."""

    url: str
    content: bytes
    rows: list[Any]
    bases: list[int]

    def keys(self, store: ObjectStore) -> list[str]:
        return [store.key_of(self.url), store.key_of(index_of(self.url))]


def _joined(store: ObjectStore, group: Sequence[Any], damaged: list[Any]) -> _Whole:
    content, rows, bases = bytearray(), [], []
    for row in group:
        try:
            part = store.whole(store.key_of(row["name"]))
        except FileNotFoundError:
            part = b""
        if len(part) != row["bytes"]:
            damaged.append(row)
            continue
        rows.append(row)
        bases.append(len(content))
        content += part
    name = f"{platform.node()}-{uuid4().hex[:12]}.warc.gz"
    url = store.url_of(f"{datetime.now(UTC):%Y/%m/%d}/compact-{name}")
    return _Whole(url, bytes(content), rows, bases)


def _write(store: ObjectStore, whole: _Whole) -> None:
    key, index = whole.keys(store)
    store.put(index, cdxj(whole.content, whole.url))
    store.put(key, whole.content)


async def _move(connection: Connection, whole: _Whole) -> bool:
    """Lead the segments' names to their places in the whole; False if one is not what it was."""
    old = [row["name"] for row in whole.rows]
    new = [f"{whole.url}#{base}" for base in whole.bases]
    ids = [row["id"] for row in whole.rows]
    locked = await connection.fetch(LOCK, ids, old)
    if len(locked) < len(ids):
        return False
    await connection.fetch(MOVE, ids, old, new)
    await connection.execute(NOTE_DEAD, old, GRACE_SECONDS)
    return True
