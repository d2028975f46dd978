"""The memory limit: a process that has grown too large finishes its work and is replaced.

So memory that a long-lived process does not release is a problem only for a while.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from pathlib import Path

from messor.jobs.poller import wait

POLL_SECONDS = 2.0
MEGABYTE = 1024 * 1024


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
