"""Moments that come elsewhere, awaited: a process that ends, a session that waits for a lock.

How long they take is the machine's affair; the patience only bounds a failure.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

import psutil

from messor.store.database import Connection, Database
from messor.store.server import EmbeddedServer

PATIENCE = 60.0
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def is_over(process: psutil.Process) -> bool:
    """Whether a process has ended, though perhaps nobody has asked how."""
    with suppress(psutil.NoSuchProcess):
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    return True


def wait_until_over(processes: Iterable[psutil.Process]) -> None:
    left, deadline = list(processes), time.monotonic() + PATIENCE
    while left := [process for process in left if not is_over(process)]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"still there: {left}")
        time.sleep(0.01)


def crash(server: EmbeddedServer) -> None:
    """Kill a database server; its sessions are gone, too, when this returns."""
    pid = server.status().pid
    assert pid is not None
    postmaster = psutil.Process(pid)
    everybody = [postmaster, *postmaster.children(recursive=True)]
    os.kill(pid, signal.SIGKILL)
    wait_until_over(everybody)


async def somebody_waits(source: Database | Connection) -> None:
    """Until some session waits for a lock."""
    async with asyncio.timeout(PATIENCE):
        while not await source.fetchval(WAITING):  # noqa: ASYNC110 - a server has no event
            await asyncio.sleep(0.01)
