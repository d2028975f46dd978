"""Archive repair: fixes what an audit found, or fetches it again from its site.

A snapshot whose bytes exist gets the record or hash that it lacks. One whose bytes or text are not
its own is marked: it proves nothing any more, and its page is fetched again. When the same content
returns, it replaces what was wrong, and the page is extracted again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

from messor.archive import records, snapshots, warc
from messor.archive.records import DamagedRecordError
from messor.archive.segments import Place
from messor.archive.storage import Archive, ArchiveSource
from messor.archive.verification import SnapshotFinding, SnapshotFlaw
from messor.archive.writer import Writer, own_segments
from messor.errors import NotFoundError
from messor.frontier import control
from messor.ledger.events import Event, record
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.web.urls import parse

IMPORT = "import"  # providers of pages that cannot be fetched from a site

MARK = """
UPDATE messor.page_snapshots SET misfiled_at = coalesce(misfiled_at, messor.clock())
 WHERE id = ANY ($1::bigint[])
"""
CORRECT = """
UPDATE messor.page_snapshots s SET raw_hash = g.raw_hash
  FROM unnest($1::bigint[], $2::bytea[]) AS g (id, raw_hash) WHERE s.id = g.id
"""
UNRECORDED = """
SELECT s.id, s.page_id, p.url, s.segment_offset, s.segment_length, g.name, s.crawled_at,
       ARRAY[s.revisit_segment_id, s.revisit_offset, s.revisit_length] AS replaced
  FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id
  JOIN messor.segments g ON g.id = s.segment_id
 WHERE s.id = ANY ($1::bigint[]) ORDER BY s.id FOR NO KEY UPDATE OF s
"""
REFER = """
UPDATE messor.page_snapshots s
   SET revisit_segment_id = g.segment_id, revisit_offset = g.segment_offset,
       revisit_length = g.segment_length
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[])
       AS g (id, segment_id, segment_offset, segment_length)
 WHERE s.id = g.id
"""
MARKED = """
SELECT s.page_id FROM messor.page_snapshots s JOIN messor.crawl_tasks t ON t.snapshot_id = s.id
 WHERE s.misfiled_at IS NOT NULL AND s.provider <> $1
   AND (t.raw_hash IS NOT NULL OR t.due_at > messor.clock() + interval '1 minute')
"""

_WRONG = frozenset(
    {SnapshotFlaw.MISFILED, SnapshotFlaw.DAMAGED, SnapshotFlaw.LOST, SnapshotFlaw.TEXT}
)


class Repair:
    """Repairs findings batch by batch, and counts them."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._archive = Archive.of(settings)
        self._stack = AsyncExitStack()
        self._writer: Writer | None = None
        self.done: Counter[str] = Counter()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    async def mend(self, findings: Sequence[SnapshotFinding]) -> None:
        """Repair what is possible, and have the rest fetched again."""
        by_flaw: dict[SnapshotFlaw, list[SnapshotFinding]] = {}
        for finding in findings:
            by_flaw.setdefault(finding.flaw, []).append(finding)
        if unrecorded := by_flaw.get(SnapshotFlaw.UNRECORDED):
            await self._write_records([each.snapshot_id for each in unrecorded])
        if hashes := by_flaw.get(SnapshotFlaw.HASH):
            await self._database.fetch(
                CORRECT, [each.snapshot_id for each in hashes], [each.raw_hash for each in hashes]
            )
            self.done["hashes_corrected"] += len(hashes)
        wrong = [each for each in findings if each.flaw in _WRONG]
        if wrong:
            await self._database.fetch(MARK, [each.snapshot_id for each in wrong])
            self.done["marked"] += len(wrong)
        await self._fetch_anew(wrong)

    async def finish(self, actor: str) -> None:
        """Also fetch those marked before and not due; record the result in the ledger."""
        rows = await self._database.fetch(MARKED, IMPORT)
        if rows:
            self.done["pages_due"] += await control.refetch(
                self._database, [row["page_id"] for row in rows]
            )
        if self.done:
            async with self._database.transaction() as connection:
                await record(connection, [Event("archive.repaired", actor, data=dict(self.done))])

    async def _fetch_anew(self, findings: Sequence[SnapshotFinding]) -> None:
        """Only current content is worth a request; earlier content cannot return."""
        current = [each for each in findings if each.is_current]
        fetchable = [each.page_id for each in current if each.provider != IMPORT]
        self.done["to_import_again"] += len(current) - len(fetchable)
        if fetchable:
            self.done["pages_due"] += await control.refetch(self._database, fetchable)

    async def _write_records(self, ids: Sequence[int]) -> None:
        """Give addresses a record of their own that refers to the bytes."""
        writer = await self._opened()
        await writer.ready()
        async with self._database.transaction() as connection:
            written = await self._refer(connection, writer, ids)
            await writer.commit_bytes()
        self.done["records_written"] += written

    async def _opened(self) -> Writer:
        """One writer for the whole repair, opened on demand."""
        if self._writer is None:
            segments = own_segments(
                self._archive,
                self._database,
                "repair",
                lease_seconds=self._settings.worker_lease,
                limit=self._settings.segment_bytes,
            )
            _, writer = await self._stack.enter_async_context(segments)
            self._writer = writer
        return self._writer

    async def _refer(self, connection: Connection, writer: Writer, ids: Sequence[int]) -> int:
        rows = await connection.fetch(UNRECORDED, ids)
        made = await asyncio.to_thread(lambda: [_reference(self._archive, row) for row in rows])
        places: dict[int, Place] = {
            row["id"]: writer.append(data)
            for row, data in zip(rows, made, strict=True)
            if data is not None
        }
        await connection.execute(
            REFER,
            list(places),
            [place.segment_id for place in places.values()],
            [place.offset for place in places.values()],
            [place.length for place in places.values()],
        )
        spare = [
            (row["page_id"], Place(*row["replaced"]))
            for row in rows
            if row["id"] in places and row["replaced"][0] is not None
        ]
        await snapshots.spare(connection, spare)
        return len(places)


def _reference(archive: ArchiveSource, row: Any) -> bytes | None:
    """A revisit record for a row; None if its bytes disappeared meanwhile."""
    try:
        place = row["name"], row["segment_offset"], row["segment_length"]
        original = records.load(archive, *place)
    except (OSError, DamagedRecordError, NotFoundError):
        return None
    url = parse(row["url"])
    href = url.href if url is not None else row["url"]
    # Its own head is lost: that of equal bytes describes them as well.
    return warc.reference(href, warc.written(row["crawled_at"]), original.http, original.original)
