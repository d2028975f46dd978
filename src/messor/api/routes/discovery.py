"""Discovery sessions, and queueing due searches."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.discovery import SearchesOut, VerticalName
from messor.errors import ConflictError
from messor.scout import session_queries, track
from messor.scout.session_queries import SESSIONS, DiscoverySession, SessionFilter
from messor.store.listing import ListPage
from messor.verticals import verticals

router = APIRouter(tags=["discovery"], route_class=GatedRoute)


@router.get("/discovery-sessions")
@needs(Act.READ)
async def list_discovery_sessions(
    database: DatabaseDep,
    asked: Annotated[ListRequest[DiscoverySession, SessionFilter], list_request(SESSIONS)],
) -> ListPage[DiscoverySession]:
    """List discovery sessions with statistics, filtered and ordered."""
    return await asked.read(database)


@router.get("/discovery-sessions/{session_id}")
@needs(Act.READ)
async def show_discovery_session(session_id: UUID, database: DatabaseDep) -> DiscoverySession:
    """Get a discovery session."""
    return await session_queries.get(database, session_id)


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
