"""The archive folder of a machine in a backup: segments only grow, so each backup adds what is new.

What was erased since stays in older pieces until the backups that name them are removed; a restore
repeats all erasures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from messor.archive.location import is_remote
from messor.errors import UsageError
from messor.ops.backup.manifest import KeptSegment, Manifest, SegmentPiece, piece_name
from messor.ops.backup.place import CHUNK_BYTES, BackupPlace

Progress = Callable[[str], None]

# In the moment that the backup holds. What rows point at may lie beyond what a segment's row states.
SEGMENTS = """
SELECT g.name, greatest(g.bytes, coalesce(h.ends, 0)) AS committed
  FROM messor.segments g
  LEFT JOIN LATERAL (
    SELECT max(ends) AS ends FROM (
      SELECT max(segment_offset + segment_length) AS ends FROM messor.page_snapshots
       WHERE g.state = 'open' AND segment_id = g.id
       UNION ALL
      SELECT max(revisit_offset + revisit_length) FROM messor.page_snapshots
       WHERE g.state = 'open' AND revisit_segment_id = g.id) e) h ON true
 ORDER BY g.id
"""


def copy_segments(
    folder: Path,
    rows: Iterable[tuple[str, int]],
    place: BackupPlace,
    earlier: Sequence[Manifest],
    progress: Progress,
) -> tuple[list[KeptSegment], int, int]:
    """Copy what no earlier backup has; the segments, how many are elsewhere, and how many remote."""
    known = {each.name: each.pieces for manifest in earlier for each in manifest.segments}
    kept, elsewhere, remote = [], 0, 0
    for name, committed in rows:
        if is_remote(name):
            remote += 1
        elif not (folder / name).exists():
            elsewhere += 1
        else:
            progress(f"copying {name}")
            pieces = _pieces(folder / name, name, place, known.get(name, []))
            kept.append(KeptSegment(name, committed, pieces))
    return kept, elsewhere, remote


def _pieces(
    path: Path, name: str, place: BackupPlace, known: Sequence[SegmentPiece]
) -> list[SegmentPiece]:
    start = sum(each.bytes for each in known)
    length = path.stat().st_size - start
    if length <= 0:
        return list(known)
    piece = SegmentPiece(start, length, "")
    with path.open("rb") as source, place.create(piece_name(name, piece)) as sink:
        source.seek(start)
        left = length
        while left and (chunk := source.read(min(CHUNK_BYTES, left))):
            sink.write(chunk)
            left -= len(chunk)
    return [*known, SegmentPiece(start, sink.written.bytes, sink.written.sha256)]


def put_back(folder: Path, manifest: Manifest, place: BackupPlace, progress: Progress) -> int:
    """Write segments into an archive folder; longer ones that are there are left. How many were written."""
    written = 0
    for segment in manifest.segments:
        path = (folder / segment.name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise UsageError(f"The backup names a segment outside the archive: {segment.name}.")
        size = sum(each.bytes for each in segment.pieces)
        if path.exists() and path.stat().st_size >= segment.committed:
            continue
        progress(f"writing {segment.name}, {size:,} bytes")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        with part.open("wb") as file:
            for piece in segment.pieces:
                for chunk in place.read(piece_name(segment.name, piece)):
                    file.write(chunk)
        part.replace(path)
        written += 1
    return written
