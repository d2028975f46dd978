"""Lines of text formats, for rows that Python makes; the same bytes as PostgreSQL writes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from messor.exports.columns import FORMULA_STARTS


def line(row: Mapping[str, Any], *, is_json: bool, is_safe: bool) -> bytes:
    """A row as one line of JSON or CSV; `is_safe` guards against formulas."""
    if is_json:
        return msgspec.json.encode(row) + b"\n"
    cells = (cell(value, is_safe=is_safe) for value in row.values())
    return ",".join(cells).encode("utf-8", "replace") + b"\n"


def cell(value: Any, *, is_safe: bool) -> str:
    """A CSV cell: NULL is empty, an empty text is quoted."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    is_json = isinstance(value, dict | list)
    text = msgspec.json.encode(value).decode() if is_json else str(value)
    if is_safe and text.startswith(tuple(FORMULA_STARTS)):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"'
