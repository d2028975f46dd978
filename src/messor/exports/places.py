"""Places: where standing exports are delivered, by the names that the settings give them.

A place is a folder of the machine that runs workers, or of a share mounted there, or a bucket of an
object store (`object_place.py`). What is delivered is complete under its name, or not there at all;
delivering it again replaces it by the same.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from messor.archive.objects import StoreOptions
from messor.core.masking import mask_text
from messor.errors import UnavailableError, UsageError
from messor.exports.object_place import ObjectPlace
from messor.settings import Settings


class ExportPlace(Protocol):
    """What a place can do."""

    def put(self, source: Path, name: str) -> None:
        """Deliver a file under a name."""

    def remove(self, name: str) -> None:
        """Remove what was delivered, whole or in part, if it is there."""


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """A folder; it is not created, so that an unmounted share is noticed."""

    folder: Path

    def put(self, source: Path, name: str) -> None:
        target = self._path(name)
        draft = _draft(target)
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
        target = self._path(name)
        try:
            target.unlink(missing_ok=True)
            _draft(target).unlink(missing_ok=True)
        except OSError as error:
            raise _broken(self.folder, error) from error

    def _path(self, name: str) -> Path:
        if not self.folder.is_dir():
            raise UnavailableError(f"{self.folder} is not a folder, or its share is not mounted.")
        return self.folder / name


def _draft(target: Path) -> Path:
    return target.with_name(f".{target.name}.part")


def _broken(folder: Path, error: OSError) -> UnavailableError:
    reason = error.strerror or "it failed"
    return UnavailableError(
        f"{folder} cannot be written: {reason}. The file is kept and delivered when it works again."
    )


@dataclass(frozen=True, slots=True)
class Places:
    """All places of the settings; object stores are reached as the archive's are."""

    by_name: Mapping[str, str]
    options: StoreOptions

    @classmethod
    def of_settings(cls, settings: Settings) -> Places:
        return cls(settings.export_places, StoreOptions.of(settings))

    def of(self, name: str) -> ExportPlace:
        """A place by its name; raises a sentence if the settings have none."""
        text = self.by_name.get(name)
        if text is None:
            known = ", ".join(sorted(self.by_name)) or "none are set"
            raise UsageError(
                f"{name[:60]!r} is not a place of MESSOR_EXPORT_PLACES; they are: {known}."
            )
        if "://" not in text:
            return FolderPlace(Path(text))
        place = urlsplit(text)
        if place.scheme != "s3" or not place.netloc or place.query or place.fragment:
            raise UsageError(
                f"{mask_text(text)!r} in MESSOR_EXPORT_PLACES is neither a folder nor a URL such as "
                "s3://bucket/prefix."
            )
        return ObjectPlace(text, self.options)
