"""Formats: how the working file is laid out, and how it becomes the file that was asked for."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from messor.errors import UsageError
from messor.exports import warcs
from messor.exports.batches import Shape
from messor.exports.columns import Column

Finish = Callable[[Path, Path, str, tuple[Column, ...]], None]  # from, to, noun, columns


@dataclass(frozen=True, kw_only=True)
class Format:
    """A file format; without `finish` the working file is the result."""

    name: str
    suffixes: tuple[str, ...]
    media_type: str
    shape: Shape
    finish: Finish | None = None
    has_header: bool = False
    nouns: tuple[str, ...] | None = None  # that it can hold; None: all
    is_partitioned: bool = False

    def require(self, noun: str) -> None:
        """Raise if the format cannot hold the noun."""
        if self.nouns is not None and noun not in self.nouns:
            raise UsageError(f"{self.name} holds {' or '.join(self.nouns)} only, not {noun}.")

    def head(self, noun: str, columns: tuple[Column, ...], options: Mapping[str, Any]) -> bytes:
        """What the working file begins with."""
        if self.shape == "warc":
            return warcs.info(noun)
        if not self.has_header:
            return b""
        mark = codecs.BOM_UTF8 if options.get("bom") else b""
        return mark + ",".join(column.name for column in columns).encode() + b"\n"


def _parquet(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    from messor.exports import duck  # noqa: PLC0415 - DuckDB takes long to load

    duck.write_parquet(source, target, noun, columns)


def _partitions(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    from messor.exports import duck  # noqa: PLC0415 - see above

    duck.write_partitions(source, target, noun, columns)


def _duckdb(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    from messor.exports import duck  # noqa: PLC0415 - see above

    duck.write_database(source, target, noun, columns)


def _sqlite(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    from messor.exports import sqlite  # noqa: PLC0415 - seldom needed

    sqlite.write(source, target, noun, columns)


def _xlsx(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    from messor.exports import xlsx  # noqa: PLC0415 - seldom needed

    xlsx.write(source, target, noun, columns)


def _wacz(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    from messor.exports import wacz  # noqa: PLC0415 - seldom needed

    wacz.write(source, target, noun, columns)


def _calendar(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    from messor.exports import calendars  # noqa: PLC0415 - seldom needed

    calendars.write(source, target, noun, columns)


def _linked_data(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    from messor.exports import linked_data  # noqa: PLC0415 - seldom needed

    linked_data.write(source, target, noun, columns)


def _hsds(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    from messor.exports import hsds  # noqa: PLC0415 - seldom needed

    hsds.write(source, target, noun, columns)


_ALL = (
    Format(
        name="jsonl",
        suffixes=(".jsonl", ".ndjson"),
        media_type="application/x-ndjson",
        shape="json",
    ),
    Format(
        name="csv",
        suffixes=(".csv",),
        media_type="text/csv; charset=utf-8",
        shape="safe_csv",
        has_header=True,
    ),
    Format(
        name="parquet",
        suffixes=(".parquet",),
        media_type="application/vnd.apache.parquet",
        shape="csv",
        finish=_parquet,
    ),
    Format(
        name="parquet_partitions",
        suffixes=(".parquet.zip",),
        media_type="application/zip",
        shape="csv",
        finish=_partitions,
        is_partitioned=True,
    ),
    Format(
        name="xlsx",
        suffixes=(".xlsx",),
        media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        shape="json",
        finish=_xlsx,
    ),
    Format(
        name="sqlite",
        suffixes=(".sqlite", ".db"),
        media_type="application/vnd.sqlite3",
        shape="json",
        finish=_sqlite,
    ),
    Format(
        name="duckdb",
        suffixes=(".duckdb",),
        media_type="application/octet-stream",
        shape="csv",
        finish=_duckdb,
    ),
    Format(
        name="warc",
        suffixes=(".warc.gz",),
        media_type="application/warc",
        shape="warc",
        nouns=("pages",),
    ),
    Format(
        name="wacz",
        suffixes=(".wacz",),
        media_type="application/wacz",
        shape="warc",
        finish=_wacz,
        nouns=("pages",),
    ),
    Format(
        name="icalendar",
        suffixes=(".ics",),
        media_type="text/calendar; charset=utf-8",
        shape="json",
        finish=_calendar,
        nouns=("records",),
    ),
    Format(
        name="jsonld",
        suffixes=(".jsonld",),
        media_type="application/ld+json",
        shape="json",
        finish=_linked_data,
        nouns=("records",),
    ),
    Format(
        name="hsds",
        suffixes=(".hsds.json",),
        media_type="application/json",
        shape="json",
        finish=_hsds,
        nouns=("records",),
    ),
)
FORMATS: Mapping[str, Format] = {each.name: each for each in _ALL}


def format_of(name: str) -> Format:
    """The format of a name; raises if there is none."""
    if name not in FORMATS:
        raise UsageError(f"Unknown format {name[:60]!r}; choose from: {', '.join(FORMATS)}.")
    return FORMATS[name]


def format_by_suffix(path: Path) -> Format:
    """The format that a file's name implies."""
    for each in _ALL:
        if path.name.lower().endswith(each.suffixes):
            return each
    known = ", ".join(suffix for each in _ALL for suffix in each.suffixes)
    raise UsageError(f"{path.name} does not end in {known}; name the format with --format.")
