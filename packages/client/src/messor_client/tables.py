"""Items as Arrow tables, with the columns and types of their model, also when there are none.

Lists and objects become JSON text: their keys differ from row to row.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN = (str, int, float, bool, datetime, date, timedelta, Decimal)


def arrow_of(model: type[Any], items: list[Any]) -> pa.Table:
    """A table of items of one model."""
    import pyarrow as pa  # noqa: PLC0415 - an optional extra

    types: dict[type, Any] = {
        str: pa.string(),
        int: pa.int64(),
        float: pa.float64(),
        bool: pa.bool_(),
        datetime: pa.timestamp("us", tz="UTC"),
        date: pa.date32(),
        timedelta: pa.duration("us"),
        Decimal: pa.string(),
    }
    columns = {
        each.name: types.get(_plain_type(each.type) or str, pa.string())
        for each in msgspec.structs.fields(model)
    }
    arrays = [
        pa.array([_cell(getattr(item, name), kind == pa.string()) for item in items], kind)
        for name, kind in columns.items()
    ]
    return pa.Table.from_arrays(arrays, names=list(columns))


def _plain_type(hint: Any) -> type | None:
    """The plain type that a hint allows besides null."""
    given = [one for one in getattr(hint, "__args__", (hint,)) if one is not type(None)]
    return given[0] if len(given) == 1 and given[0] in _PLAIN else None


def _cell(value: Any, as_text: bool) -> Any:
    if value is None or not as_text or isinstance(value, str):
        return value
    return str(value) if isinstance(value, Decimal) else msgspec.json.encode(value).decode()
