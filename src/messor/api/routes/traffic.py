"""Traffic: halt all requests to sites, resume them, and see how it stands."""

from __future__ import annotations

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.gate import GatedRoute, needs
from messor.api.house import Source, Unit, Who
from messor.api.models.traffic import HaltIn, HaltOut, TrafficOut
from messor.politeness import traffic
from messor.politeness.traffic import Halt

router = APIRouter(prefix="/traffic", tags=["traffic"], route_class=GatedRoute)


@router.get("")
@needs(Act.READ)
async def show_traffic(source: Source) -> TrafficOut:
    """Whether traffic to sites is halted, since when, by whom and why."""
    return _shown(await traffic.in_force(source))


@router.post("/halt")
@needs(Act.TRAFFIC_HALT)
async def halt_traffic(given: HaltIn, unit: Unit, who: Who) -> TrafficOut:
    """Halt all requests to sites, on every machine, within a second; until it is resumed."""
    return _shown(await traffic.halt(unit, reason=given.reason, actor=who.actor))


@router.post("/resume")
@needs(Act.TRAFFIC_RESUME)
async def resume_traffic(unit: Unit, who: Who) -> TrafficOut:
    """Lift the halt."""
    await traffic.resume(unit, actor=who.actor)
    return _shown(None)


def _shown(halt: Halt | None) -> TrafficOut:
    return TrafficOut(halted=halt is not None, halt=HaltOut.model_validate(halt) if halt else None)
