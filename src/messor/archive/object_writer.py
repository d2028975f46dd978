"""Writes segments to an object store: each flush puts one object, whole, before its rows commit.

A segment is open in memory only. `cut` closes it when the rows that point into it are about to be
written, and the next one, opened beforehand, takes its place; `sync` puts what was cut and believes
the store only after asking it. Nothing of the machine matters: when it dies, what was not put was not
committed either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import UTC, datetime
from uuid import uuid4

from messor.archive import warc
from messor.archive.location import located
from messor.archive.segments import OPEN, Place
from messor.archive.storage import Archive
from messor.errors import UnavailableError
from messor.store.database import Database

SEAL = """
UPDATE messor.segments s SET state = 'sealed', bytes = g.bytes, sealed_at = messor.clock()
  FROM unnest($1::bigint[], $2::bigint[]) AS g (id, bytes) WHERE s.id = g.id
"""


DROP = "DELETE FROM messor.segments WHERE id = ANY ($1::bigint[])"


class _Object:
    """A segment in memory."""

    def __init__(self, segment_id: int, url: str, opening: bytes) -> None:
        self.id = segment_id
        self.url = url
        self.opening = len(opening)
        self.size = len(opening)
        self.is_put = False
        self._records = [opening]

    def append(self, record: bytes) -> Place:
        place = Place(self.id, self.size, len(record))
        self._records.append(record)
        self.size += len(record)
        return place

    @property
    def is_empty(self) -> bool:
        return self.size == self.opening

    def content(self) -> bytes:
        return b"".join(self._records)

    def free(self) -> None:
        self._records = []


class ObjectWriter:
    """Appends records to the objects of one writer; the counterpart of `SegmentWriter`."""

    def __init__(
        self, archive: Archive, database: Database, *, worker_id: int, name: str, software: str
    ) -> None:
        assert archive.store is not None
        self._archive = archive
        self._store = archive.store
        self._database = database
        self._worker_id = worker_id
        self._name = name
        self._software = software
        self._count = 0
        self._current: _Object | None = None
        self._spare: _Object | None = None
        self._cut: list[_Object] = []
        self._lost: set[int] = set()

    async def ready(self) -> None:
        """Ensure an open segment and the one after it, and seal what was put."""
        if self._current is None:
            self._current = self._spare or await self._open()
            self._spare = None
        if self._spare is None:
            self._spare = await self._open()
        await self._seal_put()

    def append(self, record: bytes) -> Place:
        """Append a record; the store has it after the next `cut` and `sync`."""
        if self._current is None:
            raise UnavailableError("The archive is not open for writing.")
        return self._current.append(record)

    def cut(self, segment_ids: Collection[int] | None = None) -> None:
        """Close the current segment if it is one of these, or in any case: rows will point at it."""
        current = self._current
        if current is None or current.is_empty:
            return
        if segment_ids is None or current.id in segment_ids:
            self._cut.append(current)
            self._current, self._spare = self._spare, None

    def sync(self) -> None:
        """Put what was cut; when this returns, the store has it. Blocks: call it off the event
        loop. What could not be put stays, to be tried again.
        """
        for segment in [*self._cut]:
            if not segment.is_put:
                content = segment.content()
                self._store.put(self._store.key_of(segment.url), content)
                self._archive.remember(segment.url, content)
                segment.is_put = True
                segment.free()

    async def commit_bytes(self) -> None:
        """Have all that was appended in the store, for rows about to be committed."""
        self.cut()
        await asyncio.to_thread(self.sync)

    async def seal(self) -> None:
        """Put and seal everything; segments opened beforehand and not used go."""
        await self.commit_bytes()
        await self._seal_put()
        unused = [each.id for each in (self._current, self._spare) if each is not None]
        await self._database.fetch(DROP, unused)
        self._current = self._spare = None

    def abandon(self) -> None:
        """Leave everything as it is; `seal_abandoned` looks at what was put."""
        for segment in (*self._cut, self._current, self._spare):
            if segment is not None:
                self._lost.add(segment.id)
        self._cut, self._current, self._spare = [], None, None

    def has(self, place: Place) -> bool:
        """Whether a record is in the store, or can still be expected to get there."""
        return place.segment_id not in self._lost

    async def _open(self) -> _Object:
        self._count += 1
        # Random, because leases are numbered anew in a database that was restored.
        unique = uuid4().hex[:12]
        key = f"{datetime.now(UTC):%Y/%m/%d}/{self._name}-{self._count:05d}-{unique}.warc.gz"
        url = self._store.url_of(key)
        segment_id: int = await self._database.fetchval(OPEN, url, self._worker_id)
        return _Object(segment_id, located(url).url, warc.warcinfo(self._software))

    async def _seal_put(self) -> None:
        put = [segment for segment in self._cut if segment.is_put]
        if put:
            await self._database.fetch(
                SEAL, [segment.id for segment in put], [segment.size for segment in put]
            )
            self._cut = [segment for segment in self._cut if segment not in put]
