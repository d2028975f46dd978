"""Lists: iterators that follow cursors, and their items as tables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

from messor_client.tables import arrow_of
from messor_client.wire import Call

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

T = TypeVar("T")


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """One response of a list; a short one may still have a `next`."""

    items: list[T]
    next: str | None = None


def after(call: Call[Page[T]], cursor: str) -> Call[Page[T]]:
    """The call of the next page."""
    return replace(call, query={**call.query, "cursor": cursor})


class Pages(Generic[T]):
    """A list; iterating over it fetches pages as they are needed."""

    def __init__(
        self, item: type[T], call: Call[Page[T]], send: Callable[[Call[Page[T]]], Page[T]]
    ) -> None:
        self._item, self._call, self._send = item, call, send

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.items

    def pages(self) -> Iterator[Page[T]]:
        """Response by response; keep `next` to continue another time."""
        call = self._call
        while True:
            page = self._send(call)
            yield page
            if page.next is None:
                return
            call = after(call, page.next)

    def first(self) -> T | None:
        """The first item, if there is one."""
        return next(iter(self), None)

    def to_arrow(self) -> pa.Table:
        """All items as an Arrow table (`pip install 'messor-client[arrow]'`)."""
        return arrow_of(self._item, list(self))

    def to_dataframe(self) -> pd.DataFrame:
        """All items as a DataFrame (`pip install 'messor-client[pandas]'`)."""
        frame: Any = self.to_arrow().to_pandas()
        return frame


class AsyncPages(Generic[T]):
    """`Pages`, asynchronously."""

    def __init__(
        self,
        item: type[T],
        call: Call[Page[T]],
        send: Callable[[Call[Page[T]]], Awaitable[Page[T]]],
    ) -> None:
        self._item, self._call, self._send = item, call, send

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.items:
                yield item

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Response by response."""
        call = self._call
        while True:
            page = await self._send(call)
            yield page
            if page.next is None:
                return
            call = after(call, page.next)

    async def first(self) -> T | None:
        """The first item, if there is one."""
        async for item in self:
            return item
        return None

    async def to_arrow(self) -> pa.Table:
        """All items as an Arrow table."""
        return arrow_of(self._item, [item async for item in self])

    async def to_dataframe(self) -> pd.DataFrame:
        """All items as a DataFrame."""
        frame: Any = (await self.to_arrow()).to_pandas()
        return frame
