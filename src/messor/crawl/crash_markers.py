"""Crash markers: which page a worker is parsing, stored where it survives the worker.

Pages are parsed by C libraries. If one crashes the process, the marker identifies the page: it is
blamed before its lane becomes claimable, and all pages of its domain are parsed in the sandbox
from then on. (The whole domain, as new hosts cost an attacker nothing.) A marker is eight bytes
in a memory-mapped file named after the worker lease; setting it costs no system call. The worker
holds a lock on the file, so that other workers of this machine notice its death at once; those on
other machines wait for its lease to end.
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
_NEWS = "blamed"  # beside the markers; rewritten whenever a page was blamed

DEAD = """
SELECT id FROM messor.worker_leases
 WHERE id = ANY ($1::bigint[]) AND (ended_at IS NOT NULL OR expires_at < (SELECT messor.clock()))
"""

BLAME = """
WITH blamed AS (
  UPDATE messor.crawl_tasks SET deaths = deaths + 1, error_message = 'parsing it crashed a worker'
   WHERE page_id = ANY ($1::bigint[]) RETURNING host_id
)
UPDATE messor.hosts SET caged = true WHERE id IN (SELECT host_id FROM blamed)
"""

BLAMED = "SELECT DISTINCT domain_id FROM messor.hosts WHERE caged"


class CrashMarker:
    """One worker's crash marker."""

    def __init__(self, folder: Path, lease_id: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / str(lease_id)
        draft = self._path.with_suffix(".new")  # must not be visible before it is locked
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
    """Blame the pages whose workers died while parsing them; return their ids."""
    markers = {int(path.name): path for path in _marker_files(folder)}
    abandoned = [lease for lease, path in markers.items() if _is_abandoned(path)]
    rest = [lease for lease in markers if lease not in abandoned]
    if rest:
        abandoned += [row["id"] for row in await database.fetch(DEAD, rest)]
    blamed = [page_id for lease in abandoned if (page_id := _claim_marker(markers[lease]))]
    if blamed:
        await database.fetch(BLAME, blamed)
        (folder / _NEWS).write_text("")
    return blamed


class BlamedDomains:
    """The domains whose pages are parsed in the sandbox, as known to this worker."""

    def __init__(self, folder: Path) -> None:
        self._news = folder / _NEWS
        self._seen_at: int | None = None
        self.domains: frozenset[UUID] = frozenset()

    async def refresh(self, database: Database) -> None:
        """Reload if a page was blamed since; visits in progress may predate that."""
        try:
            written_at = self._news.stat().st_mtime_ns
        except FileNotFoundError:
            return
        if written_at != self._seen_at:
            rows = await database.fetch(BLAMED)
            self.domains = frozenset(row["domain_id"] for row in rows)
            self._seen_at = written_at


def _machine() -> bytes:
    """The boot id: equal for all processes that see each other's locks."""
    try:
        return _BOOT.read_bytes().strip()
    except OSError:
        return b""


def _is_abandoned(path: Path) -> bool:
    """Whether a dead worker of this machine left this marker; False if that is unknown."""
    try:
        with path.open("rb") as file:
            machine = file.read()[_PAGE.size :]
            if not machine or machine != _machine():
                return False
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another process holds or took it
        return False
    return True


def _marker_files(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.name.isdigit()]


def _claim_marker(path: Path) -> int:
    """The page a marker names; 0 if another process took the marker first."""
    mine = path.with_suffix(".taken")
    try:
        path.rename(mine)
        content = mine.read_bytes()
        mine.unlink()
    except FileNotFoundError:
        return 0
    return int(_PAGE.unpack_from(content)[0]) if len(content) >= _PAGE.size else 0
