"""Columns of exported nouns: name, SQL and type, and how each format names that type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Type = Literal["text", "integer", "number", "boolean", "time", "json"]

# A spreadsheet runs a cell that begins with one of these: = + - @, tab, line breaks, and the
# full-width forms of the first four.
FORMULA_STARTS = "=+-@\t\n\r\uff1d\uff0b\uff0d\uff20"
_CODES = ", ".join(str(ord(sign)) for sign in FORMULA_STARTS)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an export."""

    name: str
    sql: str
    type: Type = "text"

    @property
    def safe_sql(self) -> str:
        """The value for spreadsheets: text that would be run as a formula gets an apostrophe.

        JSON is never one: it begins with a brace, a bracket, a quote, a letter or a number.
        """
        if self.type != "text":
            return self.sql
        text = f"({self.sql})::text"
        return f"CASE WHEN ascii({text}) IN ({_CODES}) THEN '''' || {text} ELSE {text} END"


def columns(declared: str) -> tuple[Column, ...]:
    """Columns from lines such as `price: number = q.price`; the type is text if none is given."""
    return tuple(_column(line.strip()) for line in declared.strip().splitlines())


def _column(line: str) -> Column:
    head, _, sql = line.partition(" = ")
    name, _, kind = head.partition(": ")
    return Column(name, sql, kind or "text")  # type: ignore[arg-type]
