"""Which segments of the archive can be read on this machine.

Each machine keeps the archive of its own workers, so a page that another one fetched is left to it.
Only a segment that this machine wrote, and has no more, is lost.
"""

from __future__ import annotations

import socket
from pathlib import Path


class LocalSegments:
    """The archive folder of this machine."""

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)
        self._own = (f"{socket.gethostname()}-", f"import-{socket.gethostname()}-")
        self._seen: set[str] = set()  # a segment that is there stays

    def may_hold(self, name: str) -> bool:
        """Whether a segment is here, or should be; else it is another machine's."""
        if name in self._seen or name.rpartition("/")[2].startswith(self._own):
            return True
        if (self._folder / name).exists():
            self._seen.add(name)
            return True
        return False
