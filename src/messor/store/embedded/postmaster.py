"""Finds the server's process by `postmaster.pid`, distinguishes it from zombies and unrelated
processes, and ends what a killed server left behind. Starting and stopping is left to `launch`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_ORPHAN_SECONDS = 3.0


@dataclass(frozen=True)
class Postmaster:
    pid: int
    port: int  # of its socket's name, and of loopback where it listens there
    socket: Path | None = None  # its folder; None for a server that an earlier release started
    listens: bool = False  # on loopback
    is_ready: bool = False


def find_postmaster(data: Path) -> Postmaster | None:
    """The live server of a data folder, ready or not."""
    noted = _read_note(data)
    return noted if noted is not None and _is_alive(noted.pid, data) else None


def clear_remains(data: Path) -> None:
    """After a server was killed: end its orphans and remove a misleading pid file.

    The caller holds the start lock and has found no live server. PostgreSQL detects by itself that
    a pid is gone, but would take a zombie, or an unrelated process that now has the pid, for the
    old server.
    """
    noted = _read_note(data)
    if noted is None:
        return
    orphans = list(_orphans(data))
    for number in (signal.SIGQUIT, signal.SIGKILL):
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        deadline = time.monotonic() + _ORPHAN_SECONDS
        while orphans and time.monotonic() < deadline:
            time.sleep(0.02)
            orphans = list(_orphans(data))
    if _name_and_state(noted.pid) != ("", ""):
        (data / "postmaster.pid").unlink(missing_ok=True)


def _read_note(data: Path) -> Postmaster | None:
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        # The file grows line by line as the server starts.
        socket, address, _, state = (*lines[4:8], "", "", "", "")[:4]
        return Postmaster(
            pid=abs(int(lines[0])),  # a stand-alone backend writes it as a negative number
            port=int(lines[3]),
            socket=Path(socket) if socket else None,
            listens=bool(address),
            is_ready=state.strip() == "ready",
        )
    except (FileNotFoundError, ValueError, IndexError):
        return None


def _is_alive(pid: int, data: Path) -> bool:
    name, state = _name_and_state(pid)
    if name != "postgres" or state in {"Z", "X"}:
        return False
    try:
        return (_PROC / str(pid) / "cwd").samefile(data)
    except PermissionError:
        return True  # another account's process that even root may not inspect: trust its name
    except FileNotFoundError:
        return not _has_proc()  # exited meanwhile, or a system without working directories in /proc


def _orphans(data: Path) -> Iterator[int]:
    """Processes of a server of this data folder, found by their working directory (Linux only)."""
    for entry in _PROC.glob("[0-9]*"):
        pid = int(entry.name)
        name, state = _name_and_state(pid)
        if name == "postgres" and state not in {"Z", "X"}:
            with contextlib.suppress(OSError):
                if (entry / "cwd").samefile(data):
                    yield pid


def _name_and_state(pid: int) -> tuple[str, str]:
    """A process's program and state letter; empty when there is no such process."""
    if not _has_proc():
        return _ask_ps(pid)
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return "", ""
    head, _, rest = stat.rpartition(")")
    return head.partition("(")[2], rest.split()[0]


def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


def _ask_ps(pid: int) -> tuple[str, str]:
    command = ["/bin/ps", "-o", "state=,comm=", "-p", str(pid)]
    answer = subprocess.run(command, check=False, capture_output=True, text=True, timeout=10)  # noqa: S603
    state, _, program = answer.stdout.strip().partition(" ")
    return Path(program.strip()).name, state[:1]
