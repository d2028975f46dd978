"""A bounded cache of blocks of objects, in a folder that all processes of a machine share.

A block is a file, written under another name and then renamed; the oldest ones are deleted when all
together exceed the limit, and each after a day, so that what was erased does not stay. Losing the
folder costs time only.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path
from uuid import uuid4

BLOCK = 1_048_576
KEPT_SECONDS = 86_400.0
_SWEPT_AFTER = 16  # a sixteenth of the limit written


class BlockCache:
    """Blocks by object and number."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._written = limit  # sweep at the first write: others may have filled it

    def get(self, url: str, number: int) -> bytes | None:
        """A block; a file that cannot be read counts as missing."""
        path = self._path(url, number)
        try:
            if time.time() - path.stat().st_mtime > KEPT_SECONDS:
                return None
            return path.read_bytes()
        except OSError:
            return None

    def put(self, url: str, number: int, data: bytes | memoryview) -> None:
        """Keep a block; a full or read-only disk is no error."""
        if self._limit < BLOCK:
            return
        path = self._path(url, number)
        new = path.with_name(f"{path.name}.{uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(data)
            new.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink()
            return
        self._written += len(data)
        if self._written > self._limit // _SWEPT_AFTER:
            self._written = 0
            self.sweep()

    def drop(self, url: str) -> None:
        """Forget all blocks of an object."""
        for path in self._path(url, 0).parent.glob(f"{_name(url)}-*"):
            with contextlib.suppress(OSError):
                path.unlink()

    def sweep(self) -> None:
        """Delete what is old, and the oldest beyond the limit."""
        found = []
        with contextlib.suppress(OSError):
            for folder in os.scandir(self._folder):
                found += [(entry.stat(), entry.path) for entry in os.scandir(folder.path)]
        found.sort(key=lambda each: each[0].st_mtime, reverse=True)
        total, now = 0, time.time()
        for stat, path in found:
            total += stat.st_size
            if total > self._limit or now - stat.st_mtime > KEPT_SECONDS:
                with contextlib.suppress(OSError):
                    Path(path).unlink()

    def _path(self, url: str, number: int) -> Path:
        name = _name(url)
        return self._folder / name[:2] / f"{name}-{number}"


def _name(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:40]
