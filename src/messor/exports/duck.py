"""Parquet and DuckDB files, written by DuckDB from the working file in bounded memory.

DuckDB parses CSV and writes both formats itself; no row passes through Python. One thread writes the
same bytes every time. A partitioned file is a ZIP of a folder that readers of Hive partitions know.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import duckdb

from messor.errors import UnavailableError
from messor.exports.columns import Column, Type
from messor.exports.nouns import noun_of

# Bytes of the longest line, and the memory that buffers of that size need: the first are enough for
# almost all files, the others are tried when they are not.
LIMITS = ((4_000_000, "100MB"), (64_000_000, "600MB"))
ROW_GROUP = 20_000  # rows
FIXED = (1980, 1, 1, 0, 0, 0)  # equal rows make equal bytes
OPEN_FILES = 50  # partitions that are written at a time
FLUSHED = 5_000  # rows that a partition holds in memory
TYPES: dict[Type, str] = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "time": "TIMESTAMPTZ",
    "json": "VARCHAR",  # as text: a reader without the extension can open the file
}


def write_parquet(source: Path, target: Path, _: str, columns: tuple[Column, ...]) -> None:
    """A Parquet file with one row group per 20,000 rows, compressed with Zstandard."""
    statement = (
        f"COPY ({{rows}}) TO '{_quoted(target)}' "
        f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP})"
    )
    _write(statement, source, target, columns, is_database=False)


def write_partitions(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    """A ZIP with a Parquet file per value of the noun's partition; times are partitioned by month."""
    name = noun_of(noun).partition
    (column,) = (each for each in columns if each.name == name)
    made, value = (
        (f"{name}_month", f"strftime({name}, '%Y-%m')")
        if column.type == "time"
        else (f"{name}_is", f'"{name}"')
    )
    folder = target.with_name(f"{target.name}.folder")
    statement = (
        f"COPY (SELECT *, {value} AS {made} FROM ({{rows}})) TO '{_quoted(folder)}' (FORMAT parquet, "
        f"COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}, PARTITION_BY ({made}), OVERWRITE_OR_IGNORE)"
    )
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _write(statement, source, target, columns, is_database=False)
        _zip(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _zip(folder: Path, target: Path) -> None:
    with ZipFile(target, "w", ZIP_STORED) as package:
        for path in sorted(folder.rglob("*.parquet")):
            part = ZipInfo(path.relative_to(folder).as_posix(), FIXED)
            with path.open("rb") as file, package.open(part, "w", force_zip64=True) as to:
                shutil.copyfileobj(file, to, 1 << 20)


def write_database(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    """A DuckDB database with one table, named after the noun."""
    statement = f'CREATE TABLE "{noun}" AS {{rows}}'
    _write(statement, source, target, columns, is_database=True)


def _write(
    statement: str, source: Path, target: Path, columns: tuple[Column, ...], *, is_database: bool
) -> None:
    try:
        for longest, memory in LIMITS:
            target.unlink(missing_ok=True)
            rows = _rows(source, columns, longest)
            with _database(target, memory, is_database=is_database) as database:
                try:
                    database.execute(statement.replace("{rows}", rows))
                except duckdb.InvalidInputException:  # a longer line
                    if longest == LIMITS[-1][0]:
                        raise
                    continue
                return
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise UnavailableError(f"{target} cannot be written by DuckDB: {reason}") from error


@contextmanager
def _database(
    target: Path, memory: str, *, is_database: bool
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in bounded memory that spills beside the target and loads nothing."""
    spill = target.with_name(f"{target.name}.spill")
    limits: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": memory,
        "threads": 1,
        "temp_directory": str(spill),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    database = duckdb.connect(str(target) if is_database else ":memory:", config=limits)
    try:
        database.execute("SET TimeZone = 'UTC'")
        database.execute(f"SET partitioned_write_max_open_files = {OPEN_FILES}")
        database.execute(f"SET partitioned_write_flush_threshold = {FLUSHED}")
        yield database
    finally:
        database.close()
        shutil.rmtree(spill, ignore_errors=True)


def _rows(source: Path, columns: tuple[Column, ...], longest: int) -> str:
    """The working file as a query; an empty cell is NULL, a quoted one an empty text."""
    types = ", ".join(f"'{each.name}': '{TYPES[each.type]}'" for each in columns)
    return f"""SELECT * FROM read_csv('{_quoted(source)}', header = false, auto_detect = false,
      delim = ',', quote = '"', escape = '"', new_line = '\\n', nullstr = '',
      allow_quoted_nulls = false, max_line_size = {longest},
      buffer_size = {2 * longest},
      columns = {{{types}}})"""


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
