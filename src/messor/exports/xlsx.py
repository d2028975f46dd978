"""XLSX files (ECMA-376), written row by row in bounded memory.

Texts are inline strings, which a spreadsheet never runs as formulas. Excel's limits apply: a sheet
holds 1,048,576 rows, so further rows go to further sheets; a cell holds 32,767 characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import count, islice
from pathlib import Path
from typing import IO, Any
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec

from messor.exports.columns import Column

MAX_ROWS = 1_048_575  # of a sheet, below its heading
MAX_CHARACTERS = 32_767
FIXED = (1980, 1, 1, 0, 0, 0)  # equal rows make equal bytes
BUFFERED = 500  # rows

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"
# Characters that XML 1.0 cannot hold.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}"><numFmts count="1"><numFmt numFmtId="164" '
    'formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="1"><font/></fonts><fills count="1">'
    '<fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="2"><xf/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


def write(source: Path, target: Path, noun: str, columns: tuple[Column, ...]) -> None:
    """A workbook with the rows of the working file."""
    names = [each.name for each in columns]
    with source.open("rb") as lines, ZipFile(target, "w", ZIP_DEFLATED, compresslevel=1) as book:
        sheets = 0
        rows = (msgspec.json.decode(line) for line in lines)
        for number in count(1):
            found = islice(rows, MAX_ROWS)
            first = next(found, None)
            if first is None and number > 1:
                break
            with book.open(
                _part(f"xl/worksheets/sheet{number}.xml"), "w", force_zip64=True
            ) as sheet:
                _write_sheet(sheet, columns, names, first, found)
            sheets = number
        for path, text in _fixed_parts(noun, sheets):
            book.writestr(_part(path), text)


def _part(path: str) -> ZipInfo:
    part = ZipInfo(path, FIXED)
    part.compress_type = ZIP_DEFLATED
    return part


def _write_sheet(
    sheet: IO[bytes],
    columns: tuple[Column, ...],
    names: list[str],
    first: dict[str, Any] | None,
    others: Iterator[dict[str, Any]],
) -> None:
    sheet.write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
    heading = "".join(_text(name) for name in names)
    sheet.write(f"<row>{heading}</row>".encode())
    rows = iter([first] if first is not None else [])
    for part in (rows, others):
        while batch := list(islice(part, BUFFERED)):
            drawn = ("".join(_cell(row[c.name], c) for c in columns) for row in batch)
            sheet.write("".join(f"<row>{cells}</row>" for cells in drawn).encode())
    sheet.write(b"</sheetData></worksheet>")


def _cell(value: Any, column: Column) -> str:
    if value is None:
        return "<c/>"
    if column.type in ("integer", "number") and isinstance(value, int | float):
        return f"<c><v>{value}</v></c>" if abs(value) < 10**15 else _text(str(value))
    if column.type == "boolean":
        return f'<c t="b"><v>{int(value)}</v></c>'
    if column.type == "time":
        return f'<c s="1"><v>{_serial(value)}</v></c>'
    return _text(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def _text(value: str) -> str:
    kept = escape(_UNPRINTABLE.sub("", value)[:MAX_CHARACTERS])
    return f'<c t="inlineStr"><is><t xml:space="preserve">{kept}</t></is></c>'


def _serial(text: str) -> float:
    """A moment as days since 1899-12-30, in UTC."""
    return round(datetime.fromisoformat(text).timestamp() / 86_400 + 25_569, 9)


def _fixed_parts(noun: str, sheets: int) -> Iterator[tuple[str, str]]:
    numbers = range(1, sheets + 1)
    listed = "".join(
        f'<sheet name="{noun}{f" {n}" if n > 1 else ""}" sheetId="{n}" r:id="s{n}"/>'
        for n in numbers
    )
    related = "".join(
        f'<Relationship Id="s{n}" Type="{_DOCUMENT}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in numbers
    )
    typed = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_SHEET}.worksheet+xml"/>'
        for n in numbers
    )
    yield (
        "xl/workbook.xml",
        (
            f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets>{listed}</sheets></workbook>'
        ),
    )
    yield (
        "xl/_rels/workbook.xml.rels",
        (
            f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{related}'
            f'<Relationship Id="style" Type="{_DOCUMENT}/styles" Target="styles.xml"/></Relationships>'
        ),
    )
    yield "xl/styles.xml", _STYLES
    yield (
        "_rels/.rels",
        (
            f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="book" '
            f'Type="{_DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ),
    )
    yield (
        "[Content_Types].xml",
        (
            f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEET}.sheet.main+xml"/>'
            f'<Override PartName="/xl/styles.xml" ContentType="{_SHEET}.styles+xml"/>{typed}</Types>'
        ),
    )
