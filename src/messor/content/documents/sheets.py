"""Sheets (XLSX, XLS, XLSB, ODS, CSV) as HTML: a table for each sheet, without its empty edges."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from datetime import date, datetime, time
from io import BytesIO, StringIO
from typing import Any

import python_calamine as calamine

from messor.content.documents import markup, office
from messor.content.documents.errors import DocumentError
from messor.web.encodings import decode

WHAT = "spreadsheet"
MAX_CELLS = 200_000  # of a document; what is beyond is not read
_DELIMITERS = ",;\t|"
_ZIP = b"PK\x03\x04"


def to_html(body: bytes) -> str:
    """Convert a workbook."""
    if body.startswith(_ZIP):
        office.opened(body, WHAT).close()
    try:
        book = calamine.CalamineWorkbook.from_filelike(BytesIO(body))
        names = book.sheet_names
        sheets = [(name, book.get_sheet_by_name(name).to_python()) for name in names]
    except calamine.PasswordError:
        raise DocumentError(f"The {WHAT} is encrypted with a password.") from None
    except (calamine.CalamineError, ValueError, OSError):
        raise DocumentError(f"The {WHAT} cannot be opened: it is damaged.") from None
    return markup.page(names[0] if len(names) == 1 else "", _sections(sheets))


def csv_to_html(body: bytes, content_type: str | None) -> str:
    """Convert a table of separated values; the separator is the one its lines share."""
    text, _ = decode(body, content_type)
    text = text.removeprefix("\ufeff")
    try:
        dialect: Any = csv.Sniffer().sniff(text[:20_000], _DELIMITERS)
    except csv.Error:
        dialect = csv.excel
    try:
        rows = list(csv.reader(StringIO(text, newline=""), dialect))
    except csv.Error:
        raise DocumentError("The CSV file cannot be read: its quotes do not match.") from None
    return markup.page("", _sections([("", rows)]))


def _sections(sheets: Sequence[tuple[str, Sequence[Sequence[Any]]]]) -> list[str]:
    left = MAX_CELLS
    sections = []
    for number, (name, rows) in enumerate(sheets, start=1):
        cells = [[_said(value) for value in row] for row in rows]
        cells = [row for row in cells if any(row)]
        width = max((_width(row) for row in cells), default=0)
        if not width or left < width:
            continue
        cells = [row[:width] for row in cells[: left // width]]
        left -= width * len(cells)
        heading = markup.element("h2", markup.text(name)) if name and len(sheets) > 1 else ""
        inner = f"{heading}\n{markup.table(cells, has_head=True)}"
        sections.append(markup.element("section", inner, data_page=number))
    return sections


def _width(row: Sequence[str]) -> int:
    return max((number for number, cell in enumerate(row, start=1) if cell), default=0)


def _said(value: Any) -> str:
    """A cell as people see it: whole numbers without a fraction, dates as ISO 8601."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value).strip()
