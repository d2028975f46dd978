"""Ingestion: a URL in, tiles and evidence out, synchronously or with progress to poll.

The path and field names of `POST /api/orbit/{slug}/ingest` follow its specification.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Request
from fastapi.encoders import jsonable_encoder
from starlette.responses import Response

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.operations import IngestIn, IngestOut
from messor.api.responses import MaskedResponse
from messor.errors import MessorError, NotFoundError, UnavailableError
from messor.ingest import IngestRequest, Progress, ingest, queries
from messor.ingest.queries import (
    INGESTIONS,
    ORBITS,
    IngestionFilter,
    IngestionRun,
    IngestionWithTiles,
    ListedOrbit,
    Orbit,
    OrbitFilter,
)
from messor.ingest.result import Ingestion
from messor.ingest.versions import VERSIONS, IngestionVersions
from messor.registry.submissions import Submitter
from messor.store.database import Database
from messor.store.listing import ListPage

orbit = APIRouter(prefix="/api/orbit", tags=["ingestion"], route_class=GatedRoute)
router = APIRouter(tags=["ingestion"], route_class=GatedRoute)

SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Slug = Annotated[str, Path(min_length=1, max_length=100, pattern=SLUG)]
TraceId = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]


@orbit.post(
    "/{slug}/ingest",
    response_model=IngestOut,
    response_model_exclude_none=True,
    responses={
        202: {"model": IngestionRun, "description": "Accepted and running (Prefer: respond-async)"}
    },
)
@needs(Act.INGEST_RUN, own_transactions=True)
async def ingest_site(
    slug: Slug,
    given: IngestIn,
    context: ContextDep,
    principal: PrincipalDep,
    request: Request,
    *,
    prefer: Annotated[str | None, Header(description="respond-async: return immediately")] = None,
) -> IngestOut | Response:
    """Fill an orbit with tiles from a site; the behaviour of the site is an outcome, not an error."""
    if context.running_tasks >= context.limits.ingestions:
        raise UnavailableError("Too many ingestions are running; try again in a moment.")
    ingest_request = IngestRequest(
        given.url,
        principal.actor,
        given.mode,
        tuple(given.userUrls),
        slug,
        may_approve=principal.may(Act.DOMAINS_REVIEW),
        submitter_type=Submitter.of(principal).submitter_type,
        member_id=principal.member_id,
    )
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def watch(progress: Progress) -> None:
        if not started.done():
            started.set_result(progress.trace_id)

    task = context.begin(ingest(context.database, context.settings, ingest_request, watch=watch))
    await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
    if started.done() and not task.done() and _wants_async(prefer):
        return await _under_way(context.database, started.result())
    return await _outcome(task, started, request, context.database)


@orbit.get("/version")
@needs(Act.READ)
async def show_version() -> IngestionVersions:
    """Get the version of the ingestion interface, its contract, and the versions it replaced."""
    return VERSIONS


def _wants_async(prefer: str | None) -> bool:
    preferences = (prefer or "").lower().split(",")
    return any(
        preference.partition(";")[0].strip() == "respond-async" for preference in preferences
    )


async def _under_way(database: Database, trace_id: str) -> Response:
    run = await queries.run(database, trace_id)
    headers = {
        "Location": f"/api/v1/ingestions/{trace_id}",
        "Preference-Applied": "respond-async",
    }
    return MaskedResponse(jsonable_encoder(run), 202, headers=headers)


async def _outcome(
    task: asyncio.Task[Any], started: asyncio.Future[str], request: Request, database: Database
) -> IngestOut:
    """The response of a finished run; a failed run adds its evidence to the problem."""
    try:
        done: Ingestion = await asyncio.shield(task)
    except MessorError:
        if started.done():
            request.state.evidence = await _evidence(database, started.result())
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
    database: DatabaseDep,
    asked: Annotated[ListRequest[IngestionRun, IngestionFilter], list_request(INGESTIONS)],
) -> ListPage[IngestionRun]:
    """List ingestions, filtered and ordered."""
    return await asked.read(database)


@router.get("/ingestions/{trace_id}")
@needs(Act.READ)
async def show_ingestion(trace_id: TraceId, database: DatabaseDep) -> IngestionWithTiles:
    """Get the progress or result of an ingestion."""
    return await queries.run_with_tiles(database, trace_id)


@router.get("/orbits")
@needs(Act.READ)
async def list_orbits(
    database: DatabaseDep,
    asked: Annotated[ListRequest[ListedOrbit, OrbitFilter], list_request(ORBITS)],
) -> ListPage[ListedOrbit]:
    """List orbits with the state of their newest ingestion, filtered and ordered."""
    return await asked.read(database)


@router.get("/orbits/{slug}")
@needs(Act.READ)
async def show_orbit(slug: Slug, database: DatabaseDep) -> Orbit:
    """Get an orbit with its tiles."""
    return await queries.orbit(database, slug)
