"""Decides which archive segments can be read on this machine.

Objects can be read everywhere. Where the archive is a folder, each machine keeps that of its own
workers, so pages fetched by another machine are left to it; only a missing segment that this machine
wrote is lost.
"""

from __future__ import annotations

import socket
from typing import get_args

from messor.archive.storage import ArchiveSource, archive_at
from messor.archive.writer import Purpose


class LocalSegments:
    """The segments that this machine can read."""

    def __init__(self, archive: ArchiveSource) -> None:
        self._archive = archive_at(archive)
        host = socket.gethostname()
        self._own = {host, *(f"{purpose}-{host}" for purpose in get_args(Purpose))}
        self._seen: set[str] = set()  # existing segments stay

    def may_hold(self, name: str) -> bool:
        """Whether a segment is, or should be, on this machine."""
        if name in self._seen or _writer_of(name) in self._own:
            return True
        if self._archive.has(name):
            self._seen.add(name)
            return True
        return False


def _writer_of(name: str) -> str:
    """Return the host and purpose in a segment's name.

    Parsed from the end, because host names may contain hyphens: process, lease and count follow.
    """
    return name.rpartition("/")[2].rsplit("-", 3)[0]
