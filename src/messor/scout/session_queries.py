"""Queries of discovery sessions, with the current state of their candidates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.store.database import Connection, Database

STATES = ("running", "finished", "failed", "cancelled")
Before = tuple[datetime, UUID]

LISTING = """
SELECT s.id, v.name AS vertical, s.vertical_version, s.state, s.started_by, s.started_at,
       s.finished_at, s.said, s.statistics,
       coalesce((SELECT jsonb_object_agg(status, n) FROM (
         SELECT c.status, count(*) AS n FROM messor.candidates c WHERE c.session_id = s.id GROUP BY 1
       ) t), '{}') AS candidates,
       (SELECT count(*)::int FROM messor.serp_snapshots p WHERE p.judged_in = s.id) AS pages
  FROM messor.discovery_sessions s JOIN messor.verticals v ON v.id = s.vertical_id
 WHERE ($1::text IS NULL OR v.name = $1) AND ($2::text IS NULL OR s.state = $2)
   AND ($3::timestamptz IS NULL OR (s.started_at, s.id) < ($3, $4)) AND ($5::uuid IS NULL OR s.id = $5)
 ORDER BY s.started_at DESC, s.id DESC LIMIT $6
"""


@dataclass(frozen=True, slots=True)
class SessionSeen:
    """A session, its figures, and its candidates by current status."""

    id: UUID
    vertical: str
    vertical_version: int
    state: str
    started_by: str
    started_at: datetime
    finished_at: datetime | None
    said: str | None
    statistics: dict[str, Any]
    candidates: dict[str, int]
    pages: int  # of judged results

    @classmethod
    def of(cls, row: Any) -> SessionSeen:
        figures = msgspec.json.decode(row["statistics"]) if row["statistics"] else {}
        by_status = msgspec.json.decode(row["candidates"])
        return cls(**{**row, "statistics": figures, "candidates": by_status})


async def sessions(
    source: Connection | Database,
    *,
    vertical: str | None = None,
    state: str | None = None,
    before: Before | None = None,
    limit: int = 50,
) -> list[SessionSeen]:
    """Sessions, newest first."""
    rows = await source.fetch(LISTING, vertical, state, *(before or (None, None)), None, limit)
    return [SessionSeen.of(row) for row in rows]


async def get(source: Connection | Database, session_id: UUID) -> SessionSeen:
    row = await source.fetchrow(LISTING, None, None, None, None, session_id, 1)
    if row is None:
        raise NotFoundError(f"Unknown discovery session {session_id}.")
    return SessionSeen.of(row)
