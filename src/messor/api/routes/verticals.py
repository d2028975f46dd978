"""Verticals: list, preview, publish, and organisations."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.discovery import (
    OrganisationIn,
    OrganisationPutOut,
    VerticalAppliedOut,
    VerticalIn,
    VerticalName,
    VerticalOut,
    WholeVerticalOut,
)
from messor.errors import UsageError
from messor.store.listing import ListPage
from messor.verticals import differences, files, organisations, verticals
from messor.verticals.files import VerticalFile
from messor.verticals.organisations import NewOrganisation
from messor.verticals.queries import ORGANISATIONS, Organisation, OrganisationFilter
from messor.verticals.verticals import Applied

router = APIRouter(prefix="/verticals", tags=["verticals"], route_class=GatedRoute)


@router.get("")
@needs(Act.READ)
async def list_verticals(database: DatabaseDep) -> ListPage[VerticalOut]:
    """List the applied verticals."""
    found = await verticals.listing(database)
    return ListPage(items=[VerticalOut(**_facts(one)) for one in found], next=None)


@router.post("")
@needs(Act.DOMAINS_CONFIGURE)
async def apply_vertical(
    given: VerticalIn, connection: TransactionDep, principal: PrincipalDep
) -> VerticalAppliedOut:
    """Publish a vertical, or preview its changes."""
    file = _file(given)
    if given.dry_run:
        before = await verticals.find(connection, file.vertical.name)
        changes = differences.between(before.vertical if before else None, file.vertical)
    else:
        _, changes = await verticals.apply(connection, file, actor=principal.actor)
    return VerticalAppliedOut(
        name=file.vertical.name,
        version=file.vertical.version,
        applied=not given.dry_run,
        changes=changes,
    )


@router.get("/{vertical}")
@needs(Act.READ)
async def show_vertical(vertical: VerticalName, database: DatabaseDep) -> WholeVerticalOut:
    """Get a vertical with its definition and versions."""
    found = await verticals.get(database, vertical)
    versions = await verticals.history(database, found)
    return WholeVerticalOut(
        **_facts(found),
        definition=found.vertical.model_dump(mode="json"),
        source=found.source,
        versions=versions,
    )


@router.get("/{vertical}/organisations")
@needs(Act.READ)
async def list_organisations(
    vertical: VerticalName,
    database: DatabaseDep,
    asked: Annotated[
        ListRequest[Organisation, OrganisationFilter],
        list_request(ORGANISATIONS, without=("vertical",)),
    ],
) -> ListPage[Organisation]:
    """List the organisations of a vertical with their domains."""
    await verticals.get(database, vertical)
    return await asked.read(database, vertical=vertical)


@router.post(
    "/{vertical}/organisations", status_code=201, responses={200: {"model": OrganisationPutOut}}
)
@needs(Act.DOMAINS_CONFIGURE)
async def put_organisation(
    vertical: VerticalName,
    given: OrganisationIn,
    connection: TransactionDep,
    principal: PrincipalDep,
    response: Response,
) -> OrganisationPutOut:
    """Add an organisation or update an existing one: 201 when it is new."""
    found = await verticals.get(connection, vertical)
    new = NewOrganisation.understand(given.name, given.domains, given.location, given.external_id)
    key, outcome = await organisations.put(connection, found, new, actor=principal.actor)
    response.status_code = 201 if outcome == "created" else 200
    return OrganisationPutOut(id=key, outcome=outcome)


def _file(given: VerticalIn) -> VerticalFile:
    if (given.name is None) == (given.source is None):
        raise UsageError("Specify the name of a bundled vertical or the source of a file.")
    if given.name is not None:
        return files.shipped(given.name)
    return files.understand(given.source or "", "source")


def _facts(applied: Applied) -> dict[str, Any]:
    vertical = applied.vertical
    return {
        "name": vertical.name,
        "title": vertical.title,
        "version": vertical.version,
        "on_block": vertical.on_block,
        "applied_by": applied.applied_by,
        "applied_at": applied.applied_at,
    }
