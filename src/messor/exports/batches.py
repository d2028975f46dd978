"""Batches: an export's rows, a window of keys at a time, each in a short transaction.

No snapshot is held between batches. PostgreSQL itself writes CSV or JSON, so that rows cost no work
in Python; nouns with values that only Python can make are the exception.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from messor.archive.storage import ArchiveSource
from messor.archive.texts import texts
from messor.exports import lines, warcs
from messor.exports.columns import Column
from messor.exports.nouns import Noun
from messor.rights.release import Purpose, release
from messor.rights.uses import ApprovedUse
from messor.store.database import Connection, Database
from messor.store.listing import Filters, Values, all_of

WINDOW = 20_000  # keys per batch
TEXT_WINDOW = 1_000  # where rows have texts, which the archive may hold
TEXT = "markdown"  # their column
SHORTEST = timedelta(minutes=10)  # of a window by time
LONGEST = timedelta(days=1)
LAST_ID = str(2**63 - 1)
AHEAD = timedelta(hours=1)  # how far a fetch may be ahead of the database's clock

Shape = Literal["csv", "safe_csv", "json", "warc"]
Write = Callable[[bytes], Awaitable[None]]
Key = Sequence[str]  # a row's key as text

# Where a log that is partitioned by month begins.
FIRST_PARTITION = """
SELECT min((regexp_match(pg_get_expr(c.relpartbound, c.oid), $$FROM \\('([^']+)'\\)$$))[1]::timestamptz)
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::text::regclass
"""


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows and columns of an export."""

    noun: Noun
    filters: Filters
    columns: tuple[Column, ...]
    shape: Shape
    position: int  # transaction at the start, as this cluster counts
    started_at: datetime
    since_tx: int | None = None  # only rows written from this transaction on
    since_at: datetime | None = None  # only rows changed since
    archive: ArchiveSource | None = None  # where the segments are, for WARC
    uses: tuple[ApprovedUse, ...] = ()  # what it is for

    @property
    def window(self) -> int:
        """Keys per batch."""
        if self.shape == "warc":
            return warcs.WINDOW
        return TEXT_WINDOW if self.has_texts else WINDOW

    @property
    def has_texts(self) -> bool:
        return self.noun.text_of is not None and any(each.name == TEXT for each in self.columns)


@dataclass(frozen=True, slots=True)
class ExportWindow:
    """A range of keys: above the first, up to the last; open where None."""

    above: Key | None
    up_to: Key | None
    span: timedelta = SHORTEST  # of windows by time


async def next_window(
    database: Database, wanted: Selection, window: ExportWindow
) -> ExportWindow | None:
    """The window after one, or the first; None at the end."""
    if window.above is not None and window.up_to is None:
        return None
    if wanted.noun.windows == "time":
        return await _by_time(database, wanted, window)
    values = Values()
    bounds = _bounds(wanted.noun, ExportWindow(window.up_to, None), values)
    keys = ", ".join(f"{column}::text" for column, _ in wanted.noun.key)
    row = await database.fetchrow(
        f"""SELECT {keys} FROM {wanted.noun.table} WHERE {bounds}
             ORDER BY {_order(wanted.noun)} OFFSET {wanted.window - 1} LIMIT 1""",
        *values,
    )
    return ExportWindow(window.up_to or (), None if row is None else tuple(row))


async def _by_time(
    database: Database, wanted: Selection, window: ExportWindow
) -> ExportWindow | None:
    """Windows of a log without an index by key: they widen where it is empty."""
    end = wanted.started_at + AHEAD
    if window.up_to is None:
        table = wanted.noun.table.partition(" ")[0]
        first = await database.fetchval(FIRST_PARTITION, table) or end
    else:
        first = datetime.fromisoformat(window.up_to[0])
    if first >= end:
        return None
    edge = min(first + window.span, end)
    return ExportWindow(window.up_to or (), (edge.isoformat(), LAST_ID), window.span)


def widened(window: ExportWindow, rows: int) -> ExportWindow:
    """The window with the span that the next one should have."""
    span = min(window.span * 2, LONGEST) if rows < WINDOW // 4 else window.span
    return replace(window, span=SHORTEST if rows > WINDOW else span)


async def copy_window(
    database: Database, wanted: Selection, window: ExportWindow, write: Write
) -> tuple[int, int]:
    """Write the rows of a window; returns how many, and of how many pages rows are held back."""
    archived: dict[int, str | None] = {}
    while True:
        async with database.transaction() as connection:
            refused = await _refused(connection, wanted, window)
            query = _query(wanted, window, refused, archived)
            if wanted.shape == "warc":
                rows = await query.snapshots(connection)
                break
            missing = await query.texts_elsewhere(connection)
            if not missing:
                return await query.copy(connection, write), len(refused)
        # The archive is read when the transaction is over.
        read = await texts(database, missing)
        archived |= {one: read[one].markdown if one in read else None for one in missing}
    # Records are read when the transaction is over.
    assert wanted.archive is not None, "an export of WARC records needs the archive"
    count = 0
    for start in range(0, len(rows), warcs.BATCH):
        found = await warcs.records(wanted.archive, rows[start : start + warcs.BATCH])
        await write(b"".join(found))
        count += len(found)
    return count, len(refused)


def _query(
    wanted: Selection, window: ExportWindow, refused: list[int], archived: Mapping[int, str | None]
) -> _Query:
    values = Values()
    conditions = [
        _bounds(wanted.noun, window, values),
        wanted.noun.condition(wanted.filters, values),
        *_by_commit(wanted, values),
    ]
    if refused:
        page, listed = wanted.noun.page, values.add(refused)
        conditions.append(f"({page} IS NULL OR {page} <> ALL ({listed}::bigint[]))")
    return _Query(wanted, all_of(conditions), values, archived)


async def _refused(connection: Connection, wanted: Selection, window: ExportWindow) -> list[int]:
    """The pages of a window whose rows may not leave."""
    noun = wanted.noun
    values = Values()
    bounds = _bounds(noun, window, values)
    pages: list[int] = []
    if noun.page is not None:
        sql = f"SELECT DISTINCT {noun.page} FROM {noun.table} WHERE {bounds} AND {noun.page} > 0"
        pages = [row[0] for row in await connection.fetch(sql, *values)]
    allowed = set(await release(connection, Purpose.EXPORT, pages, lambda page: page, wanted.uses))
    return [page for page in pages if page not in allowed]


@dataclass(frozen=True, slots=True)
class _Query:
    """The statement that reads a window."""

    wanted: Selection
    condition: str
    values: Values
    archived: Mapping[int, str | None]  # texts that the archive holds, by snapshot

    async def texts_elsewhere(self, connection: Connection) -> set[int]:
        """Snapshots of the window whose texts are in the archive, and were not read yet."""
        if not self.wanted.has_texts:
            return set()
        noun = self.wanted.noun
        rows = await connection.fetch(
            f"""SELECT {noun.text_of} FROM {noun.table} {noun.joins}
                 WHERE {self.condition} AND s.text_segment_id IS NOT NULL""",
            *self.values,
        )
        return {row[0] for row in rows} - self.archived.keys()

    async def copy(self, connection: Connection, write: Write) -> int:
        if self.wanted.noun.make is not None:
            return await self._make(connection, write)
        if self.wanted.shape != "json":
            return await connection.copy_out(self._rows(), *self.values, write=write)
        # Control characters are escaped in JSON, so nothing is ever quoted.
        return await connection.copy_out(
            f"SELECT row_to_json(t) FROM ({self._rows()}) t",
            *self.values,
            write=write,
            quote="\x01",
            delimiter="\x02",
        )

    def _rows(self) -> str:
        """The statement, with the archive's texts as one more table."""
        wanted = self.wanted
        if not self.archived:
            return _rows(wanted, self.condition)
        ids = self.values.add(list(self.archived))
        found = self.values.add(list(self.archived.values()))
        joined = f"""{wanted.noun.joins}
          LEFT JOIN unnest({ids}::bigint[], {found}::text[]) AS archived (id, markdown)
            ON archived.id = {wanted.noun.text_of}"""
        columns = tuple(
            replace(each, sql=f"coalesce({each.sql}, archived.markdown)")
            if each.name == TEXT
            else each
            for each in wanted.columns
        )
        noun = replace(wanted.noun, joins=joined)
        return _rows(replace(wanted, noun=noun, columns=columns), self.condition)

    async def snapshots(self, connection: Connection) -> list[dict[str, Any]]:
        """Where the records of all snapshots are."""
        noun = self.wanted.noun
        rows = await connection.fetch(
            f"""SELECT {warcs.COLUMNS} FROM {noun.table} {noun.joins} {warcs.JOINS}
                 WHERE {self.condition} ORDER BY {_order(noun)}, y.id""",
            *self.values,
        )
        return [dict(row) for row in rows]

    async def _make(self, connection: Connection, write: Write) -> int:
        """Rows whose values Python makes; all columns are read, as some depend on others."""
        noun, make = self.wanted.noun, self.wanted.noun.make
        assert make is not None
        whole = replace(self.wanted, columns=noun.columns, shape="csv")
        rows = await connection.fetch(_rows(whole, self.condition), *self.values)
        names = [each.name for each in self.wanted.columns]
        is_json, is_safe = self.wanted.shape == "json", self.wanted.shape == "safe_csv"
        for row in rows:
            made = make(dict(row))
            chosen = {name: made[name] for name in names}
            await write(lines.line(chosen, is_json=is_json, is_safe=is_safe))
        return len(rows)


def _rows(wanted: Selection, condition: str) -> str:
    noun, is_safe = wanted.noun, wanted.shape == "safe_csv"
    chosen = ", ".join(
        f'{each.safe_sql if is_safe else each.sql} AS "{each.name}"' for each in wanted.columns
    )
    return f"""SELECT {chosen} FROM {noun.table} {noun.joins}
         WHERE {condition} ORDER BY {_order(noun)}"""


def _order(noun: Noun) -> str:
    return ", ".join(column for column, _ in noun.key)


def _bounds(noun: Noun, window: ExportWindow, values: Values) -> str:
    keys = f"({_order(noun)})"
    found = []
    for sign, edge in ((">", window.above), ("<=", window.up_to)):
        if edge:
            typed = zip(edge, noun.key, strict=True)
            given = [f"{values.add(text)}::text::{kind}" for text, (_, kind) in typed]
            found.append(f"{keys} {sign} ({', '.join(given)})")
    # Partitions are pruned by a plain comparison of the first column only.
    if noun.windows == "time" and window.up_to:
        column, kind = noun.key[0]
        found.append(f"{column} <= {values.add(window.up_to[0])}::text::{kind}")
        if window.above:
            found.append(f"{column} >= {values.add(window.above[0])}::text::{kind}")
    return all_of(found)


def _by_commit(wanted: Selection, values: Values) -> list[str]:
    """Conditions on when a row was committed; `age` counts back from the newest transaction."""
    found, noun = [], wanted.noun
    if noun.is_log:
        found.append(f"{noun.age_of_row} > age({values.add(short(wanted.position))}::text::xid)")
    if wanted.since_tx is not None:
        found.append(f"{noun.age_of_row} <= age({values.add(short(wanted.since_tx))}::text::xid)")
    if wanted.since_at is not None:
        found.append(f"{noun.changed} >= {values.add(wanted.since_at)}::timestamptz")
    return found


def short(position: int) -> str:
    """A transaction's number as a row carries it: without its epoch, and never a reserved one."""
    return str(max(position % 2**32, 3))
