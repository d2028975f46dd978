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
RECONNECT_SECONDS = 1.0  # before a lost connection is reopened


class NotificationListener:
    """Wakes all waiters on each notification of its channel."""

    def __init__(self, database: Database, channel: str = EVENTS) -> None:
        self._dsn = database.dsn
        self._channel = channel
        self._listeners = 0
        self._task: asyncio.Task[None] | None = None
        self._notified = asyncio.Event()
        self.rings = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen while the context is open; the connection is shared."""
        self._listeners += 1
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners:
                task, self._task = self._task, None
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def wait(self, heard: int, seconds: float) -> int:
        """Wait until there were more notifications than `heard`, or the time is over; returns their
        number.
        """
        if self.rings == heard:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._notified.wait(), seconds)
        return self.rings

    def ring(self, *_: Any) -> None:
        self.rings += 1
        self._notified.set()
        self._notified = asyncio.Event()

    async def _listen(self) -> None:
        while True:
            with contextlib.suppress(asyncpg.PostgresError, *LOST_CONNECTION):
                if not await self._listen_once():
                    return
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _listen_once(self) -> bool:
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
