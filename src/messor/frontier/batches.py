"""Batches: many URLs submitted together, each line checked, the good ones due at once.

Lines are written in chunks, one transaction each, so that a batch of any length neither locks for
long nor is lost if interrupted; its counts are correct after every chunk. `batch_lines` parses
lines, `batch_rows` turns them into rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import BinaryIO
from uuid import UUID

from messor.core.ids import new_id
from messor.frontier import batch_rows
from messor.frontier.batch_lines import (
    MAX_SHOWN,
    BadLine,
    BatchItem,
    Line,
    LineReader,
    raw_lines,
    sitemap_lines,
)
from messor.frontier.batch_rows import BatchChunk, refused_line
from messor.frontier.tasks import DEFAULT_PRIORITY
from messor.ledger.events import Event, record
from messor.store.database import TRY_AGAIN, Connection, Database
from messor.web.sitemaps import MAX_BYTES
from messor.web.urls import parse, url_hash

CHUNK = 1_000
TRIES = 5  # of a chunk that conflicted with a flush
NAMED = 100_000  # rejected lines kept with their reasons; others are only counted

BEGIN = """
INSERT INTO messor.task_batches (id, name, submitted_by, source, format)
VALUES ($1, $2, $3, $4, $5) RETURNING created_at
"""
COUNT = """
UPDATE messor.task_batches
   SET lines = $2, accepted = $3, fresh = $4, duplicates = $5, rejected = $6,
       finished_at = CASE WHEN $7 THEN messor.clock() END
 WHERE id = $1
"""
NAME_ERRORS = """
INSERT INTO messor.batch_errors (batch_id, line, text, reason)
SELECT $1, * FROM unnest($2::int[], $3::text[], $4::text[]) ON CONFLICT DO NOTHING
"""


@dataclass(slots=True)
class BatchReport:
    """The result of a batch."""

    id: UUID
    name: str
    created_at: datetime
    lines: int = 0
    accepted: int = 0
    fresh: int = 0  # accepted pages that were unknown
    duplicates: int = 0
    rejected: int = 0
    errors: list[BadLine] = field(default_factory=list)  # including duplicates


class BatchSubmitter:
    """Processes one batch; used by the command line and the API."""

    def __init__(
        self,
        database: Database,
        *,
        actor: str,
        priority: int = DEFAULT_PRIORITY,
        frequency: timedelta | None = None,
    ) -> None:
        self._database = database
        self._actor = actor
        self._priority = priority
        self._frequency = frequency
        self._seen: dict[bytes, int] = {}

    async def submit(
        self, lines: AsyncIterable[Line], *, name: str, source: str, form: str
    ) -> BatchReport:
        """Check every line; good ones are due when this returns."""
        batch_id = new_id()
        self._seen.clear()
        waiting: list[Line] = []
        report: BatchReport | None = None
        async for line in lines:
            if report is None:  # nothing is created for a source that cannot be read at all
                report = await self._begin(batch_id, name, source, form)
            waiting.append(line)
            if len(waiting) >= CHUNK:
                await self._take(report, waiting)
                waiting = []
        if report is None:
            report = await self._begin(batch_id, name, source, form)
        await self._take(report, waiting, last=True)
        return report

    async def _begin(self, batch_id: UUID, name: str, source: str, form: str) -> BatchReport:
        row = await self._database.fetchrow(
            BEGIN, batch_id, name[:200], self._actor, source[:500], form
        )
        assert row is not None
        return BatchReport(batch_id, name[:200], row["created_at"])

    async def _take(
        self, report: BatchReport, lines: Sequence[Line], *, last: bool = False
    ) -> None:
        """Write one chunk; retry if it conflicts with a flush."""
        items, bad, duplicates = self._split(lines)
        for attempt in range(TRIES):
            chunk = BatchChunk(items, bad)
            try:
                async with self._database.transaction() as connection:
                    await batch_rows.write(
                        connection, report.id, chunk, self._priority, self._frequency
                    )
                    named = sorted([*chunk.bad, *duplicates], key=lambda line: line.line)
                    named = named[: NAMED - len(report.errors)]
                    counted = _count(report, lines, chunk, len(duplicates))
                    await self._close(connection, counted, named, last=last)
            except TRY_AGAIN:
                if attempt == TRIES - 1:
                    raise
            else:
                report.errors += named
                report.lines, report.accepted, report.fresh = counted[1:4]
                report.duplicates, report.rejected = counted[4:6]
                return

    def _split(self, lines: Sequence[Line]) -> tuple[list[BatchItem], list[BadLine], list[BadLine]]:
        """Split lines into accepted, rejected, and repetitions of an earlier line."""
        items: list[BatchItem] = []
        bad: list[BadLine] = []
        duplicates: list[BadLine] = []
        for line in lines:
            if isinstance(line, BadLine):
                bad.append(line)
                continue
            key = url_hash(line.url)[:16]
            first = self._seen.setdefault(key, line.line)
            if first != line.line:
                duplicates.append(refused_line(line, f"the same page as line {first}"))
            else:
                items.append(line)
        return items, bad, duplicates

    async def _close(
        self,
        connection: Connection,
        counted: tuple[UUID, int, int, int, int, int],
        named: Sequence[BadLine],
        *,
        last: bool,
    ) -> None:
        if named:
            await connection.execute(
                NAME_ERRORS,
                counted[0],
                [line.line for line in named],
                [line.text for line in named],
                [line.reason for line in named],
            )
        await connection.execute(COUNT, *counted, last)
        if last:
            names = ("batch", "lines", "accepted", "fresh", "duplicates", "rejected")
            data = dict(zip(names, (str(counted[0]), *counted[1:]), strict=True))
            await record(connection, [Event("tasks.submitted", self._actor, data=data)])


def _count(
    report: BatchReport, lines: Sequence[Line], chunk: BatchChunk, duplicates: int
) -> tuple[UUID, int, int, int, int, int]:
    return (
        report.id,
        report.lines + len(lines),
        report.accepted + len(chunk.items),
        report.fresh + chunk.fresh,
        report.duplicates + duplicates,
        report.rejected + len(chunk.bad),
    )


async def lines_of(file: BinaryIO, form: str) -> AsyncIterator[Line]:
    """The lines of an open file, read in a thread, a chunk at a time."""
    if form == "sitemap":
        body = await asyncio.to_thread(file.read, MAX_BYTES + 1)
        for line in await asyncio.to_thread(lambda: list(sitemap_lines(body))):
            yield line
        return
    reader, source = LineReader(form), raw_lines(file)
    while chunk := await asyncio.to_thread(_some, source):
        for raw in chunk:
            understood = reader.read(raw)
            if understood is not None:
                yield understood


def _some(source: Iterable[bytes]) -> list[bytes]:
    return list(islice(source, CHUNK))


async def sitemap_at(text: str) -> AsyncIterator[Line]:
    """A sitemap by URL: a worker fetches it and puts its pages on the frontier."""
    url = parse(text)
    if url is None:
        yield BadLine(1, text[:MAX_SHOWN], "not a web URL")
    else:
        yield BatchItem(1, text, url, kind="sitemap")
