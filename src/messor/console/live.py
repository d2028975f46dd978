"""The overview's figures, fresh enough and shared.

However many pages are open, each part is asked of the database at most once in its time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from messor.access import members
from messor.ledger import recent
from messor.ledger.recent import Recent
from messor.ops import overview
from messor.ops.overview import NextRun, Rates, Risky, Visited, Waiting
from messor.store.database import Database

Part = TypeVar("Part")


class Fresh(Generic[Part]):
    """A value that is fetched again when it is older than so many seconds."""

    def __init__(self, seconds: float, fetch: Callable[[], Awaitable[Part]]) -> None:
        self._seconds = seconds
        self._fetch = fetch
        self._known: tuple[float, Part] | None = None
        self._lock = asyncio.Lock()

    async def get(self) -> Part:
        async with self._lock:
            if self._known is None or time.monotonic() - self._known[0] > self._seconds:
                value = await self._fetch()
                self._known = (time.monotonic(), value)
            return self._known[1]


@dataclass(frozen=True, slots=True)
class Figures:
    """All that the overview shows."""

    rates: Rates
    waiting: Waiting
    visited: list[Visited]
    risky: list[Risky]
    next_runs: list[NextRun]
    events: list[Recent]
    names: dict[str, str]  # of the events' actors


class Board:
    """Keeps the figures of one installation."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rates = Fresh(2.0, lambda: overview.rates(database))
        self._waiting = Fresh(1.0, lambda: overview.waiting(database))
        self._visited = Fresh(1.0, lambda: overview.visited(database))
        self._risky = Fresh(5.0, lambda: overview.risky(database))
        self._next = Fresh(5.0, lambda: overview.next_runs(database))
        self._events = Fresh(0.25, self._newest)

    async def figures(self) -> Figures:
        events, names = await self._events.get()
        return Figures(
            await self._rates.get(),
            await self._waiting.get(),
            await self._visited.get(),
            await self._risky.get(),
            await self._next.get(),
            events,
            names,
        )

    async def _newest(self) -> tuple[list[Recent], dict[str, str]]:
        events = await recent.newest(self._database)
        return events, await members.names(self._database, {event.actor for event in events})
