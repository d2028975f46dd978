"""Files of the lake, and queries over them: a batch as it was read, its delta, and what counts now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import msgspec

from messor.analytics.rows import NULL, RowBatch
from messor.analytics.store import State
from messor.analytics.tables import Table
from messor.exports.columns import Type

TYPES: dict[Type, str] = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "time": "TIMESTAMPTZ",
    "json": "VARCHAR",
}
LONGEST = 4_000_000  # bytes of a line


class Files(msgspec.Struct, frozen=True):
    """The files of a table; paths where they are read."""

    base: tuple[Any, ...] = ()
    delta: tuple[Any, ...] = ()
    base_rows: int = 0
    delta_rows: int = 0


class LakeManifest(msgspec.Struct, frozen=True):
    """Which files count, and how far they are."""

    state: State = msgspec.field(default_factory=State)
    tables: dict[str, Files] = msgspec.field(default_factory=dict)

    def of(self, table: str) -> Files:
        return self.tables.get(table, Files())

    def with_files(self, table: str, files: Files) -> LakeManifest:
        return msgspec.structs.replace(self, tables={**self.tables, table: files})

    def with_base(self, table: str, name: str, rows: int) -> LakeManifest:
        files = self.of(table)
        names = (*(one for one in files.base if one != name), name)
        return self.with_files(
            table, msgspec.structs.replace(files, base=names, base_rows=files.base_rows + rows)
        )

    def with_delta(self, table: str, name: str, rows: int) -> LakeManifest:
        files = self.of(table)
        names = (*(one for one in files.delta if one != name), name)
        return self.with_files(
            table, msgspec.structs.replace(files, delta=names, delta_rows=files.delta_rows + rows)
        )


def read_batch(batch: RowBatch) -> str:
    """The rows of a batch as a query."""
    columns = {each.name: TYPES[each.type] for each in batch.table.columns}
    types = ", ".join(
        f"'{name}': '{kind}'" for name, kind in {**columns, "_version": "BIGINT"}.items()
    )
    return f"""SELECT * FROM read_csv({_literal(batch.path)}, header = false, auto_detect = false,
      delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '{NULL}',
      allow_quoted_nulls = false, max_line_size = {LONGEST}, buffer_size = {2 * LONGEST},
      columns = {{{types}}})"""


def delta_of(batch: RowBatch, files: Files, sequence: int) -> str:
    """A batch as a delta: its rows, and a tombstone for each row that the gone ids have."""
    parts = [f"SELECT *, false AS _gone FROM ({read_batch(batch)})"] if batch.rows else []
    if batch.gone:
        parts.append(_tombstones(batch, files, sequence))
    return " UNION ALL ".join(parts)


def _tombstones(batch: RowBatch, files: Files, sequence: int) -> str:
    table = batch.table
    cells = ", ".join(
        each.name if each.name in table.key else f"NULL::{TYPES[each.type]} AS {each.name}"
        for each in table.columns
    )
    listed = ", ".join(_literal(one) for one in batch.gone)
    return f"""SELECT {cells}, {2 * sequence}::BIGINT AS _version, true AS _gone
      FROM ({current(table, files)}) WHERE {batch.column} IN ({listed})"""


def current(table: Table, files: Files) -> str:
    """The rows that count."""
    names = ", ".join(table.names)
    if not files.delta:
        return f"SELECT {names} FROM {_parquet(files.base)}" if files.base else _nothing(table)
    key = ", ".join(table.key)
    newest = f"""SELECT * FROM {_parquet(files.delta)}
      QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY _version DESC) = 1"""
    live = f"SELECT {names} FROM newest WHERE NOT _gone"
    if files.base:
        same = " AND ".join(f"newest.{each} = base.{each}" for each in table.key)
        live = f"""SELECT {names} FROM {_parquet(files.base)} base
          WHERE NOT EXISTS (SELECT 1 FROM newest WHERE {same}) UNION ALL {live}"""
    return f"WITH newest AS MATERIALIZED ({newest}) {live}"


def count(duck: duckdb.DuckDBPyConnection, source: str) -> int:
    row = duck.execute(f"SELECT count(*) FROM ({source})").fetchone()
    return 0 if row is None else int(row[0])


def _nothing(table: Table) -> str:
    cells = ", ".join(f"NULL::{TYPES[each.type]} AS {each.name}" for each in table.columns)
    return f"SELECT {cells} WHERE false"


def _parquet(files: tuple[Path, ...]) -> str:
    return f"read_parquet([{', '.join(_literal(file) for file in files)}])"


def _literal(value: Any) -> str:
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"
