"""File locks of the embedded server: one start or stop at a time, and who uses it.

Locks are `flock`s: they belong to an open file, so two handles in one process count as two, and
the kernel drops them with the process however it ends. They say nothing about the server itself.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from messor.errors import UnavailableError

_POLL_SECONDS = 0.02


class FileLock:
    """An open lock file; closing it gives up whatever is held."""

    def __init__(self, path: Path, own: Callable[[int], None]) -> None:
        self._path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        own(self._fd)

    def share(self) -> None:
        """Hold it together with others. The caller holds the start lock, so nobody excludes us."""
        fcntl.flock(self._fd, fcntl.LOCK_SH)

    def try_alone(self) -> bool:
        """Hold it alone, or hold nothing."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def is_current(self) -> bool:
        """Whether the path still names this file: the folder may have been removed and remade."""
        try:
            return os.path.samestat(os.fstat(self._fd), self._path.stat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        os.close(self._fd)


@contextlib.contextmanager
def held_alone(path: Path, own: Callable[[int], None], *, limit: float) -> Iterator[None]:
    """Hold the lock file at `path` alone, waiting at most `limit` seconds for others."""
    deadline = time.monotonic() + limit
    while True:
        lock = FileLock(path, own)
        try:
            if lock.try_alone() and lock.is_current():
                yield
                return
        finally:
            lock.close()
        if time.monotonic() > deadline:
            raise UnavailableError(
                f"Another process has been starting or stopping the embedded database for "
                f"{limit:.0f} s: wait for it, or end the one that holds {path}."
            )
        time.sleep(_POLL_SECONDS)


def count_sharers(path: Path) -> int | None:
    """How many open files share the lock; None where the system has no list of locks."""
    try:
        inode = path.stat().st_ino
        table = Path("/proc/locks").read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    rows = (line.split() for line in table.splitlines())
    return sum(
        row[1:4:2] == ["FLOCK", "READ"] and row[5].endswith(f":{inode}")
        for row in rows
        if len(row) > 5
    )
