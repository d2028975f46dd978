"""Watches the disks of one process: an alarm is active while space is low.

Writers check `Space` themselves and pause; this reports why, and when work resumes.
"""

from __future__ import annotations

import asyncio

from messor.core.heartbeat import Heartbeat
from messor.jobs.poller import wait
from messor.ledger.alarms import DISK, AlarmBoard
from messor.store.space import Space

LOOK_SECONDS = 2.0
GOES_ON = "There is enough disk space again: work resumes."


class DiskWatch:
    """Polls as long as it runs."""

    def __init__(self, space: Space, board: AlarmBoard) -> None:
        self._space = space
        self._board = board
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat()

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        while not self._stop.is_set():
            self.heartbeat.beat("measuring disks")
            lack = self._space.message
            if lack is None:
                self._board.end(DISK, GOES_ON)
            else:
                self._board.sound(DISK, paused(lack))
            await wait(self._stop, LOOK_SECONDS)


def paused(lack: str) -> str:
    """What lacks space, its effect, and what to do."""
    return (
        f"Fetching and extracting are paused: {lack}. "
        "Free some space or lower MESSOR_MIN_FREE_DISK; work then resumes automatically."
    )
