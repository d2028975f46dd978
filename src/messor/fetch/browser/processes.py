"""The browser's processes, read from /proc; without /proc nothing is known."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
# Private memory only: shared libraries would be counted once per process.
_OWN_MEMORY = ("RssAnon:", "RssShmem:")


def descendants(*pids: int) -> list[int]:
    """All descendants of some processes, found in one walk through all processes of the machine."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for process in _processes():
        children[parent(process)].append(process)
    found: dict[int, None] = {}
    waiting = list(pids)
    while waiting:
        below = [child for child in children[waiting.pop()] if child not in found]
        found.update(dict.fromkeys(below))
        waiting += below
    return list(found)


def tree(*roots: int | None) -> dict[int, int]:
    """Processes and their descendants, each with its start time, because process ids are reused."""
    known = [root for root in roots if root is not None]
    pids = {*known, *descendants(*known)}
    return {pid: start for pid in pids if (start := started(pid))}


def parent(pid: int) -> int:
    """The parent's id; 0 when the process is gone."""
    return _stat(pid, 4)


def started(pid: int) -> int:
    """Start time of a process in clock ticks; 0 when it is gone."""
    return _stat(pid, 22)


def find_below(pid: int, mark: str) -> int | None:
    """The topmost descendant whose command line contains this marker."""
    marked = [process for process in descendants(pid) if mark in _read(process, "cmdline")]
    return next((process for process in marked if parent(process) not in marked), None)


def option(pid: int, name: str) -> str | None:
    """The value of an option in a process's command line."""
    # Chromium rewrites its command line, with spaces between the arguments.
    words = _read(pid, "cmdline").replace("\0", " ").split()
    return next((word.partition("=")[2] for word in words if word.startswith(f"{name}=")), None)


def own_memory(pids: Iterable[int]) -> int:
    """Bytes of private memory of these processes."""
    kilobytes = 0
    for pid in pids:
        for line in _read(pid, "status").splitlines():
            if line.startswith(_OWN_MEMORY):
                kilobytes += int(line.split()[1])
    return kilobytes * 1024


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def kill(pids: Mapping[int, int]) -> None:
    """Kill processes at once, skipping ids that were reused since."""
    for pid, start in pids.items():
        if started(pid) == start:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _processes() -> list[int]:
    with suppress(OSError):
        return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return []


def _stat(pid: int, number: int) -> int:
    """A field of proc(5)'s stat, from the third on."""
    # The name may contain anything; the fields after its closing parenthesis are plain.
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return int(fields[number - 3]) if fields else 0


def _read(pid: int, name: str) -> str:
    """A /proc file of a process; empty when the process is gone."""
    with suppress(OSError):
        return (_PROC / str(pid) / name).read_text("utf-8", "replace")
    return ""
