"""Disk space: how much is free where Messor writes, and when that is too little.

Data folder, archive and database may be on different disks; each is measured. The disk of an
external PostgreSQL cannot be measured: its report of a full disk counts for a while. Writers of
large data check `is_low` first; reporting is left to the caller.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from messor.core import clock
from messor.settings import Settings
from messor.store.database import Database

CACHE_SECONDS = 1.0  # how long a measurement is cached
FULL_SECONDS = 10.0  # how long a server's report of a full disk counts; then writing is retried
# Work resumes only with somewhat more space than the minimum, so that it does not stop and resume
# with every deleted file.
RELIEF = 1.1

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_MINIMUM = re.compile(r"(\d+(?:\.\d+)?)\s*(%|[KMGT]?B)?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class MinimumFree:
    """The minimum free space: a share of the disk, or a size."""

    share: float
    size: int

    @classmethod
    def understand(cls, text: str) -> Self:
        """Parse `5%`, `2GB`, `500 MB` or a number of bytes."""
        found = _MINIMUM.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"{text!r} is neither a share such as 5% nor a size such as 2GB")
        number, unit = float(found[1]), (found[2] or "").upper()
        if unit != "%":
            return cls(0.0, int(number * _UNITS[unit]))
        if number >= 100:
            raise ValueError(f"{text!r} leaves no space: give a share below 100%")
        return cls(number / 100, 0)

    def of(self, total: int) -> int:
        return max(int(total * self.share), self.size)


@dataclass(frozen=True, slots=True)
class Volume:
    """One disk as measured."""

    name: str  # what is stored there
    path: Path
    free: int
    total: int
    minimum: int

    @property
    def is_low(self) -> bool:
        return self.free < self.minimum

    @property
    def message(self) -> str:
        return (
            f"the disk of the {self.name} ({self.path}) has {_size(self.free)} of "
            f"{_size(self.total)} free, below the minimum of {_size(self.minimum)}"
        )


class Space:
    """The disks that one process writes to."""

    def __init__(
        self, folders: Mapping[str, Path], minimum: MinimumFree, database: Database | None = None
    ) -> None:
        self._folders = dict(folders)
        self._minimum = minimum
        self._database = database
        self._measured_at = float("-inf")
        self._message: str | None = None

    @classmethod
    def of(cls, settings: Settings, database: Database | None = None) -> Self:
        """All configured folders, and the server when it is external."""
        folder = settings.data_dir.absolute()
        folders = {"data folder": folder, "archive": folder / "archive"}
        if not settings.database_url:
            folders["database"] = folder / "postgres"
        return cls(folders, MinimumFree.understand(settings.min_free_disk), database)

    @property
    def is_low(self) -> bool:
        return self.message is not None

    @property
    def message(self) -> str | None:
        """What lacks space, in a sentence; None when there is enough."""
        if clock.now() - self._measured_at >= CACHE_SECONDS:
            self._message = self._measure()
            self._measured_at = clock.now()
        return self._message

    def volumes(self) -> list[Volume]:
        """Each disk once, named by the first folder on it."""
        found: dict[int, Volume] = {}
        for name, folder in self._folders.items():
            place = _nearest(folder)
            try:
                device, measured = place.stat().st_dev, os.statvfs(place)
            except OSError:
                continue  # missing, or unreachable: writing there will report it
            total = measured.f_blocks * measured.f_frsize
            free = measured.f_bavail * measured.f_frsize
            found.setdefault(device, Volume(name, folder, free, total, self._minimum.of(total)))
        return list(found.values())

    def _measure(self) -> str | None:
        relief = RELIEF if self._message is not None else 1.0
        low = [volume for volume in self.volumes() if volume.free < volume.minimum * relief]
        if low:
            return low[0].message
        full_at = self._database.disk_full_at if self._database is not None else None
        if full_at is not None and clock.now() - full_at < FULL_SECONDS:
            return "the PostgreSQL server reports that its disk is full"
        return None


def _nearest(folder: Path) -> Path:
    """The folder, or its nearest existing parent."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _size(count: int) -> str:
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count / 1000:.0f} KB"
