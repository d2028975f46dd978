"""Signals: SIGINT and SIGTERM ask what runs to finish; a second look tells whether they did."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from typing import Protocol


class Stoppable(Protocol):
    """A worker, or whatever else can be told to stop."""

    def stop(self) -> None: ...


@contextlib.asynccontextmanager
async def stopping_on_signals(running: Stoppable) -> AsyncIterator[None]:
    """SIGINT and SIGTERM let what is under way finish."""
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
