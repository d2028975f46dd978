"""Health: public liveness and readiness, and status for readers."""

from __future__ import annotations

from fastapi import APIRouter, Response

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep
from messor.api.gate import GatedRoute, is_public, needs
from messor.api.models.operations import CheckOut, LiveOut, ReadyOut, VitalsOut
from messor.ops import vitals

router = APIRouter(prefix="/health", tags=["health"], route_class=GatedRoute)


@router.get("/live")
@is_public
async def is_alive() -> LiveOut:
    """Liveness of this process."""
    return LiveOut(status="ok")


@router.get("/ready", responses={503: {"model": ReadyOut}})
@is_public
async def is_ready(database: DatabaseDep, response: Response) -> ReadyOut:
    """Readiness: the database is reachable with the required schema; 503 otherwise."""
    checks = await vitals.readiness(database)
    is_well = all(check.ok for check in checks)
    response.status_code = 200 if is_well else 503
    shown = [CheckOut.model_validate(check) for check in checks]
    return ReadyOut(status="ok" if is_well else "unavailable", checks=shown)


@router.get("")
@needs(Act.READ)
async def show_vitals(context: ContextDep) -> VitalsOut:
    """Workers, queues and waiting work; with very many jobs, cached for some seconds."""
    return VitalsOut.model_validate(await context.vitals.get())
