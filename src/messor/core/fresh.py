"""Values that are refreshed when stale, shared by concurrent callers.

A cheap value is awaited. A costly one is refreshed in the background while callers get the known
value, so that nobody waits for a figure that is a few seconds old.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from messor.core.logs import room_logger

Value = TypeVar("Value")

REST = 20.0  # pause of a costly value, as a multiple of the time it took: a twentieth of a core

logger = room_logger(__name__)


class Fresh(Generic[Value]):
    """A value that is refreshed when it is older than a number of seconds.

    `is_costly` decides by a value whether the next one is worth waiting for.
    """

    def __init__(
        self,
        seconds: float,
        fetch: Callable[[], Awaitable[Value]],
        *,
        is_costly: Callable[[Value], bool] = lambda _: False,
    ) -> None:
        self._seconds = seconds
        self._fetch = fetch
        self._is_costly = is_costly
        self._known: tuple[float, Value] | None = None
        self._took = 0.0
        self._lock = asyncio.Lock()
        self._refresh: asyncio.Task[Value] | None = None

    def spoil(self) -> None:
        """Mark the known value as stale, whatever its age."""
        if self._known is not None:
            self._known = (float("-inf"), self._known[1])

    async def get(self) -> Value:
        known = self._known
        if known is None or not self._is_costly(known[1]):
            return await self._refreshed(self._seconds)
        rest = max(self._seconds, REST * self._took)
        if time.monotonic() - known[0] > rest and self._refresh is None:
            self._refresh = asyncio.create_task(self._refreshed(rest))
            self._refresh.add_done_callback(self._fetched)
        return known[1]

    async def _refreshed(self, seconds: float) -> Value:
        async with self._lock:
            began = time.monotonic()
            if self._known is None or began - self._known[0] > seconds:
                value = await self._fetch()
                # Dated by the start of the query: later changes may be missing from the result.
                self._known = (began, value)
                self._took = time.monotonic() - began
            return self._known[1]

    def _fetched(self, refresh: asyncio.Task[Value]) -> None:
        self._refresh = None
        if not refresh.cancelled() and (error := refresh.exception()) is not None:
            logger.warning("A value could not be refreshed: %s", error)
