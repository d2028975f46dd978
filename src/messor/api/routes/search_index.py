"""The index at a search server: its state, a rebuild, a check with repair."""

from __future__ import annotations

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.models.operations import SearchIndexesOut, SearchIndexOut, SearchJobOut
from messor.insight.search_server import indexes, jobs

router = APIRouter(prefix="/search/index", tags=["search"], route_class=GatedRoute)


@router.get("")
@needs(Act.READ)
async def show_search_indexes(database: DatabaseDep) -> SearchIndexesOut:
    """Get the indexes on the search server; without a search server, PostgreSQL serves searches."""
    found = await indexes.statuses(database)
    return SearchIndexesOut(items=[SearchIndexOut.model_validate(each) for each in found])


@router.post("/rebuild", status_code=202)
@needs(Act.SCHEDULE_CONTROL)
async def rebuild_search_index(context: ContextDep, connection: TransactionDep) -> SearchJobOut:
    """Start a job that builds a new index and replaces the live one."""
    return SearchJobOut(job_id=await jobs.ask(connection, context.settings, jobs.REBUILD))


@router.post("/check", status_code=202)
@needs(Act.SCHEDULE_CONTROL)
async def check_search_index(context: ContextDep, connection: TransactionDep) -> SearchJobOut:
    """Start a job that compares the live index with PostgreSQL and repairs differences."""
    return SearchJobOut(job_id=await jobs.ask(connection, context.settings, jobs.CHECK))
