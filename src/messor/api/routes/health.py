"""Health: alive and ready, for everybody; how it goes, for those who may read."""

from __future__ import annotations

from fastapi import APIRouter, Response

from messor.access.roles import Act
from messor.api.gate import GatedRoute, is_public, needs
from messor.api.house import Here, Source
from messor.api.models.operations import CheckOut, LiveOut, ReadyOut, VitalsOut
from messor.ops import vitals

router = APIRouter(prefix="/health", tags=["health"], route_class=GatedRoute)


@router.get("/live")
@is_public
async def is_alive() -> LiveOut:
    """Whether this process answers."""
    return LiveOut(status="ok")


@router.get("/ready", responses={503: {"model": ReadyOut}})
@is_public
async def is_ready(source: Source, response: Response) -> ReadyOut:
    """The database answers and has the schema this release needs; 503 otherwise."""
    checks = await vitals.readiness(source)
    is_well = all(check.ok for check in checks)
    response.status_code = 200 if is_well else 503
    shown = [CheckOut.model_validate(check) for check in checks]
    return ReadyOut(status="ok" if is_well else "unavailable", checks=shown)


@router.get("")
@needs(Act.READ)
async def show_vitals(here: Here) -> VitalsOut:
    """Workers, queues and what waits, at a glance; of very many jobs, as it was seconds ago."""
    return VitalsOut.model_validate(await here.vitals.get())
