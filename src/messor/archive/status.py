"""The state of the archive in figures: segments by kind, and what waits to be deleted or erased."""

from __future__ import annotations

from typing import Any

from messor.archive.storage import Archive
from messor.store.database import Database

STATUS = """
SELECT CASE WHEN state = 'open' THEN 'open' WHEN strpos(name, '://') = 0 THEN 'file'
            WHEN strpos(name, '#') = 0 THEN 'object' ELSE 'compacted' END AS kind,
       count(*) AS segments, count(DISTINCT split_part(name, '#', 1)) AS objects,
       coalesce(sum(bytes), 0) AS bytes
  FROM messor.segments GROUP BY 1
"""
WAITING = """
SELECT (SELECT count(*) FROM messor.dead_segments) AS to_delete,
       (SELECT count(*) FROM messor.blanks WHERE blanked_at IS NULL) AS to_erase
"""


async def status(archive: Archive, database: Database) -> dict[str, Any]:
    """Segments and bytes by kind, and what waits."""
    rows = await database.fetch(STATUS)
    found: dict[str, Any] = {row["kind"]: dict(row) for row in rows}
    waiting = await database.fetchrow(WAITING)
    assert waiting is not None
    return {
        "archive": archive.store.url if archive.store is not None else str(archive.folder),
        "segments": [
            {
                "kind": kind,
                "segments": found[kind]["segments"] if kind in found else 0,
                "objects": found[kind]["objects"] if kind in found else 0,
                "bytes": int(found[kind]["bytes"]) if kind in found else 0,
            }
            for kind in ("file", "object", "compacted", "open")
        ],
        **dict(waiting),
    }
