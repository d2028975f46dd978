"""Readings taken from outside: CPU time, memory and WAL of processes that know nothing of it."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, its living descendants and all it has waited for."""
    process = psutil.Process(pid)
    total = 0.0
    for member in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = member.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def busy_seconds() -> float:
    """CPU time of everything on the machine, this process included."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def prefer(pid: int) -> None:
    """A process whose stamps are the measure must not wait for a busy machine."""
    try:
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(1))
    except (OSError, AttributeError):  # not permitted, or a system without it
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, -10)


def peak_rss(pid: int) -> int:
    """The largest resident set of one process in bytes.

    Not ru_maxrss, which a child inherits from the process that started it.
    """
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


@dataclass(frozen=True)
class ServerReading:
    """What a PostgreSQL server has used up so far."""

    cpu: float
    wal: int


async def read_server(dsn: str, postmaster: int) -> ServerReading:
    """The postmaster waits for every backend, so those that ended are counted with it."""
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        wal = await connection.fetchval("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
        return ServerReading(cpu_seconds(postmaster), int(wal))
    finally:
        await connection.close()
