"""Places: where standing exports are delivered, by the names that the settings give them.

A place is a folder of the machine that runs workers, or of a share mounted there. What is delivered
is complete under its name, or not there at all; delivering it again replaces it by the same.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from messor.errors import UnavailableError, UsageError
from messor.settings import Settings


class ExportPlace(Protocol):
    """What a place can do."""

    def put(self, source: Path, name: str) -> None:
        """Deliver a file under a name."""

    def remove(self, name: str) -> None:
        """Remove what was delivered, if it is there."""


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """A folder; it is not created, so that an unmounted share is noticed."""

    folder: Path

    def put(self, source: Path, name: str) -> None:
        target = self._path(name)
        draft = target.with_name(f".{target.name}.part")
        try:
            target.parent.mkdir(exist_ok=True)
            with source.open("rb") as file, draft.open("wb") as to:
                shutil.copyfileobj(file, to, 1 << 20)
                to.flush()
                os.fsync(to.fileno())
            draft.replace(target)
        except OSError as error:
            raise _broken(self.folder, error) from error

    def remove(self, name: str) -> None:
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise _broken(self.folder, error) from error

    def _path(self, name: str) -> Path:
        if not self.folder.is_dir():
            raise UnavailableError(f"{self.folder} is not a folder, or its share is not mounted.")
        return self.folder / name


def _broken(folder: Path, error: OSError) -> UnavailableError:
    reason = error.strerror or "it failed"
    return UnavailableError(
        f"{folder} cannot be written: {reason}. The file is kept and delivered when it works again."
    )


@dataclass(frozen=True, slots=True)
class Places:
    """All places of the settings."""

    by_name: Mapping[str, str]

    @classmethod
    def of_settings(cls, settings: Settings) -> Places:
        return cls(settings.export_places)

    def of(self, name: str) -> ExportPlace:
        """A place by its name; raises a sentence if the settings have none."""
        text = self.by_name.get(name)
        if text is None:
            known = ", ".join(sorted(self.by_name)) or "none are set"
            raise UsageError(
                f"{name[:60]!r} is not a place of MESSOR_EXPORT_PLACES; they are: {known}."
            )
        return FolderPlace(Path(text))
