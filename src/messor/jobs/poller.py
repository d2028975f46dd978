"""How a runner comes by jobs: a seeker fills its places until it is told to stop.

This one looks into PostgreSQL, again and again. Another follows the hints of a broker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from messor.jobs.places import JobSlots


class Seeker(Protocol):
    """When to claim, and what."""

    def stop(self) -> None:
        """Claim nothing more, and return from `seek` once a claim under way is settled."""

    def note_free(self, places: JobSlots) -> None:
        """A job has ended, and its place is free."""

    async def seek(self, places: JobSlots) -> None: ...


class DatabasePoller:
    """Fills the free places; when all are taken, waits until half of them are free again.

    So claims stay batches even when jobs end one by one.
    """

    def __init__(self, job_types: Sequence[str], look_seconds: float) -> None:
        self._job_types = job_types
        self._look_seconds = look_seconds
        self._roomy = asyncio.Event()
        self._stop = asyncio.Event()

    def stop(self) -> None:
        self._stop.set()
        self._roomy.set()

    def note_free(self, places: JobSlots) -> None:
        if places.is_roomy:
            self._roomy.set()

    async def seek(self, places: JobSlots) -> None:
        while not self._stop.is_set():
            free = places.free
            claimed = (await places.claim(self._job_types, free) or 0) if free else 0
            if self._stop.is_set():
                return
            if claimed == free:
                self._roomy.clear()
            await wait(self._roomy if claimed == free else self._stop, self._look_seconds)


async def wait(event: asyncio.Event, seconds: float) -> None:
    """For an event, but no longer than so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
