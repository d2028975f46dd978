"""Access requests of persons: what is held on them is found, handed over and erased.

Names come in bodies, not in addresses, which are logged.
"""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep
from messor.api.gate import GatedRoute, needs
from messor.governance import person_data, promotion
from messor.governance.person_data import MAX_NAMES, HeldPlace, PersonErased
from messor.registry.domains import MAX_REASON

router = APIRouter(prefix="/persons", tags=["persons"], route_class=GatedRoute)


class PersonIn(BaseModel):
    """Who is meant."""

    model_config = ConfigDict(extra="forbid")

    names: list[str] = Field(
        min_length=1, max_length=MAX_NAMES, description="Names and addresses of the person"
    )


class ErasePersonIn(PersonIn):
    """Whose data to erase, and why."""

    reason: str = Field(min_length=1, max_length=MAX_REASON)
    with_pages: bool = Field(False, description="Erase stored pages that name them, too")


class PersonOut(BaseModel):
    """Where a person is named."""

    places: list[HeldPlace]
    pages: list[str]


@router.post("/find")
@needs(Act.DATA_ERASE)
async def find_person(given: PersonIn, database: DatabaseDep, principal: PrincipalDep) -> PersonOut:
    """Find the tables and pages that contain a name or address of a person."""
    found = await person_data.find(database, given.names, actor=principal.actor)
    return PersonOut(places=found.places, pages=found.pages)


@router.post(
    "/export",
    response_class=Response,
    responses={200: {"description": "A ZIP file with everything that is held on the person"}},
)
@needs(Act.DATA_ERASE)
async def export_person(
    given: PersonIn, database: DatabaseDep, principal: PrincipalDep
) -> Response:
    """Hand over everything that is held on a person, without secrets."""
    data = await person_data.handed_over(database, given.names, actor=principal.actor)
    headers = {"Content-Disposition": 'attachment; filename="person.zip"'}
    return Response(data, media_type="application/zip", headers=headers)


@router.post("/erase")
@needs(Act.DATA_ERASE)
async def erase_person_data(
    given: ErasePersonIn, context: ContextDep, principal: PrincipalDep
) -> PersonErased:
    """Erase a person's identity and account; what still names them is in `left`."""
    done = await person_data.erase(
        context.database,
        given.names,
        actor=principal.actor,
        reason=given.reason,
        with_pages=given.with_pages,
    )
    await promotion.let_go(context.settings, context.database)
    return done
