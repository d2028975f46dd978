"""Discovery sessions, and queueing due searches."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, TransactionDep
from messor.api.cursors import CursorParam, Listing, Pager, PageSize
from messor.api.gate import GatedRoute, needs
from messor.api.models.discovery import DiscoverySessionOut, SearchesOut, SessionState, VerticalName
from messor.errors import ConflictError
from messor.scout import session_queries, track
from messor.verticals import verticals

router = APIRouter(tags=["discovery"], route_class=GatedRoute)

VerticalFilter = Annotated[str | None, Query(pattern=r"^[a-z][a-z0-9_]{0,62}$")]


@router.get("/discovery-sessions")
@needs(Act.READ)
async def list_discovery_sessions(
    database: DatabaseDep,
    *,
    vertical: VerticalFilter = None,
    state: SessionState | None = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[DiscoverySessionOut]:
    """List discovery sessions with statistics, newest first."""
    pager = Pager("discovery sessions", vertical, state)
    rows = await session_queries.sessions(
        database,
        vertical=vertical,
        state=state,
        before=pager.read(cursor, tuple[datetime, UUID]),
        limit=limit + 1,
    )
    return Listing(
        items=[DiscoverySessionOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: (row.started_at, row.id)),
    )


@router.get("/discovery-sessions/{session_id}")
@needs(Act.READ)
async def show_discovery_session(session_id: UUID, database: DatabaseDep) -> DiscoverySessionOut:
    """Get a discovery session."""
    return DiscoverySessionOut.model_validate(await session_queries.get(database, session_id))


@router.post("/verticals/{vertical}/searches", status_code=202)
@needs(Act.CRAWL_CONTROL)
async def ask_for_searches(
    vertical: VerticalName, connection: TransactionDep, context: ContextDep
) -> SearchesOut:
    """Queue searches for due keywords, each once per window."""
    applied = await verticals.get(connection, vertical)
    if not context.settings.search_engines:
        raise ConflictError("No search engine is configured; set search_engines first.")
    return SearchesOut(new=await track.ask_for_jobs(connection, applied.id))
