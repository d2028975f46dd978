"""Crash markers: which page a worker is parsing, stored where it survives the worker.

Pages are parsed by C libraries. If one crashes the process, the marker identifies the page: it is
blamed before its lane becomes claimable, and all pages of its domain are parsed in the sandbox
from then on. (The whole domain, as new hosts cost an attacker nothing.) A marker is a few bytes
in a memory-mapped file named after the worker lease; setting it costs no system call. The worker
holds a lock on the file, so that other workers of this machine notice its death at once and end
its lease: its lanes wait their delay from then on. Those on other machines wait for its lease to
expire.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self
from uuid import UUID

from messor.politeness import lease
from messor.store.database import Database

_STATE = struct.Struct("<qq")  # the page being parsed, and calls to services in progress
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
        draft.write_bytes(_STATE.pack(0, 0) + _machine())
        self._file = draft.open("r+b")
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._map = mmap.mmap(self._file.fileno(), _STATE.size)
        self._calls = 0
        draft.rename(self._path)

    def set(self, page_id: int) -> None:
        _STATE.pack_into(self._map, 0, page_id, self._calls)

    def clear(self) -> None:
        _STATE.pack_into(self._map, 0, 0, self._calls)

    @contextmanager
    def calling(self) -> Iterator[None]:
        """While a service fetches a page: it goes on contacting the site if this worker dies."""
        self._calls += 1
        self.clear()  # nothing is being parsed: a page is parsed without leaving the loop's turn
        try:
            yield
        finally:
            self._calls -= 1
            self.clear()

    def close(self) -> None:
        self._map.close()
        self._path.unlink(missing_ok=True)
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


async def bury_dead(database: Database, folder: Path) -> list[int]:
    """End the leases of workers that died on this machine; blame the pages dead workers parsed.

    Returns the ids of those pages. A marker is removed once that is committed.
    """
    with ExitStack() as held:
        markers = [marker for path in _marker_files(folder) if (marker := _open(path, held))]
        died_here = [marker for marker in markers if marker.is_abandoned]
        dead = died_here + await _without_lease(database, markers)
        blamed = [marker.page_id for marker in dead if marker.page_id]
        if dead:
            async with database.transaction() as connection:
                if blamed:
                    await connection.execute(BLAME, blamed)
                # A service that still works for it may contact the site: then the lease runs out.
                idle = [marker.lease for marker in died_here if not marker.calls]
                await lease.end_dead(connection, idle)
        if blamed:
            (folder / _NEWS).write_text("")
        for marker in dead:
            marker.path.unlink(missing_ok=True)
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


class _Marker(NamedTuple):
    """A marker as another process reads it."""

    path: Path
    lease: int
    page_id: int
    calls: int
    is_abandoned: bool  # its worker ran on this machine and is dead: we hold its lock now


def _open(path: Path, held: ExitStack) -> _Marker | None:
    """Read a marker, and lock it if its worker is dead; None if another process dealt with it."""
    try:
        file = held.enter_context(path.open("rb"))
    except OSError:
        return None
    is_locked = _lock(file)
    content = file.read()
    if len(content) < _STATE.size or os.fstat(file.fileno()).st_nlink == 0:
        return None
    is_here = bool(_machine()) and content[_STATE.size :] == _machine()
    page_id, calls = _STATE.unpack_from(content)
    return _Marker(path, int(path.name), page_id, calls, is_locked and is_here)


async def _without_lease(database: Database, markers: list[_Marker]) -> list[_Marker]:
    """Markers of workers whose lease ended: on other machines, or too busy to renew it."""
    others = [marker for marker in markers if not marker.is_abandoned]
    if not others:
        return []
    ended = {row["id"] for row in await database.fetch(DEAD, [marker.lease for marker in others])}
    return [taken for marker in others if marker.lease in ended and (taken := _take(marker))]


def _take(marker: _Marker) -> _Marker | None:
    """Rename a marker that cannot be locked; None if another process did."""
    taken = marker.path.with_suffix(".taken")
    try:
        marker.path.rename(taken)
    except FileNotFoundError:
        return None
    return marker._replace(path=taken)


def _lock(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _marker_files(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.name.isdigit()]
