"""File locks of the embedded server: one start or stop at a time, and who uses it.

Locks are `flock`s: they belong to an open file, so two handles in one process count as two, and the
kernel releases them with the process however it ends. They say nothing about the server itself.
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
    """An open lock file; closing it releases the lock."""

    def __init__(self, path: Path, own: Callable[[int], None]) -> None:
        self._path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        own(self._fd)

    def share(self) -> None:
        """Hold it shared. The caller holds the start lock, so nobody holds it exclusively."""
        fcntl.flock(self._fd, fcntl.LOCK_SH)

    def try_alone(self) -> bool:
        """Hold it exclusively, or not at all."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def is_current(self) -> bool:
        """Whether the path still names this file: the folder may have been removed and recreated."""
        try:
            return os.path.samestat(os.fstat(self._fd), self._path.stat())
        except FileNotFoundError:
            return False

    def close(self) -> None:
        os.close(self._fd)


@contextlib.contextmanager
def held_alone(path: Path, own: Callable[[int], None], *, limit: float) -> Iterator[None]:
    """Hold the lock file at `path` exclusively, waiting at most `limit` seconds for others."""
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
                f"{limit:.0f} s: wait for it, or end the process that holds {path}."
            )
        time.sleep(_POLL_SECONDS)


def count_sharers(path: Path) -> int | None:
    """How many open files share the lock; None where the system does not list locks."""
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
