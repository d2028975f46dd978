"""Signals: SIGINT and SIGTERM ask running work to finish, and are remembered."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from typing import Protocol


class Stoppable(Protocol):
    """A worker, or anything else that can be stopped."""

    def stop(self) -> None: ...


@contextlib.asynccontextmanager
async def stopping_on_signals(running: Stoppable) -> AsyncIterator[None]:
    """Let SIGINT and SIGTERM stop the work cleanly."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, running.stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


class Interruptible:
    """Work that remembers whether a signal stopped it."""

    def __init__(self, work: Stoppable) -> None:
        self._work = work
        self.was_interrupted = False

    def stop(self) -> None:
        self.was_interrupted = True
        self._work.stop()
