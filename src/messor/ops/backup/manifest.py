"""The manifest of a backup: what it holds, with sizes and hashes. Written last: without it there is none."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import Literal

import msgspec

from messor.errors import UnavailableError, UsageError
from messor.ops.backup.place import BackupPlace, StoredFile, plain_errors

FORMAT = 1
MANIFEST = "manifest.json"
NAME = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")

Method = Literal["dump", "base"]


class SegmentPiece(msgspec.Struct, frozen=True):
    """A stretch of a segment; a segment grows, so each backup adds what is new."""

    start: int
    bytes: int
    sha256: str


class KeptSegment(msgspec.Struct, frozen=True):
    """A segment of this machine's archive folder."""

    name: str
    committed: int  # bytes that rows point at
    pieces: list[SegmentPiece]


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """A backup. `counts` are of the moment that it holds."""

    format: int = FORMAT
    name: str
    started_at: datetime
    finished_at: datetime
    method: Method
    messor: str  # version
    revision: str
    postgres: str
    files: list[StoredFile]
    segments: list[KeptSegment]
    elsewhere: int  # segments on other machines, which are not in it
    remote: int  # segments in object stores, which stay there
    counts: dict[str, int]
    has_keys: bool
    wal_from: str | None = None  # of a base backup: its first WAL file

    @property
    def bytes(self) -> int:
        pieces = sum(piece.bytes for each in self.segments for piece in each.pieces)
        return pieces + sum(each.bytes for each in self.files)


def write(place: BackupPlace, manifest: Manifest) -> None:
    with plain_errors(place), place.create(f"{manifest.name}/{MANIFEST}") as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1))


def load(place: BackupPlace, name: str) -> Manifest:
    """A backup's manifest; raises a sentence if there is no such backup, or it is not ours."""
    try:
        data = b"".join(place.read(f"{name}/{MANIFEST}"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(
            f"{place.url} holds no complete backup {name!r}. To see them: messor backup list {place.url}"
        ) from error
    try:
        found = msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError as error:
        raise UnavailableError(f"The manifest of {name} is damaged: {error}.") from error
    if found.format > FORMAT:
        raise UsageError(f"Backup {name} was made by a newer release; use that one.")
    return found


def found_at(place: BackupPlace) -> list[Manifest]:
    """Complete backups, oldest first."""
    with plain_errors(place):
        names = [one for one in place.names("") if one.endswith(f"/{MANIFEST}")]
    found = [load(place, one.partition("/")[0]) for one in names if NAME.match(one)]
    return sorted(found, key=lambda one: one.started_at)


def newest(place: BackupPlace) -> Manifest:
    """The newest backup; raises a sentence if there is none."""
    found = found_at(place)
    if not found:
        raise UsageError(f"{place.url} holds no complete backup. To make one: messor backup create")
    return found[-1]


def piece_name(segment: str, piece: SegmentPiece) -> str:
    return f"archive/{segment}/{piece.start:015d}-{piece.bytes}"


def faults(place: BackupPlace, manifest: Manifest) -> list[str]:
    """What of a backup is missing or differs, each in a sentence; all of it is read."""
    wanted = [(each.name, each.bytes, each.sha256) for each in manifest.files]
    for segment in manifest.segments:
        wanted += [
            (piece_name(segment.name, each), each.bytes, each.sha256) for each in segment.pieces
        ]
        if sum(each.bytes for each in segment.pieces) < segment.committed:
            wanted.append((f"archive/{segment.name}", segment.committed, ""))
    return [fault for fault in (_fault(place, *each) for each in wanted) if fault is not None]


def _fault(place: BackupPlace, name: str, size: int, sha256: str) -> str | None:
    digest, count = hashlib.sha256(), 0
    try:
        for chunk in place.read(name):
            digest.update(chunk)
            count += len(chunk)
    except OSError:
        return f"{name} is missing or incomplete"
    if (count, digest.hexdigest()) != (size, sha256):
        return f"{name} is not what was written: {count} bytes instead of {size}, or changed"
    return None
