"""A component that works in rounds as long as it runs: at once while there is work, else after a pause."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from messor.core.heartbeat import Heartbeat
from messor.core.logs import room_logger
from messor.store.database import LOST_CONNECTION, TRY_AGAIN

logger = room_logger(__name__)

PAUSE_SECONDS = 2.0


class Rounds:
    """Repeats a round; a round returns whether more is waiting. A lost database is waited for."""

    def __init__(
        self,
        name: str,
        work: Callable[[], Awaitable[bool]],
        *,
        hang_seconds: float,
        first: Callable[[], Awaitable[object]] | None = None,  # once, at the start
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self._name = name
        self._work = work
        self._first = first
        self._pause_seconds = pause_seconds
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat(hang_seconds)

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        if self._first is not None:
            await self._first()
        while not self._stop.is_set():
            self.heartbeat.beat(self._name)
            is_busy = False
            try:
                is_busy = await self._work()
            except (*LOST_CONNECTION, *TRY_AGAIN) as error:
                logger.warning("%s: waiting for the database: %s", self._name, type(error).__name__)
            if is_busy:
                continue
            try:
                await asyncio.wait_for(self._stop.wait(), self._pause_seconds)
            except TimeoutError:
                continue
