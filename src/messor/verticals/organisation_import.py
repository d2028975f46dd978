"""Imports organisations from a CSV file with a report per line.

A bad line does not stop the others.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

from messor.errors import MessorError, UsageError
from messor.store.database import Database
from messor.verticals.organisations import NewOrganisation, put
from messor.verticals.verticals import Applied

COLUMNS = ("name", "domains", "location", "external_id")
MAX_LINES = 100_000
_SEPARATORS = re.compile(r"[;\s|]+")


@dataclass(frozen=True, slots=True)
class LineReport:
    """The result of one line, numbered as in an editor; the first line holds the columns."""

    line: int
    outcome: str  # created, updated, unchanged, refused
    name: str
    message: str = ""


async def import_csv(
    database: Database, vertical: Applied, text: str, *, actor: str
) -> list[LineReport]:
    """Import every valid line, each in its own transaction, and report the result of each."""
    reports = []
    for line, row in _rows(text):
        name = (row.get("name") or "").strip()
        try:
            given = NewOrganisation.understand(
                name,
                [part for part in _SEPARATORS.split(row.get("domains") or "") if part],
                row.get("location"),
                row.get("external_id"),
            )
            async with database.transaction() as connection:
                _, outcome = await put(connection, vertical, given, actor=actor)
        except MessorError as error:
            reports.append(LineReport(line, "refused", name[:100], str(error)))
        else:
            reports.append(LineReport(line, outcome, given.name))
    return reports


def _rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.DictReader(StringIO(text.removeprefix("\ufeff")), restkey="", strict=True)
    try:
        columns = reader.fieldnames
        if columns is None or "name" not in columns or set(columns) - set(COLUMNS):
            raise UsageError(
                f"The first line must name the columns ({', '.join(COLUMNS)}); name is required."
            )
        line = reader.line_num
        for row in reader:
            if line >= MAX_LINES:
                raise UsageError(f"The file exceeds {MAX_LINES} lines; split it.")
            # A quoted field may span lines: a row is numbered by its first line.
            yield line + 1, {key: value for key, value in row.items() if isinstance(value, str)}
            line = reader.line_num
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num} is not valid CSV: {error}") from error
