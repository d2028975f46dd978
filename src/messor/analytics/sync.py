"""Keeping a store as PostgreSQL is: filled once, then from the change feed, a batch at a time.

A batch reads the present rows of all ids that its entries touch, so that it may come twice and its
entries need no order among themselves. What has no row any more is gone: purged, erased, or held
back. Logs follow by commit position within a day's reach; coverage is measured once a day.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from messor.analytics import rows
from messor.analytics.rows import RowBatch, RowFile, Stretch
from messor.analytics.store import LogMark, State, Store
from messor.analytics.tables import COVERAGE, FOLLOWED, LOGS, Followed, Log, Subject
from messor.errors import CursorExpiredError
from messor.feed.entries import Entry
from messor.feed.queries import newest, read_entries
from messor.store.database import Database
from messor.store.listing import Position

ENTRIES = 10_000  # of the feed per batch
IDS = 20_000  # per batch of a fill
DOMAINS_PER_MEASUREMENT = 500
DAY = timedelta(days=1)
REACH = DAY  # how long after its request a row of a log may be committed
AHEAD = timedelta(hours=1)  # how far a fetch may be ahead of the database's clock
MAX_AGE = 2**30  # transactions after which the age of a row says nothing
NIL = {"bigint": 0, "uuid": "00000000-0000-0000-0000-000000000000"}

NOW = """
SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS position, messor.clock() AS now,
       messor.commit_shift() AS shift, o.since FROM messor.commit_order o
"""
PRODUCTS_OF_RECORDS = "SELECT id FROM messor.products WHERE record_id = ANY ($1::bigint[])"

Progress = Callable[[str, int], None]  # table, rows so far


@dataclass(slots=True)
class Synced:
    """What a run did."""

    rows: int = 0
    gone: int = 0
    entries: int = 0
    was_filled: bool = False
    tables: dict[str, int] = field(default_factory=dict)

    def add(self, batch: RowBatch) -> None:
        self.rows += batch.rows
        self.gone += len(batch.gone)
        name = batch.table.name
        self.tables[name] = self.tables.get(name, 0) + batch.rows


@dataclass(slots=True)
class Run:
    """One run: the store, how far it is, and a folder for rows on their way."""

    database: Database
    store: Store
    folder: Path
    state: State
    progress: Progress
    done: Synced = field(default_factory=Synced)

    def target(self, name: str) -> RowFile:
        return RowFile(self.folder / f"{name}.csv", 2 * self.state.sequence + 1)

    def advance(self) -> None:
        self.state.sequence += 1

    async def fill(self, batch: RowBatch) -> None:
        await asyncio.to_thread(self.store.fill, batch, self.state)
        self._note([batch])

    async def write(self, batches: Sequence[RowBatch], *, erase: bool = False) -> None:
        work = [batch for batch in batches if batch.rows or batch.gone]
        await asyncio.to_thread(self.store.write, work, self.state, erase=erase)
        self._note(work)

    def _note(self, batches: Iterable[RowBatch]) -> None:
        for batch in batches:
            self.done.add(batch)
            self.progress(batch.table.name, self.done.tables[batch.table.name])


async def sync(
    database: Database, store: Store, progress: Progress = lambda *_: None, *, measure: bool = False
) -> Synced:
    """Bring a store up to date; fills it first if it is new or what follows is no longer kept."""
    async with _run(database, store, progress) as run:
        if not run.state.is_filled:
            await _fill(run)
        try:
            await _follow(run)
        except CursorExpiredError:
            await asyncio.to_thread(store.reset)
            run.state = State()
            await _fill(run)
            await _follow(run)
        for table in LOGS:
            await _read_log(run, table)
        await _measure(run, again=measure)
        await asyncio.to_thread(store.tidy)
    return run.done


async def rebuild(database: Database, store: Store, progress: Progress = lambda *_: None) -> Synced:
    """Delete the tables and fill them anew; logs begin where PostgreSQL's begin."""
    await asyncio.to_thread(store.reset)
    return await sync(database, store, progress)


@asynccontextmanager
async def _run(database: Database, store: Store, progress: Progress) -> AsyncIterator[Run]:
    state = await asyncio.to_thread(store.state)
    with TemporaryDirectory(prefix="messor-analytics-") as folder:
        yield Run(database, store, Path(folder), state, progress)


async def _fill(run: Run) -> None:
    """Fill every table; an interrupted fill continues after its last batch."""
    run.done.was_filled = True
    if run.state.sequence == 0:
        start = await newest(run.database)  # asked first: what changes from now on follows
        run.state.tx, run.state.number = start.value, start.key
        run.state.filling = {table.name: str(NIL[table.id_type]) for table in FOLLOWED}
    for table in FOLLOWED:
        while table.name in run.state.filling:
            last = run.state.filling[table.name]
            ids = await _next_ids(run.database, table, last)
            run.advance()
            if len(ids) < IDS:
                del run.state.filling[table.name]
            else:
                run.state.filling[table.name] = str(ids[-1])
            batch = await rows.rows_of(run.database, table, ids, run.target(table.name))
            batch.gone.clear()  # the store has none of them
            await run.fill(batch)


async def _next_ids(database: Database, table: Followed, last: str) -> list[Any]:
    after: Any = int(last) if table.id_type == "bigint" else last
    return [row["id"] for row in await database.fetch(table.ids, after, IDS)]


async def _follow(run: Run) -> None:
    """The entries that are there now; the run does not chase those that come meanwhile."""
    has_more = True
    while has_more:
        after = Position(run.state.tx, run.state.number)
        entries, reached, has_more = await read_entries(run.database, after, ENTRIES)
        if reached == after and not entries:
            return
        run.advance()
        run.state.tx, run.state.number = reached.value, reached.key
        run.done.entries += len(entries)
        touched = await _touched(run.database, entries)
        batches = [
            await rows.rows_of(run.database, table, ids, run.target(table.name))
            for table in FOLLOWED
            if (ids := touched.get(table.subject))
        ]
        erased = {one.subject for one in entries if one.kind == "page" and one.state == "erased"}
        batches += [batch for table in LOGS if (batch := await _lost(run, table, erased))]
        batches += await _lost_coverage(run, batches)
        await run.write(batches, erase=any(one.state == "erased" for one in entries))


async def _touched(database: Database, entries: Sequence[Entry]) -> dict[Subject, set[Any]]:
    """The ids that entries are about; products by their own and by that of their record."""
    found: dict[Any, set[Any]] = {}
    for one in entries:
        found.setdefault(one.kind, set()).add(one.subject_uuid or one.subject)
    records = {one.subject for one in entries if one.kind == "record" and one.topic == "product"}
    if records:
        products = await database.fetch(PRODUCTS_OF_RECORDS, list(records))
        found.setdefault("product", set()).update(row["id"] for row in products)
    return found


async def _lost(run: Run, table: Log, pages: set[Any]) -> RowBatch | None:
    if not pages:
        return None
    gone = await rows.lost_pages(run.database, table, pages)
    return RowBatch(table, run.target(table.name).path, 0, "page_id", gone)


async def _lost_coverage(run: Run, batches: Sequence[RowBatch]) -> list[RowBatch]:
    """Measurements of domains that are gone: they are by name, which only the store still knows."""
    gone = [one for batch in batches if batch.table.name == "domains" for one in batch.gone]
    if not gone:
        return []
    names = await asyncio.to_thread(run.store.values_of, "domains", "domain", "id", gone)
    return [RowBatch(COVERAGE, run.target("coverage").path, 0, "domain", names)]


async def _read_log(run: Run, table: Log) -> None:
    """Rows of a log that were committed since the last time, a day of them at a time."""
    row = await run.database.fetchrow(NOW)
    assert row is not None
    end, position = row["now"] + AHEAD, row["position"]
    mark = run.state.logs.get(table.name)
    since = None if mark is None else _in_this_cluster(row, mark.tx)
    above = await _beginning(run.database, table, mark, end)
    while above < end:
        up_to = min(above + DAY, end)
        run.advance()
        stretch = Stretch(above, up_to, since, position)
        batch = await rows.rows_of_log(run.database, table, stretch, run.target(table.name))
        if up_to == end:
            run.state.logs[table.name] = LogMark(row["now"].isoformat(), position + row["shift"])
        if batch.rows or up_to == end:
            await run.write([batch])
        above = up_to


def _in_this_cluster(row: Mapping[str, Any], position: int) -> int | None:
    """A commit position as rows carry it here; None if that says nothing, as after a move."""
    number: int = position - row["shift"]
    is_known = position >= row["since"] and 0 <= row["position"] - number < MAX_AGE
    return number if is_known else None


async def _beginning(
    database: Database, table: Log, mark: LogMark | None, end: datetime
) -> datetime:
    if mark is not None:
        return datetime.fromisoformat(mark.until) - REACH
    sql = f"SELECT min({table.time}) - interval '1 second' {table.sql}"
    first: datetime | None = await database.fetchval(sql)
    return first or end - timedelta(seconds=1)


async def _measure(run: Run, *, again: bool) -> None:
    """Today's coverage of each domain."""
    today = f"{(await run.database.fetchval('SELECT messor.clock()')).astimezone(UTC):%Y-%m-%d}"
    if run.state.measured_on == today and not again:
        return
    last: Any = NIL["uuid"]
    while True:
        found = await run.database.fetch(COVERAGE.ids, last, DOMAINS_PER_MEASUREMENT)
        ids = [row["id"] for row in found]
        run.advance()
        if len(ids) < DOMAINS_PER_MEASUREMENT:
            run.state.measured_on = today
        batch = await rows.measurements(run.database, ids, run.target(COVERAGE.name))
        await run.write([batch])
        if len(ids) < DOMAINS_PER_MEASUREMENT:
            return
        last = ids[-1]
