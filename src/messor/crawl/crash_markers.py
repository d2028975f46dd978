"""Marks: which page a worker is reading, written where it survives the worker.

Reading runs foreign bytes through parsers in C. Should one end the process, the mark tells who
did it: the page is blamed before its lane is free again, and all pages of its domain are read in a
cage: hosts of a domain cost nothing, so whoever made one such page can serve it from a thousand.
A mark is eight bytes in a mapped file, named after the worker lease; setting one costs no call
into the system. Its worker holds a lock on it, so that others of this machine see its death at
once; those of another machine wait for its lease to end.
"""

from __future__ import annotations

import fcntl
import mmap
import struct
from pathlib import Path
from typing import Self
from uuid import UUID

from messor.store.database import Database

_PAGE = struct.Struct("<q")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NEWS = "blamed"  # beside the marks; written anew whenever somebody was blamed

DEAD = """
SELECT id FROM messor.worker_leases
 WHERE id = ANY ($1::bigint[]) AND (ended_at IS NOT NULL OR expires_at < (SELECT messor.clock()))
"""

BLAME = """
WITH blamed AS (
  UPDATE messor.crawl_tasks SET deaths = deaths + 1, error_message = 'its reader died'
   WHERE page_id = ANY ($1::bigint[]) RETURNING host_id
)
UPDATE messor.hosts SET caged = true WHERE id IN (SELECT host_id FROM blamed)
"""

BLAMED = "SELECT DISTINCT domain_id FROM messor.hosts WHERE caged"


class CrashMarker:
    """One worker's mark."""

    def __init__(self, folder: Path, lease_id: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / str(lease_id)
        draft = self._path.with_suffix(".new")  # nobody must find it before it is locked
        draft.write_bytes(_PAGE.pack(0) + _machine())
        self._file = draft.open("r+b")
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._map = mmap.mmap(self._file.fileno(), _PAGE.size)
        draft.rename(self._path)

    def set(self, page_id: int) -> None:
        _PAGE.pack_into(self._map, 0, page_id)

    def clear(self) -> None:
        _PAGE.pack_into(self._map, 0, 0)

    def close(self) -> None:
        self._map.close()
        self._path.unlink(missing_ok=True)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


async def blame_dead(database: Database, folder: Path) -> list[int]:
    """Blame the pages whose readers died, here, with their leases; answers them."""
    marks = {int(path.name): path for path in _found(folder)}
    left = [lease for lease, path in marks.items() if _is_left(path)]
    rest = [lease for lease in marks if lease not in left]
    if rest:
        left += [row["id"] for row in await database.fetch(DEAD, rest)]
    blamed = [page_id for lease in left if (page_id := _take(marks[lease]))]
    if blamed:
        await database.fetch(BLAME, blamed)
        (folder / _NEWS).write_text("")
    return blamed


class BlamedDomains:
    """The domains whose pages are read in the cage, as every worker of this machine knows them."""

    def __init__(self, folder: Path) -> None:
        self._news = folder / _NEWS
        self._seen_at: int | None = None
        self.domains: frozenset[UUID] = frozenset()

    async def refresh(self, database: Database) -> None:
        """Look again, if anybody was blamed since: visits under way were begun before that."""
        try:
            written_at = self._news.stat().st_mtime_ns
        except FileNotFoundError:
            return
        if written_at != self._seen_at:
            rows = await database.fetch(BLAMED)
            self.domains = frozenset(row["domain_id"] for row in rows)
            self._seen_at = written_at


def _machine() -> bytes:
    """What is the same for all processes that see each other's locks."""
    try:
        return _BOOT.read_bytes().strip()
    except OSError:
        return b""


def _is_left(path: Path) -> bool:
    """Whether a worker of this very machine left its mark behind; False where nobody can tell."""
    try:
        with path.open("rb") as file:
            machine = file.read()[_PAGE.size :]
            if not machine or machine != _machine():
                return False
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # somebody holds it, or took it
        return False
    return True


def _found(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.name.isdigit()]


def _take(path: Path) -> int:
    """The page that a mark names; only one who takes it gets an answer."""
    mine = path.with_suffix(".taken")
    try:
        path.rename(mine)
        content = mine.read_bytes()
        mine.unlink()
    except FileNotFoundError:
        return 0
    return int(_PAGE.unpack_from(content)[0]) if len(content) >= _PAGE.size else 0
