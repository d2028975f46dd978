"""Ingestion: a URL in, tiles and evidence out, at once or with progress to look at meanwhile.

The path and the names of `POST /api/orbit/{slug}/ingest` are those its specification gives.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from starlette.responses import JSONResponse, Response

from messor.access.roles import Act
from messor.api.cursors import CursorParam, Listing, Pager, PageSize, PositiveInt
from messor.api.gate import GatedRoute, needs
from messor.api.house import Here, Source, Who
from messor.api.models.operations import (
    IngestIn,
    IngestOut,
    OrbitOut,
    RunOut,
    RunWithTilesOut,
)
from messor.errors import MessorError, NotFoundError, UnavailableError
from messor.ingest import IngestRequest, Progress, ingest, queries
from messor.ingest.result import Ingestion
from messor.store.database import Database

orbit = APIRouter(prefix="/api/orbit", tags=["ingestion"], route_class=GatedRoute)
router = APIRouter(tags=["ingestion"], route_class=GatedRoute)

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Slug = Annotated[str, Path(min_length=1, max_length=100, pattern=SLUG)]
TraceId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@orbit.post(
    "/{slug}/ingest",
    response_model=IngestOut,
    response_model_exclude_none=True,
    responses={202: {"model": RunOut, "description": "It is under way (Prefer: respond-async)"}},
)
@needs(Act.INGEST_RUN, own_transactions=True)
async def ingest_site(
    slug: Slug,
    given: IngestIn,
    here: Here,
    who: Who,
    request: Request,
    *,
    prefer: Annotated[str | None, Header(description="respond-async: answer at once")] = None,
) -> IngestOut | Response:
    """Fill an orbit with tiles of a site; what the site does is an outcome, not an error."""
    if here.errands >= here.limits.ingestions:
        raise UnavailableError("Too many ingestions are under way here. Try again in a moment.")
    asked = IngestRequest(
        given.url,
        who.actor,
        given.mode,
        tuple(given.userUrls),
        slug,
        may_approve=who.may(Act.DOMAINS_REVIEW),
    )
    begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def watch(progress: Progress) -> None:
        if not begun.done():
            begun.set_result(progress.trace_id)

    errand = here.begin(ingest(here.database, here.settings, asked, watch=watch))
    await asyncio.wait({errand, begun}, return_when=asyncio.FIRST_COMPLETED)
    if begun.done() and not errand.done() and _wants_async(prefer):
        return await _under_way(here.database, begun.result())
    return await _outcome(errand, begun, request, here.database)


def _wants_async(prefer: str | None) -> bool:
    wishes = (prefer or "").lower().split(",")
    return any(wish.partition(";")[0].strip() == "respond-async" for wish in wishes)


async def _under_way(database: Database, trace_id: str) -> Response:
    run = RunOut.model_validate(await queries.run(database, trace_id))
    headers = {
        "Location": f"/api/v1/ingestions/{trace_id}",
        "Preference-Applied": "respond-async",
    }
    return JSONResponse(run.model_dump(mode="json"), 202, headers=headers)


async def _outcome(
    errand: asyncio.Task[Any], begun: asyncio.Future[str], request: Request, database: Database
) -> IngestOut:
    """The specified answer; a run that broke off leaves its evidence with the problem."""
    try:
        done: Ingestion = await asyncio.shield(errand)
    except MessorError:
        if begun.done():
            request.state.evidence = await _evidence(database, begun.result())
        raise
    return IngestOut.model_validate(done.as_response())


async def _evidence(database: Database, trace_id: str) -> dict[str, Any]:
    try:
        run = await queries.run(database, trace_id)
    except NotFoundError:
        return {"traceId": trace_id}
    return run.evidence or {"traceId": trace_id}


@router.get("/ingestions")
@needs(Act.READ)
async def list_ingestions(
    source: Source,
    *,
    orbit_slug: Annotated[str | None, Query(alias="orbit", max_length=100, pattern=SLUG)] = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[RunOut]:
    """Ingestions, the newest first."""
    pager = Pager("ingestions", orbit_slug)
    before = pager.read(cursor, PositiveInt)
    rows = await queries.runs(source, orbit=orbit_slug, before=before, limit=limit + 1)
    return Listing(
        items=[RunOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: row.id),
    )


@router.get("/ingestions/{trace_id}")
@needs(Act.READ)
async def show_ingestion(trace_id: TraceId, source: Source) -> RunWithTilesOut:
    """How far an ingestion is, or what it came to."""
    run = await queries.run(source, trace_id)
    shown = RunOut.model_validate(run).model_dump()
    return RunWithTilesOut.model_validate({**shown, "tiles": await queries.tiles(source, run.id)})


@router.get("/orbits/{slug}")
@needs(Act.READ)
async def show_orbit(slug: Slug, source: Source) -> OrbitOut:
    """An orbit and its tiles."""
    return OrbitOut.model_validate(await queries.orbit(source, slug))
