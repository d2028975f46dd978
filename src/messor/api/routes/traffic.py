"""Traffic: halt and resume all requests to sites."""

from __future__ import annotations

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.models.traffic import HaltIn, HaltOut, LimitsIn, LimitsOut, TrafficOut
from messor.politeness import limits, traffic
from messor.politeness.traffic import Halt
from messor.store.database import Connection, Database

router = APIRouter(prefix="/traffic", tags=["traffic"], route_class=GatedRoute)


@router.get("")
@needs(Act.READ)
async def show_traffic(database: DatabaseDep) -> TrafficOut:
    """Get whether traffic is halted, since when, by whom and why, and the limits on all sites."""
    return await _shown(database, await traffic.in_force(database))


@router.post("/halt")
@needs(Act.TRAFFIC_HALT)
async def halt_traffic(
    given: HaltIn, connection: TransactionDep, principal: PrincipalDep
) -> TrafficOut:
    """Halt all requests to sites on every machine within a second, until resumed."""
    halted = await traffic.halt(connection, reason=given.reason, actor=principal.actor)
    return await _shown(connection, halted)


@router.post("/resume")
@needs(Act.TRAFFIC_RESUME)
async def resume_traffic(connection: TransactionDep, principal: PrincipalDep) -> TrafficOut:
    """Resume traffic."""
    await traffic.resume(connection, actor=principal.actor)
    return await _shown(connection, None)


@router.put("/limits")
@needs(Act.TRAFFIC_RESUME)
async def limit_traffic(
    given: LimitsIn, connection: TransactionDep, principal: PrincipalDep
) -> TrafficOut:
    """Limit all sites together to hours of the day and megabytes per day; nulls remove the limits."""
    wanted = limits.understood(given.crawl_hours, given.time_zone, given.megabytes_per_day)
    await limits.set_limits(connection, wanted, actor=principal.actor)
    return await _shown(connection, await traffic.in_force(connection))


async def _shown(source: Connection | Database, halt: Halt | None) -> TrafficOut:
    found = await limits.find(source)
    return TrafficOut(
        halted=halt is not None,
        halt=HaltOut.model_validate(halt) if halt else None,
        limits=LimitsOut.model_validate(found) if found else None,
    )
