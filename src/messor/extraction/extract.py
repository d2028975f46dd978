"""The extractor: reads queued pages from the archive and stores the results.

A batch is one transaction: queue rows are claimed, their pages read by reader processes, and
records, history, products, flags, events and the completion of the rows commit together. A crash in
between leaves everything unchanged. A page that kills its reader, or whose results PostgreSQL
refuses, is retried and then set aside with its reason. A page pinned to a version that is not
installed here waits. Model questions are queued as jobs. Shadow trials read the same pages
afterwards. A batch of slow or large pages is cut short, and the rest waits for the next batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from logging import DEBUG
from typing import Any

import msgspec

from messor.archive.storage import ArchiveSource, archive_at
from messor.content.products.ranking import Ranking
from messor.core.heartbeat import Heartbeat
from messor.core.logs import log, room_logger
from messor.core.metrics import Metrics
from messor.crawl.flush import BAD_ROW
from messor.crawl.images import KIND as IMAGE
from messor.errors import MessorError, UnavailableError
from messor.extraction import model_selection, parser_failures, queue
from messor.extraction.enclosed_records import enclose_all
from messor.extraction.events import events_of
from messor.extraction.local_segments import LocalSegments
from messor.extraction.model_selection import NO_MODEL, AskingPlan
from messor.extraction.polling import PollGate, PollTurn
from messor.extraction.queue import QueuedPage
from messor.extraction.reader_pool import ReaderPool
from messor.extraction.reader_protocol import ReadRequest, ReadResult, UnreadableError
from messor.extraction.relevance_flags import Flagging
from messor.extraction.shadow_trials import Live, Shadows
from messor.frontier import recrawl
from messor.jobs.completion import patient
from messor.jobs.poller import wait
from messor.ledger import errors, events
from messor.ledger.errors import Category, LoggedError
from messor.parsers.page_findings import FoundPage
from messor.parsers.page_reading import installed_parsers
from messor.parsers.registry import UnknownParserError
from messor.records import image_rows, listed_rows, product_rows, rankings, store
from messor.records.changes import Sighting
from messor.records.image_rows import FoundImage
from messor.records.store import StoredOutcome
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Connection, Database
from messor.store.space import Space

BATCH = 128
SLICE = 32  # pages of a batch read concurrently
SLICE_SECONDS = 120.0  # seconds after which no page of a batch is waited for
MOST_CHARS = 20_000_000  # characters found in a batch after which no more is read
# Batches in flight beyond one per reader, up to a number of connections: some are stored while
# others are read, so readers never wait.
MORE_BATCHES, MOST_BATCHES = 2, 5
# The transaction is idle while its pages are read.
PATIENCE = "SET LOCAL idle_in_transaction_session_timeout = '300s'"

SPACE_SECONDS = LOST_SECONDS = 1.0  # seconds before a retry without disk space, or after an outage

Repair = Callable[[], Awaitable[None]]

logger = room_logger(__name__)


async def _nothing_to_repair() -> None:
    await asyncio.sleep(0)


@dataclass(slots=True)
class Tally:
    """Totals so far."""

    pages: int = 0
    records: int = 0
    new: int = 0
    changed: int = 0
    removed: int = 0
    put_off: int = 0
    set_aside: int = 0


@dataclass(slots=True)
class _Batch:
    """Claimed rows and the results of their pages."""

    read: list[tuple[Sighting, FoundPage | None]] = field(default_factory=list)
    images: list[tuple[int, str, FoundImage]] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    failed: list[tuple[QueuedPage, MessorError]] = field(default_factory=list)
    unreadable_here: list[int] = field(
        default_factory=list
    )  # pinned to a version not installed here
    elsewhere: list[int] = field(default_factory=list)  # in another machine's archive
    size: int = 0  # approximate characters to store


class Extractor:
    """Processes the queue."""

    def __init__(
        self,
        database: Database,
        archive: ArchiveSource,
        readers: ReaderPool,
        *,
        plan: AskingPlan = NO_MODEL,
        kinds: frozenset[str] | None = None,
        page_ids: Sequence[int] | None = None,
        batch: int = BATCH,
        progress: Callable[[Tally], None] | None = None,
        repair: Repair = _nothing_to_repair,
        space: Space | None = None,
        heartbeat: Heartbeat | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._metrics = metrics or Metrics()
        self._heartbeat = heartbeat or Heartbeat()
        self._database = database
        self._shelf = LocalSegments(archive)
        self._archive = archive_at(archive)
        self._readers = readers
        self._plan = plan
        self._kinds = kinds
        self._page_ids = page_ids  # only these, if given
        self._flagging = Flagging()
        self._most = batch
        self._batch = batch
        self._progress = progress
        self._repair = patient(repair)
        self._space = space
        self._gate = PollGate()
        self._stop = asyncio.Event()
        self.tally = Tally()

    def stop(self) -> None:
        """Store what has been read of the batches in flight, then return; the rest waits."""
        self._stop.set()

    async def run(self, *, follow: bool = False) -> Tally:
        """Run until nothing is due, or with `follow` until stopped."""
        count = min(self._readers.count + MORE_BATCHES, MOST_BATCHES)
        loops = [asyncio.create_task(self._work(follow, f"batch {n + 1}")) for n in range(count)]
        try:
            await asyncio.gather(*loops)
        finally:
            for loop in loops:
                loop.cancel()
            await asyncio.wait(loops)
        return self.tally

    async def _work(self, follow: bool, activity: str) -> None:
        while not self._stop.is_set():
            self._heartbeat.beat(activity)
            if self._space is not None and (lack := self._space.message) is not None:
                if not follow:
                    raise UnavailableError(f"Extraction cannot run: {lack}.")
                await wait(self._stop, SPACE_SECONDS)
                continue
            try:
                taken = await self._take_turn(follow)
            except LOST_CONNECTION:
                if not follow:
                    raise
                await self._repair()
                await wait(self._stop, LOST_SECONDS)
            else:
                if not taken and not follow:
                    return

    async def _take_turn(self, follow: bool) -> int:
        async with self._gate.turn() as turn:
            if follow:
                await self._gate.rest(self._stop)
            return 0 if self._stop.is_set() else await self._step(turn)

    async def step(self) -> int:
        """Process one batch; returns the number of claimed rows."""
        async with self._gate.turn() as turn:
            return await self._step(turn)

    async def _step(self, turn: PollTurn) -> int:
        rows: list[QueuedPage] = []
        try:
            await self._commit(rows, turn)
        except BAD_ROW as error:
            # One row is at fault: rows are claimed one by one until it is found.
            self._batch = 1
            if len(rows) == 1:
                await self._blame(rows[0], error)
        except TRY_AGAIN:
            return 1
        else:
            self._batch = min(self._most, self._batch + len(rows))
        if rows and self._progress is not None:
            self._progress(self.tally)
        return len(rows)

    async def _commit(self, rows: list[QueuedPage], turn: PollTurn) -> None:
        async with self._database.transaction() as connection:
            await connection.execute(PATIENCE)
            most = self._batch
            rows += await queue.claim(connection, most, self._page_ids)
            turn.found(len(rows), most)
            if not rows:
                return
            shadows = await Shadows.now(connection)
            ranking = await rankings.in_force(connection)
            with self._metrics.stage("extract"):
                batch = await self._read(rows, ranking, shadows)
            outcomes = await store.store(connection, batch.read)
            prices = await product_rows.store(connection, outcomes)
            prices += await listed_rows.store(connection, outcomes)
            await events.record(connection, events_of(outcomes, prices))
            flagged = await self._flagging.flag(connection, outcomes)
            await image_rows.store(connection, batch.images)
            await model_selection.ask(connection, self._plan, outcomes, flagged)
            await self._fail(connection, batch)
            if faults := parser_failures.faults_of(batch.read):
                await errors.log(connection, faults)
            # Last of what locks lanes, for which flushes wait.
            changed = [each.sighting for each in prices if each.sighting.cause == "page"]
            await recrawl.follow_prices(connection, sorted(seen.page_id for seen in changed))
            await queue.finish(connection, batch.done)
            await shadows.count(connection)  # last, because other batches wait to count too
        self._count(batch, outcomes)
        _log_pages(batch)

    async def _read(
        self, rows: Sequence[QueuedPage], ranking: Ranking | None, shadows: Shadows
    ) -> _Batch:
        batch = _Batch()
        learnt = None if ranking is None else msgspec.json.encode(ranking)
        clock = asyncio.get_running_loop().time
        until = clock() + SLICE_SECONDS
        for start in range(0, len(rows), SLICE):
            if batch.size > MOST_CHARS or clock() >= until or self._stop.is_set():
                break
            seen = await self._read_some(
                rows[start : start + SLICE], batch, learnt, until - clock()
            )
            await shadows.read(self._readers, seen, until - clock())
        # In key order, so that two batches never deadlock.
        batch.read.sort(key=lambda each: each[0].page_id)
        return batch

    async def _read_some(
        self, rows: Sequence[QueuedPage], batch: _Batch, ranking: bytes | None, seconds: float
    ) -> list[Live]:
        """Read the available pages; returns those read because they changed."""
        there = await self._enclose(self._sort(rows, batch, ranking), batch)
        if not there:
            return []
        answers = self._readers.ask([request for _, request in there])
        try:
            await asyncio.wait(answers, timeout=seconds)
        finally:
            for answer in answers:
                answer.cancel()
        seen: list[Live] = []
        for (row, request), answer in zip(there, answers, strict=True):
            if answer.cancelled():  # stays in the queue
                continue
            try:
                _take(row, answer.result(), batch)
            except UnreadableError as error:
                batch.failed.append((row, error))
                continue
            page = answer.result().page
            if page is not None and row.domain_id is not None and row.cause != "parser":
                seen.append(Live(row.domain_id, request, page))
        return seen

    def _sort(
        self, rows: Sequence[QueuedPage], batch: _Batch, ranking: bytes | None
    ) -> list[tuple[QueuedPage, ReadRequest]]:
        """Return the rows that can be read here; the reasons for the others go to the batch."""
        there: list[tuple[QueuedPage, ReadRequest]] = []
        for row in rows:
            pins = _pins(row)
            if row.segment is None:
                _take(row, None, batch)
            elif not _are_known(pins):
                batch.unreadable_here.append(row.id)
            elif not self._shelf.may_hold(row.segment):
                batch.elsewhere.append(row.id)
            else:
                there.append((row, self._request(row, pins, ranking)))
        return there

    async def _enclose(
        self, sorted_rows: Sequence[tuple[QueuedPage, ReadRequest]], batch: _Batch
    ) -> list[tuple[QueuedPage, ReadRequest]]:
        """The rows with their records; those whose object store is away wait like others' rows."""
        there: list[tuple[QueuedPage, ReadRequest]] = []
        found = await enclose_all(self._archive, [request for _, request in sorted_rows])
        for (row, _), enclosed in zip(sorted_rows, found, strict=True):
            if isinstance(enclosed, ReadRequest):
                there.append((row, enclosed))
            elif isinstance(enclosed, UnreadableError):
                batch.failed.append((row, enclosed))
            else:
                batch.elsewhere.append(row.id)
        return there

    def _request(self, row: QueuedPage, pins: dict[str, str], ranking: bytes | None) -> ReadRequest:
        assert row.segment is not None
        return ReadRequest(
            folder=str(self._archive.folder),
            segment=row.segment,
            offset=row.segment_offset or 0,
            length=row.segment_length or 0,
            content_type=row.content_type,
            url=row.url or "",
            status=row.status_code or 200,
            pins=pins,
            ranking=ranking,
            kinds=self._kinds,
            is_image=row.kind == IMAGE,
        )

    async def _fail(self, connection: Connection, batch: _Batch) -> None:
        """Postpone rows that could not be read, and set aside those out of attempts."""
        again = [row.id for row, _ in batch.failed if row.attempts + 1 < queue.MAX_ATTEMPTS]
        aside = [each for each in batch.failed if each[0].attempts + 1 >= queue.MAX_ATTEMPTS]
        await queue.put_off(connection, again)
        await queue.wait(connection, batch.unreadable_here)
        await queue.wait(connection, batch.elsewhere, queue.ELSEWHERE_SECONDS)
        await self._set_aside(connection, aside)
        self.tally.put_off += len(again) + len(batch.unreadable_here) + len(batch.elsewhere)

    async def _set_aside(
        self, connection: Connection, rows: Sequence[tuple[QueuedPage, Exception]]
    ) -> None:
        if rows:
            await errors.log(connection, [_fault(row, error) for row, error in rows])
            await queue.finish(connection, [row.id for row, _ in rows])
            self.tally.set_aside += len(rows)

    async def _blame(self, row: QueuedPage, error: Exception) -> None:
        """Set aside a row whose results PostgreSQL refuses."""
        async with self._database.transaction() as connection:
            await self._set_aside(connection, [(row, error)])

    def _count(self, batch: _Batch, outcomes: Sequence[StoredOutcome]) -> None:
        tally = self.tally
        tally.pages += len(batch.read)
        counted = self._metrics.extracted_pages.labels
        counted("read").inc(len(batch.read))
        counted("failed").inc(len(batch.failed))
        counted("elsewhere").inc(len(batch.elsewhere))
        for outcome in outcomes:
            tally.records += len(outcome.page.records) if outcome.page else 0
            tally.new += len(outcome.changes.new)
            tally.changed += len(outcome.changes.changed)
            tally.removed += len(outcome.changes.removed)


def _pins(row: QueuedPage) -> dict[str, str]:
    """Return the pinned versions of a page by parser name."""
    pins: dict[str, str] = msgspec.json.decode(row.pins) if row.pins else {}
    if row.pin:
        name, _, version = row.pin.partition("=")
        pins[name] = version
    return pins


def _are_known(pins: dict[str, str]) -> bool:
    """Whether all pinned versions of known parsers are installed.

    One installed since this process started is not known here: the page waits, so that no change is
    skipped.
    """
    if not pins:  # the usual case
        return True
    try:
        installed_parsers().chosen(pins=pins)
    except UnknownParserError:
        return False
    return True


def _take(row: QueuedPage, answer: ReadResult | None, batch: _Batch) -> None:
    """Add the result of a row to its batch; None means that the page or image is gone."""
    batch.done.append(row.id)
    if row.kind == IMAGE:
        if answer is not None:  # a missing image removes nothing
            assert answer.image is not None
            path = f"{row.segment}@{row.segment_offset}+{row.segment_length}"
            batch.images.append((row.page_id, path, answer.image))
        return
    is_known = row.url is not None and (row.snapshot_id is None or row.segment is not None)
    if is_known:  # otherwise the page or snapshot was removed meanwhile
        page = None if answer is None else answer.page
        batch.read.append((_sighting(row), page))
        batch.size += 0 if page is None else page.size


def _sighting(row: QueuedPage) -> Sighting:
    assert row.url is not None
    assert row.url_hash is not None
    return Sighting(
        row.page_id, row.snapshot_id, row.domain_id, row.url, row.url_hash, row.seen_at, row.cause
    )


def _fault(row: QueuedPage, error: Exception) -> LoggedError:
    category: Category = "parse" if isinstance(error, MessorError) else "storage"
    detail: dict[str, Any] = {"url": row.url, "snapshot_id": row.snapshot_id, "step": "extraction"}
    message = str(error).replace("\x00", "")[:2000]
    return LoggedError(category, type(error).__name__, message, None, row.page_id, None, detail)


def _log_pages(batch: _Batch) -> None:
    if not logger.isEnabledFor(DEBUG):
        return
    for sighting, page in batch.read:
        records = None if page is None else len(page.records)
        log(logger, DEBUG, "page extracted", url=sighting.url, records=records)
    for row, error in batch.failed:
        log(logger, DEBUG, "page not extracted", url=row.url, error=str(error))
