"""What ends a process on purpose: a signal, the end of its supervisor, its memory limit.

Work is asked to finish. A process that has grown too large is replaced, so memory that a long-lived
process does not release is a problem only for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from messor.jobs.poller import wait

STDIN = 0
POLL_SECONDS = 2.0
MEGABYTE = 1024 * 1024


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


class Lifeline:
    """A component that ends with the supervisor.

    Only the supervisor holds the other end of standard input; the kernel closes it however the
    supervisor ends.
    """

    def __init__(self, descriptor: int = STDIN) -> None:
        self._descriptor = descriptor
        self._end = asyncio.Event()

    def stop(self) -> None:
        self._end.set()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(self._descriptor, self._hear)
        try:
            await self._end.wait()
        finally:
            loop.remove_reader(self._descriptor)

    def _hear(self) -> None:
        try:
            is_closed = not os.read(self._descriptor, 4096)
        except ConnectionError:  # it ended before it had read the pulse
            is_closed = True
        if is_closed:
            self._end.set()


def resident_bytes(process_id: int | None = None) -> int:
    """Resident memory of a process; 0 if it is gone or the system does not report it.

    Without /proc only this process's own peak is known.
    """
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if process_id is None else 0
    try:
        statm = Path(f"/proc/{process_id or 'self'}/statm").read_bytes()
    except OSError:
        return 0
    return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Ceiling:
    """A component that ends when its process exceeds the memory limit."""

    def __init__(self, megabytes: int, *, poll_seconds: float = POLL_SECONDS) -> None:
        self._bytes = megabytes * MEGABYTE
        self._poll_seconds = poll_seconds
        self._stop = asyncio.Event()
        self.is_outgrown = False

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        while True:
            await wait(self._stop, self._poll_seconds)
            if self._stop.is_set():
                return
            if resident_bytes() > self._bytes:
                self.is_outgrown = True
                return
