"""The ceiling: a process that has grown too large finishes what it does and is replaced.

Memory that a long-lived process does not give back is thus nobody's problem for long.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from pathlib import Path

from messor.jobs.poller import wait

LOOK_SECONDS = 2.0
MEGABYTE = 1024 * 1024


def resident_bytes(process_id: int | None = None) -> int:
    """What a process holds in memory now; 0 when it is gone or this system does not tell.

    Without /proc only one's own peak is known.
    """
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if process_id is None else 0
    try:
        statm = Path(f"/proc/{process_id or 'self'}/statm").read_bytes()
    except OSError:
        return 0
    return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Ceiling:
    """A companion that ends when its process has outgrown it."""

    def __init__(self, megabytes: int, *, look_seconds: float = LOOK_SECONDS) -> None:
        self._bytes = megabytes * MEGABYTE
        self._look_seconds = look_seconds
        self._stop = asyncio.Event()
        self.is_outgrown = False

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        while True:
            await wait(self._stop, self._look_seconds)
            if self._stop.is_set():
                return
            if resident_bytes() > self._bytes:
                self.is_outgrown = True
                return
