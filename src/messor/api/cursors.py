"""Cursors: where a list was left, opaque to callers and good for the same list alone."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from fastapi import Query
from pydantic import BaseModel, Field

from messor.errors import UsageError

MOST = 200
LONGEST = 2_000

Item = TypeVar("Item")
Row = TypeVar("Row")
Key = TypeVar("Key")

# A number of a row, as cursors hold it.
PositiveInt = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

PageSize = Annotated[int, Query(ge=1, le=MOST, description="Most items of one answer")]
CursorParam = Annotated[
    str | None,
    Query(
        max_length=LONGEST, pattern=r"^[A-Za-z0-9_-]+$", description="`next` of the answer before"
    ),
]


class Listing(BaseModel, Generic[Item]):
    """Some items of a list, and where it goes on."""

    items: list[Item]
    next: str | None = Field(description="The cursor of the next items; null at the end")


class Pager:
    """Writes and reads the cursors of one list: of its name, filters and order."""

    def __init__(self, name: str, *terms: object) -> None:
        text = repr((name, *terms)).encode("utf-8", "surrogatepass")
        self._list = hashlib.sha256(text).hexdigest()[:12]

    def read(self, cursor: str | None, kind: type[Key]) -> Key | None:
        """The place a cursor names; raises when it is none of this list."""
        if cursor is None:
            return None
        try:
            raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            name, place = msgspec.json.decode(raw, type=tuple[str, msgspec.Raw])
            if name == self._list:
                return msgspec.json.decode(place, type=kind)
        except (binascii.Error, msgspec.DecodeError, ValueError):
            pass
        raise UsageError(
            "This cursor belongs to another list or is damaged. Ask for the list without one."
        )

    def write(self, place: Any) -> str:
        raw = msgspec.json.encode((self._list, place))
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def next(self, rows: Sequence[Row], limit: int, place: Callable[[Row], Any]) -> str | None:
        """The cursor after the items shown; `rows` has one more than `limit` when there is more."""
        return self.write(place(rows[limit - 1])) if len(rows) > limit else None
