"""Wakes waiters when something was committed, by PostgreSQL's LISTEN/NOTIFY.

One connection listens while there are waiters. It only shortens waits: behind a pooler, or while
the connection is lost, no notification arrives, so waiters also poll from time to time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from messor.store.connection import connect
from messor.store.database import LOST_CONNECTION, SESSION, Database

EVENTS = "messor_events"
AGAIN_SECONDS = 1.0  # before a lost connection is reopened


class NotificationListener:
    """Wakes all waiters on each notification of its channel."""

    def __init__(self, database: Database, channel: str = EVENTS) -> None:
        self._dsn = database.dsn
        self._channel = channel
        self._listeners = 0
        self._errand: asyncio.Task[None] | None = None
        self._rung = asyncio.Event()
        self.rings = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen while the context is open; the connection is shared."""
        self._listeners += 1
        if self._errand is None:
            self._errand = asyncio.create_task(self._listen())
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners:
                errand, self._errand = self._errand, None
                errand.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await errand

    async def wait(self, heard: int, seconds: float) -> int:
        """Wait until there were more notifications than `heard`, or the time is over; returns their
        number.
        """
        if self.rings == heard:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._rung.wait(), seconds)
        return self.rings

    def ring(self, *_: Any) -> None:
        self.rings += 1
        self._rung.set()
        self._rung = asyncio.Event()

    async def _listen(self) -> None:
        while True:
            with contextlib.suppress(asyncpg.PostgresError, *LOST_CONNECTION):
                if not await self._hear():
                    return
            await asyncio.sleep(AGAIN_SECONDS)

    async def _hear(self) -> bool:
        """Listen until the connection is lost; False where notifications never arrive."""
        try:
            raw = await connect(self._dsn, server_settings=SESSION, statement_cache_size=0)
        except asyncpg.ProtocolViolationError:
            return False
        try:
            if await raw.fetchval("SHOW search_path") != SESSION["search_path"]:
                return False  # a pooler: its sessions are not ours
            lost = asyncio.Event()
            raw.add_termination_listener(lambda _: lost.set())
            await raw.add_listener(self._channel, self.ring)
            self.ring()  # for what was committed before
            await lost.wait()
        finally:
            raw.terminate()
        return True
