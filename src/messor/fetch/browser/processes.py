"""The browser's processes, by what /proc tells; where there is no /proc, nothing is known."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
# What a process has for itself: the libraries that all of them share would be counted many times.
_OWN_MEMORY = ("RssAnon:", "RssShmem:")


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for process in _processes():
        children[parent(process)].append(process)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children[waiting.pop()]
        found += below
        waiting += below
    return found


def tree(*roots: int | None) -> dict[int, int]:
    """Processes and all below them, each with its start: ids are used again."""
    known = [root for root in roots if root is not None]
    pids = {pid for root in known for pid in (root, *descendants(root))}
    return {pid: start for pid in pids if (start := started(pid))}


def parent(pid: int) -> int:
    """The parent's id; 0 for a process that is gone."""
    return _stat(pid, 4)


def started(pid: int) -> int:
    """When a process started, in ticks of the system's clock; 0 for one that is gone."""
    return _stat(pid, 22)


def find_below(pid: int, mark: str) -> int | None:
    """The topmost process below one whose command line has this mark."""
    marked = [process for process in descendants(pid) if mark in _read(process, "cmdline")]
    return next((process for process in marked if parent(process) not in marked), None)


def option(pid: int, name: str) -> str | None:
    """The value of an option in a process's command line."""
    # Chromium rewrites its own, with spaces between the words.
    words = _read(pid, "cmdline").replace("\0", " ").split()
    return next((word.partition("=")[2] for word in words if word.startswith(f"{name}=")), None)


def own_memory(pids: Iterable[int]) -> int:
    """Bytes of memory that processes have for themselves."""
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
    """End processes at once, those that are still the ones that started then."""
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
    # The name may contain anything; the fields after its closing bracket are plain.
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return int(fields[number - 3]) if fields else 0


def _read(pid: int, name: str) -> str:
    """A file of a process; empty when the process is gone."""
    with suppress(OSError):
        return (_PROC / str(pid) / name).read_text("utf-8", "replace")
    return ""
