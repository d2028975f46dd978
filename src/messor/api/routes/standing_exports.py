"""Standing exports: made on a schedule, delivered to a place that the settings name."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.exports import StandingExportIn
from messor.exports.places import Places
from messor.schedule import standing_exports, standing_queries
from messor.schedule.standing_exports import NewStandingExport
from messor.schedule.standing_queries import STANDING_EXPORTS, StandingExport, StandingFilter
from messor.store.listing import ListPage

router = APIRouter(prefix="/standing-exports", tags=["exports"], route_class=GatedRoute)

Name = Annotated[str, Path(max_length=63)]


class StandingSwitchIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    is_active: bool = Field(description="Whether it runs on its schedule")


@router.get("")
@needs(Act.DATA_EXPORT)
async def list_standing_exports(
    database: DatabaseDep,
    asked: Annotated[ListRequest[StandingExport, StandingFilter], list_request(STANDING_EXPORTS)],
) -> ListPage[StandingExport]:
    """List standing exports with the result of their last run."""
    return await asked.read(database)


@router.post("", status_code=201)
@needs(Act.SCHEDULE_CONTROL)
async def add_standing_export(
    given: StandingExportIn,
    context: ContextDep,
    connection: TransactionDep,
    principal: PrincipalDep,
    response: Response,
) -> StandingExport:
    """Create a standing export and enable it."""
    made = await standing_exports.add(
        connection,
        NewStandingExport(**given.model_dump()),
        Places.of_settings(context.settings),
        actor=principal.actor,
        may_audit=principal.may(Act.AUDIT_READ),
    )
    response.headers["Location"] = f"/api/v1/standing-exports/{made.name}"
    return made


@router.get("/{name}")
@needs(Act.DATA_EXPORT)
async def show_standing_export(name: Name, database: DatabaseDep) -> StandingExport:
    """Get a standing export with the result of its last run."""
    return await standing_queries.get(database, name)


@router.patch("/{name}")
@needs(Act.SCHEDULE_CONTROL)
async def switch_standing_export(
    name: Name, given: StandingSwitchIn, connection: TransactionDep, principal: PrincipalDep
) -> StandingExport:
    """Enable a standing export from its next scheduled time, or disable it."""
    return await standing_exports.switch(
        connection, name, on=given.is_active, actor=principal.actor
    )


@router.delete("/{name}", status_code=204)
@needs(Act.SCHEDULE_CONTROL)
async def remove_standing_export(
    name: Name, connection: TransactionDep, principal: PrincipalDep
) -> None:
    """Remove a standing export; delivered files stay until an erasure removes them."""
    await standing_exports.remove(connection, name, actor=principal.actor)
