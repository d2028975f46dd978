"""SQLite files: one table, named after the noun, filled from the working file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from messor.errors import UnavailableError
from messor.exports.columns import Column, Type

BATCH = 5_000
TYPES: dict[Type, str] = {
    "text": "TEXT",
    "integer": "INTEGER",
    "number": "REAL",
    "boolean": "INTEGER",
    "time": "TEXT",  # ISO 8601
    "json": "TEXT",
}


def write(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    """A database of its own; an unfinished one is replaced."""
    try:
        _write(source, target, noun, columns)
    except sqlite3.Error as error:
        raise UnavailableError(f"{target} cannot be written by SQLite: {error}.") from error


def _write(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    target.unlink(missing_ok=True)
    declared = ", ".join(f'"{each.name}" {TYPES[each.type]}' for each in columns)
    places = ", ".join("?" for _ in columns)
    with closing(sqlite3.connect(target, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = OFF")  # it is written again after a crash
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        database.execute(f'CREATE TABLE "{noun}" ({declared})')
        rows = _rows(source, [each.name for each in columns])
        while batch := list(islice(rows, BATCH)):
            database.executemany(f'INSERT INTO "{noun}" VALUES ({places})', batch)
        database.execute("COMMIT")


def _rows(source: Path, names: list[str]) -> Iterator[list[Any]]:
    with source.open("rb") as file:
        for line in file:
            row = msgspec.json.decode(line)
            yield [_value(row[name]) for name in names]


def _value(value: Any) -> Any:
    is_json = isinstance(value, dict | list)
    return msgspec.json.encode(value).decode() if is_json else value
