"""The pulse of a supervised process: its event loop sends a byte every second to its supervisor.

Standard input is one end of a socket pair; the supervisor holds the other. A process that only
waits for a processor or a disk, or that somebody stopped, does not hang: only time in which it
could have run counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import os
import signal
import socket
import stat
import sys
from pathlib import Path
from typing import NamedTuple

from messor.jobs.poller import wait

STDIN = 0
BEAT_SECONDS = 1.0
SHOW_STACKS = signal.SIGUSR2  # a process with a pulse then logs where its threads are
BLOCKED = ("S",)  # sleeping in a system call that can be interrupted
RUNNING = ("R",)


class Pulse:
    """A component of a supervised process that sends its pulse."""

    def __init__(self, descriptor: int = STDIN, *, beat_seconds: float = BEAT_SECONDS) -> None:
        self._descriptor = descriptor
        self._beat_seconds = beat_seconds
        self._stop = asyncio.Event()

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        if not stat.S_ISSOCK(os.fstat(self._descriptor).st_mode):
            await self._stop.wait()  # a supervisor that takes no pulse
            return
        faulthandler.register(SHOW_STACKS, all_threads=True)
        with socket.socket(fileno=os.dup(self._descriptor)) as out:
            while not self._stop.is_set():
                with contextlib.suppress(OSError):  # it is full or gone, which `Lifeline` notices
                    out.send(b".", socket.MSG_DONTWAIT)
                await wait(self._stop, self._beat_seconds)


class _Activity(NamedTuple):
    state: str
    cpu_seconds: float


class ProcessPulse:
    """The pulse of one process, as its supervisor sees it.

    A process that has not sent any yet is still starting.
    """

    def __init__(self, pid: int, heard: socket.socket, poll_seconds: float) -> None:
        self._pid = pid
        self._socket = heard
        self._poll_seconds = poll_seconds
        self._has_begun = False
        self._silent_seconds = 0.0
        self._cpu_seconds = 0.0

    def silent_seconds(self) -> float:
        """To be called once per poll: time without a pulse in which it could have run."""
        activity = _activity(self._pid)
        used = activity.cpu_seconds - self._cpu_seconds
        self._cpu_seconds = activity.cpu_seconds
        if self._hear():
            self._has_begun = True
            self._silent_seconds = 0.0
        elif self._has_begun and activity.state in BLOCKED:
            self._silent_seconds += self._poll_seconds
        elif self._has_begun and activity.state in RUNNING:  # as far as it got a processor
            self._silent_seconds += min(used, self._poll_seconds)
        return self._silent_seconds

    def close(self) -> None:
        self._socket.close()

    def _hear(self) -> bool:
        try:
            return bool(self._socket.recv(4096, socket.MSG_DONTWAIT))
        except OSError:
            return False


def _activity(pid: int) -> _Activity:
    """What the kernel says of it; elsewhere than on Linux every silence counts."""
    if sys.platform != "linux":
        return _Activity(BLOCKED[0], 0.0)
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return _Activity("X", 0.0)
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return _Activity(fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
