"""The archive's check: another tool reads every segment whole, and every snapshot's bytes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from chaos.checker import Check
from chaos.history import Snapshot
from chaos.verdict import none_of

UNREADABLE = (ArchiveLoadFailed, OSError, EOFError, ValueError)


def judge(folder: Path, snapshots: list[Snapshot]) -> list[Check]:
    """Checks on the files below a folder and the snapshots that point into them."""
    files = sorted(folder.rglob("*.warc.gz"))
    broken = [f"{file.name}: {fault}" for file in files if (fault := _fault_of(file))]
    return [
        none_of(f"segments unreadable, of {len(files)}", broken),
        none_of(f"snapshots with wrong bytes, of {len(snapshots)}", _wrong(folder, snapshots)),
    ]


def _fault_of(file: Path) -> str | None:
    """What stops a reader that goes through the whole segment."""
    try:
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                record.content_stream().read()
    except UNREADABLE as error:
        return f"{type(error).__name__} {error}"
    return None


def _wrong(folder: Path, snapshots: Iterable[Snapshot]) -> list[str]:
    by_segment: dict[str, list[Snapshot]] = {}
    for snapshot in snapshots:
        by_segment.setdefault(snapshot.segment, []).append(snapshot)
    return [fault for name, found in by_segment.items() for fault in _faults(folder / name, found)]


def _faults(file: Path, snapshots: list[Snapshot]) -> Iterator[str]:
    whole = file.read_bytes() if file.exists() else b""
    for snapshot in snapshots:
        place = f"{snapshot.page.host}{snapshot.page.path} in {file.name} at {snapshot.offset}"
        record = whole[snapshot.offset : snapshot.offset + snapshot.length]
        try:
            hashes = [sha256(body).digest() for body in _bodies(record)]
        except UNREADABLE as error:
            yield f"{place}: {type(error).__name__} {error}"
            continue
        if hashes != [snapshot.raw_hash]:
            yield f"{place}: other bytes"


def _bodies(record: bytes) -> Iterator[bytes]:
    for found in ArchiveIterator(io.BytesIO(record)):
        yield found.content_stream().read()
