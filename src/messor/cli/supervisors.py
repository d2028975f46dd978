"""Supervisors of worker processes. Loads little: a supervisor is kept for as long as Messor runs."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable

from messor.core.terminal import say
from messor.runtime.supervisor import RestartPolicy, Supervisor
from messor.settings import Settings

WORKER_COMMAND = (sys.executable, "-m", "messor", "worker", "--supervised")
SHUTDOWN_SECONDS = 40.0  # more than the workers' own limit


def worker_supervisor(
    settings: Settings,
    processes: int,
    arguments: list[str],
    on_hang: Callable[[str], Awaitable[None]] | None = None,
) -> Supervisor:
    """Return the supervisor of so many workers."""
    command = (*WORKER_COMMAND, *arguments)
    return Supervisor(
        command,
        processes,
        say=say,
        ceiling_mb=settings.worker_memory_mb,
        policy=RestartPolicy(hang_seconds=settings.hang_seconds),
        on_hang=on_hang,
    )
