"""Traffic: halt and resume all requests to sites."""

from __future__ import annotations

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.models.traffic import HaltIn, HaltOut, TrafficOut
from messor.politeness import traffic
from messor.politeness.traffic import Halt

router = APIRouter(prefix="/traffic", tags=["traffic"], route_class=GatedRoute)


@router.get("")
@needs(Act.READ)
async def show_traffic(database: DatabaseDep) -> TrafficOut:
    """Get whether traffic is halted, since when, by whom and why."""
    return _shown(await traffic.in_force(database))


@router.post("/halt")
@needs(Act.TRAFFIC_HALT)
async def halt_traffic(
    given: HaltIn, connection: TransactionDep, principal: PrincipalDep
) -> TrafficOut:
    """Halt all requests to sites on every machine within a second, until resumed."""
    return _shown(await traffic.halt(connection, reason=given.reason, actor=principal.actor))


@router.post("/resume")
@needs(Act.TRAFFIC_RESUME)
async def resume_traffic(connection: TransactionDep, principal: PrincipalDep) -> TrafficOut:
    """Resume traffic."""
    await traffic.resume(connection, actor=principal.actor)
    return _shown(None)


def _shown(halt: Halt | None) -> TrafficOut:
    return TrafficOut(halted=halt is not None, halt=HaltOut.model_validate(halt) if halt else None)
