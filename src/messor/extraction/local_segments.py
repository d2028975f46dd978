"""Which segments of the archive can be read on this machine.

Each machine keeps the archive of its own workers, so a page that another one fetched is left to it.
Only a segment that this machine wrote, and has no more, is lost.
"""

from __future__ import annotations

import socket
from pathlib import Path
from typing import get_args

from messor.archive.writer import Purpose


class LocalSegments:
    """The archive folder of this machine."""

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)
        host = socket.gethostname()
        self._own = {host, *(f"{purpose}-{host}" for purpose in get_args(Purpose))}
        self._seen: set[str] = set()  # a segment that is there stays

    def may_hold(self, name: str) -> bool:
        """Whether a segment is here, or should be; else it is another machine's."""
        if name in self._seen or _writer_of(name) in self._own:
            return True
        if (self._folder / name).exists():
            self._seen.add(name)
            return True
        return False


def _writer_of(name: str) -> str:
    """The host, with its purpose, in a segment's name.

    Read from the end, for a host's name may hold hyphens: process, lease and count come after it.
    """
    return name.rpartition("/")[2].rsplit("-", 3)[0]
