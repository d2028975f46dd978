"""How a runner gets jobs: a seeker fills its slots until stopped.

This one polls PostgreSQL. Another follows the hints of a broker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from messor.core.heartbeat import Heartbeat
from messor.jobs.slots import JobSlots

CLAIMING = "claiming jobs"


class JobSource(Protocol):
    """Decides when to claim, and what."""

    def stop(self) -> None:
        """Claim nothing more, and return from `seek` once a claim in progress has finished."""

    def note_free(self, slots: JobSlots) -> None:
        """Note that a job has ended and its slot is free."""

    async def fill(self, slots: JobSlots, heartbeat: Heartbeat) -> None:
        """Claim until stopped, with a beat of `CLAIMING` in every round."""


class DatabasePoller:
    """Fills the free slots; when all are taken, waits until half of them are free.

    So claims stay batches even when jobs end one by one.
    """

    def __init__(self, job_types: Sequence[str], poll_seconds: float) -> None:
        self._job_types = job_types
        self._poll_seconds = poll_seconds
        self._half_free = asyncio.Event()
        self._stop = asyncio.Event()

    def stop(self) -> None:
        self._stop.set()
        self._half_free.set()

    def note_free(self, slots: JobSlots) -> None:
        if slots.is_half_free:
            self._half_free.set()

    async def fill(self, slots: JobSlots, heartbeat: Heartbeat) -> None:
        while not self._stop.is_set():
            heartbeat.beat(CLAIMING)
            free = slots.free
            claimed = (await slots.claim(self._job_types, free) or 0) if free else 0
            if self._stop.is_set():
                return
            if claimed == free:
                self._half_free.clear()
            await wait(self._half_free if claimed == free else self._stop, self._poll_seconds)


async def wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, up to a time limit."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
