"""Organisations from a CSV file, with a report per line; a bad line keeps no other from being taken."""

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
MOST_LINES = 100_000
_SEPARATORS = re.compile(r"[;\s|]+")


@dataclass(frozen=True, slots=True)
class LineReport:
    """What came of one line, counted as an editor does; the first line holds the columns."""

    line: int
    outcome: str  # created, updated, unchanged, refused
    name: str
    said: str = ""


async def import_csv(
    database: Database, vertical: Applied, text: str, *, actor: str
) -> list[LineReport]:
    """Take every line that can be taken, each in its own transaction, and say what came of each."""
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
                f"The first line names the columns, of {', '.join(COLUMNS)}; name is required."
            )
        line = reader.line_num
        for row in reader:
            if line >= MOST_LINES:
                raise UsageError(f"A file holds {MOST_LINES} lines at most.")
            # A quoted field may span lines: a row is called by the line it begins on.
            yield line + 1, {key: value for key, value in row.items() if isinstance(value, str)}
            line = reader.line_num
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num} is not CSV: {error}") from error
