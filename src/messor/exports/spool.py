"""The working file of an export: rows are appended, and what follows the last checkpoint is cut off.

A lock keeps a second process away from it, such as a worker that lost its lease without noticing.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from messor.errors import ConflictError, UnavailableError, UsageError


class Spool:
    """An open working file; `is_lost` if it is shorter than its checkpoint says."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self._size = size
        self.is_lost = False

    def __enter__(self) -> Self:
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror}.") from error
        self._file = os.fdopen(fd, "r+b", buffering=1 << 20)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise ConflictError(f"Another process is writing {self.path}; wait for it.") from error
        self.is_lost = os.fstat(fd).st_size < self._size
        self._cut(0 if self.is_lost else self._size)
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        with suppress(OSError):  # what could not be written follows the last checkpoint
            self._file.close()

    def _cut(self, size: int) -> None:
        os.ftruncate(self._file.fileno(), size)
        self._file.seek(size)

    async def write(self, chunk: bytes) -> None:
        try:
            self._file.write(chunk)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def sync(self) -> int:
        """Make everything written so far durable; returns its size."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from error
        return self._file.tell()


def unwritable(path: Path, error: OSError) -> UnavailableError:
    """The error for a target that cannot be written; nothing before it is lost."""
    reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or "it failed"
    return UnavailableError(
        f"{path} cannot be written: {reason}. The export continues where it stopped when it is run again."
    )
