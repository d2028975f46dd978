"""Rows for analytics, read from PostgreSQL as CSV in short transactions, after their release.

PostgreSQL writes the CSV and the store reads it, so that rows cost no work in Python. The last column
is the version of the batch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from messor.analytics.tables import COVERAGE, Followed, Log, Table
from messor.rights.release import Purpose, release
from messor.store.database import Connection, Database
from messor.store.listing import Values

NULL = "\\N"
# Aggregates over a domain's tasks take longer than a lookup.
PATIENT = "SET LOCAL statement_timeout = '300s'"
GOT_LOST = """
SELECT g.id FROM unnest($1::bigint[]) AS g (id)
 WHERE NOT EXISTS (SELECT FROM {table} n WHERE n.page_id = g.id)
"""


@dataclass(slots=True)
class RowBatch:
    """What to write to a table: a file of rows, and ids whose rows are to go."""

    table: Table
    path: Path
    rows: int = 0
    column: str = ""  # that the ids are of
    gone: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RowFile:
    """Where rows are written to, and their version."""

    path: Path
    version: int


async def rows_of(
    database: Database, table: Followed, ids: Collection[Any], to: RowFile
) -> RowBatch:
    """The rows of some ids; those without any that may leave are gone."""
    wanted = sorted(ids)
    async with database.transaction() as connection:
        refused, found = await _released(connection, table, wanted)
        values = Values()
        condition = f"{table.parent_sql} = ANY ({values.add(wanted)}::{table.id_type}[])"
        condition += _without(table, refused, values)
        rows = await _copy(connection, table, f"WHERE {condition}", values, to)
    missing = [str(one) if table.id_type == "uuid" else one for one in wanted if one not in found]
    return RowBatch(table, to.path, rows, table.parent, missing)


async def _released(
    connection: Connection, table: Followed, ids: Sequence[Any]
) -> tuple[list[int], set[Any]]:
    """The pages whose rows may not leave, and the ids that have others."""
    page = table.page or "NULL::bigint"
    found = await connection.fetch(
        f"""SELECT DISTINCT {table.parent_sql} AS id, {page} AS page {table.sql}
             WHERE {table.parent_sql} = ANY ($1::{table.id_type}[])""",
        ids,
    )
    refused = await _refused(connection, {row["page"] for row in found})
    return sorted(refused), {row["id"] for row in found if row["page"] not in refused}


async def _refused(connection: Connection, pages: Collection[int | None]) -> set[int]:
    """The pages whose rows may not leave."""
    asked = [page for page in pages if page is not None]
    allowed = await release(connection, Purpose.ANALYTICS, asked, lambda page: page)
    return set(asked) - set(allowed)


def _without(table: Table, refused: Sequence[int], values: Values) -> str:
    if not refused or table.page is None:
        return ""
    return f" AND ({table.page} IS NULL OR {table.page} <> ALL ({values.add(refused)}::bigint[]))"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows of a log: their times, and between which transactions of this cluster they were written."""

    above: datetime
    up_to: datetime
    since_tx: int | None
    before_tx: int


async def rows_of_log(database: Database, table: Log, wanted: Stretch, to: RowFile) -> RowBatch:
    """The rows of a stretch of a log."""
    async with database.transaction() as connection:
        await connection.execute(PATIENT)
        values = Values()
        condition = _within(table, wanted, values)
        pages = await connection.fetch(
            f"SELECT DISTINCT {table.page} AS page {table.sql} WHERE {condition}", *values
        )
        refused = sorted(await _refused(connection, [row["page"] for row in pages]))
        condition += _without(table, refused, values)
        rows = await _copy(connection, table, f"WHERE {condition}", values, to)
    return RowBatch(table, to.path, rows, "page_id", refused)


def _within(table: Log, wanted: Stretch, values: Values) -> str:
    found = [
        f"{table.time} > {values.add(wanted.above)}::timestamptz",
        f"{table.time} <= {values.add(wanted.up_to)}::timestamptz",
        # `age` counts back from the newest transaction; a row carries no epoch.
        f"age({table.tx}) > age({values.add(_short(wanted.before_tx))}::text::xid)",
    ]
    if wanted.since_tx is not None:
        found.append(f"age({table.tx}) <= age({values.add(_short(wanted.since_tx))}::text::xid)")
    return " AND ".join(found)


def _short(position: int) -> str:
    return str(max(position % 2**32, 3))


async def lost_pages(database: Database, table: Log, pages: Collection[int]) -> list[int]:
    """Of erased pages, those of which the log has no row any more."""
    sql = GOT_LOST.format(table=table.partitioned)
    return [row["id"] for row in await database.fetch(sql, sorted(pages))]


async def measurements(database: Database, ids: Sequence[Any], to: RowFile) -> RowBatch:
    """Today's measurements of some domains."""
    async with database.transaction() as connection:
        await connection.execute(PATIENT)
        values = Values([ids])
        rows = await _copy(connection, COVERAGE, "", values, to)
    return RowBatch(COVERAGE, to.path, rows)


async def _copy(
    connection: Connection, table: Table, condition: str, values: Values, to: RowFile
) -> int:
    chosen = ", ".join(f'{each.sql} AS "{each.name}"' for each in table.columns)
    with to.path.open("wb") as file:

        async def write(data: bytes) -> None:
            file.write(data)

        return await connection.copy_out(
            f"SELECT {chosen}, {to.version} {table.sql} {condition}",
            *values,
            write=write,
            null=NULL,
        )
