"""Queries of discovery sessions, with the current state of their candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.scout.candidates import CandidateStatus
from messor.store.database import Connection, Database
from messor.store.listing import Filters, Listing, Moment, both_ways, where
from messor.verticals.queries import VerticalText, of_vertical

State = Literal["running", "finished", "failed", "cancelled"]

_COLUMNS = """s.id, v.name AS vertical, s.vertical_version, s.state, s.started_by, s.started_at,
  s.finished_at, s.message, s.statistics,
  coalesce((SELECT jsonb_object_agg(status, n) FROM (
    SELECT c.status, count(*) AS n FROM messor.candidates c WHERE c.session_id = s.id GROUP BY 1
  ) t), '{}') AS candidates,
  (SELECT count(*)::int FROM messor.serp_snapshots p WHERE p.judged_in = s.id) AS pages"""
_JOINS = "JOIN messor.verticals v ON v.id = s.vertical_id"
ONE = f"SELECT {_COLUMNS} FROM messor.discovery_sessions s {_JOINS} WHERE s.id = $1"


@dataclass(frozen=True, slots=True)
class DiscoverySession:
    """A session, its figures, and its candidates by current status."""

    id: UUID
    vertical: str
    vertical_version: int
    state: State
    started_by: str
    started_at: datetime
    finished_at: datetime | None
    message: str | None
    statistics: dict[str, Any]  # empty while it runs
    candidates: dict[CandidateStatus, int]
    pages: int  # of judged results

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> DiscoverySession:
        figures = msgspec.json.decode(row["statistics"]) if row["statistics"] else {}
        by_status = msgspec.json.decode(row["candidates"])
        return cls(**{**row, "statistics": figures, "candidates": by_status})


class SessionFilter(Filters):
    """Filters of discovery sessions."""

    vertical: VerticalText | None = where(of_vertical("s"), "Vertical")
    state: State | None = where("s.state = {}", "State")
    since: Moment | None = where("s.started_at >= {}", "Started since")
    until: Moment | None = where("s.started_at < {}", "Started before")


SESSIONS = Listing(
    name="discovery sessions",
    item=DiscoverySession,
    filters=SessionFilter,
    table="messor.discovery_sessions",
    alias="s",
    columns=_COLUMNS,
    joins=_JOINS,
    key_type="uuid",
    make=DiscoverySession.of,
    orders=both_ways(
        "-started_at", "s.started_at", "timestamptz", "Newest first", "Oldest first"
    ),
)  # fmt: skip


async def get(source: Connection | Database, session_id: UUID) -> DiscoverySession:
    row = await source.fetchrow(ONE, session_id)
    if row is None:
        raise NotFoundError(f"Unknown discovery session {session_id}.")
    return DiscoverySession.of(row)
