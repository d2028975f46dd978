"""Pagination cursors, opaque to callers and valid only for the list that issued them."""

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

MAX_ITEMS = 200
MAX_CURSOR_LENGTH = 2_000

Item = TypeVar("Item")
Row = TypeVar("Row")
Key = TypeVar("Key")

# A row id inside a cursor.
PositiveInt = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

PageSize = Annotated[int, Query(ge=1, le=MAX_ITEMS, description="Maximum items per response")]
CursorParam = Annotated[
    str | None,
    Query(
        max_length=MAX_CURSOR_LENGTH,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="`next` of the previous response",
    ),
]


class Listing(BaseModel, Generic[Item]):
    """One page of a list, with the cursor of the next."""

    items: list[Item]
    next: str | None = Field(description="Cursor of the next page; null at the end")


class Pager:
    """Encodes and decodes the cursors of one list, identified by name, filters and order."""

    def __init__(self, name: str, *terms: object) -> None:
        text = repr((name, *terms)).encode("utf-8", "surrogatepass")
        self._list = hashlib.sha256(text).hexdigest()[:12]

    def read(self, cursor: str | None, kind: type[Key]) -> Key | None:
        """Decode a cursor; raises UsageError when it does not belong to this list."""
        if cursor is None:
            return None
        try:
            raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            name, place = msgspec.json.decode(raw, type=tuple[str, msgspec.Raw])
            if name == self._list:
                return msgspec.json.decode(place, type=kind)
        except (binascii.Error, msgspec.DecodeError, ValueError):
            pass
        raise UsageError("The cursor is invalid for this list; request the list without a cursor.")

    def write(self, place: Any) -> str:
        raw = msgspec.json.encode((self._list, place))
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def next(self, rows: Sequence[Row], limit: int, place: Callable[[Row], Any]) -> str | None:
        """The cursor of the next page; `rows` holds one more than `limit` when there is one."""
        return self.write(place(rows[limit - 1])) if len(rows) > limit else None
