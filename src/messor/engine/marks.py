"""Marks: which page a worker is reading, written where it survives the worker.

Reading runs foreign bytes through parsers in C. Should one end the process, the mark tells who
did it: the page is blamed before its lane is free again, and its host's pages are read in a cage.
A mark is eight bytes in a mapped file, named after the worker lease; setting one costs no call
into the system.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Self

from messor.store.database import Database

_PAGE = struct.Struct("<q")

DEAD = """
SELECT id FROM messor.worker_leases
 WHERE id = ANY ($1::bigint[]) AND (ended_at IS NOT NULL OR expires_at < (SELECT messor.clock()))
"""

# From then on every page of its host is caged: one death a host, however many pages it has.
BLAME = """
WITH blamed AS (
  UPDATE messor.crawl_tasks SET deaths = deaths + 1, error_message = 'its reader died'
   WHERE page_id = ANY ($1::bigint[]) RETURNING host_id
)
UPDATE messor.hosts SET caged = true WHERE id IN (SELECT host_id FROM blamed)
"""


class Mark:
    """One worker's mark."""

    def __init__(self, folder: Path, lease_id: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / str(lease_id)
        self._path.write_bytes(_PAGE.pack(0))
        with self._path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _PAGE.size)

    def set(self, page_id: int) -> None:
        _PAGE.pack_into(self._map, 0, page_id)

    def clear(self) -> None:
        _PAGE.pack_into(self._map, 0, 0)

    def close(self) -> None:
        self._map.close()
        self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


async def blame_dead(database: Database, folder: Path) -> list[int]:
    """Blame the pages whose readers died, here, with their leases; answers them."""
    marks = {int(path.name): path for path in _found(folder)}
    if not marks:
        return []
    dead = await database.fetch(DEAD, list(marks))
    blamed: list[int] = []
    for row in dead:
        page_id = _take(marks[row["id"]])
        if page_id:
            blamed.append(page_id)
    if blamed:
        await database.fetch(BLAME, blamed)
    return blamed


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
    return int(_PAGE.unpack(content)[0]) if len(content) == _PAGE.size else 0
