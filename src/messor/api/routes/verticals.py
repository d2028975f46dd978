"""Verticals: those in force, what a file would change, applying it, and their organisations."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from messor.access.roles import Act
from messor.api.cursors import Listing, PageSize
from messor.api.gate import GatedRoute, needs
from messor.api.house import Source, Unit, Who
from messor.api.models.discovery import (
    DifferenceOut,
    OrganisationIn,
    OrganisationOut,
    OrganisationPutOut,
    VersionOut,
    VerticalAppliedOut,
    VerticalIn,
    VerticalName,
    VerticalOut,
    WholeVerticalOut,
)
from messor.errors import UsageError
from messor.verticals import differences, files, organisations, verticals
from messor.verticals.files import VerticalFile
from messor.verticals.organisations import NewOrganisation
from messor.verticals.verticals import Applied

router = APIRouter(prefix="/verticals", tags=["verticals"], route_class=GatedRoute)


@router.get("")
@needs(Act.READ)
async def list_verticals(source: Source) -> Listing[VerticalOut]:
    """The verticals in force."""
    found = await verticals.listing(source)
    return Listing(items=[VerticalOut(**_facts(one)) for one in found], next=None)


@router.post("")
@needs(Act.DOMAINS_CONFIGURE)
async def apply_vertical(given: VerticalIn, unit: Unit, who: Who) -> VerticalAppliedOut:
    """Put a vertical in force, or tell what that would change."""
    file = _file(given)
    if given.dry_run:
        before = await verticals.find(unit, file.vertical.name)
        changes = differences.between(before.vertical if before else None, file.vertical)
    else:
        _, changes = await verticals.apply(unit, file, actor=who.actor)
    return VerticalAppliedOut(
        name=file.vertical.name,
        version=file.vertical.version,
        applied=not given.dry_run,
        changes=[DifferenceOut.model_validate(one) for one in changes],
    )


@router.get("/{vertical}")
@needs(Act.READ)
async def show_vertical(vertical: VerticalName, source: Source) -> WholeVerticalOut:
    """A vertical with all that it says, and its versions."""
    found = await verticals.get(source, vertical)
    versions = await verticals.history(source, found)
    return WholeVerticalOut(
        **_facts(found),
        definition=found.vertical.model_dump(mode="json"),
        source=found.source,
        versions=[VersionOut(**one) for one in versions],
    )


@router.get("/{vertical}/organisations")
@needs(Act.READ)
async def list_organisations(
    vertical: VerticalName, source: Source, limit: PageSize = 200
) -> Listing[OrganisationOut]:
    """The first organisations of a vertical by name, and their domains."""
    found = await verticals.get(source, vertical)
    rows = await organisations.listing(source, found, limit)
    return Listing(items=[OrganisationOut.model_validate(one) for one in rows], next=None)


@router.post(
    "/{vertical}/organisations", status_code=201, responses={200: {"model": OrganisationPutOut}}
)
@needs(Act.DOMAINS_CONFIGURE)
async def put_organisation(
    vertical: VerticalName, given: OrganisationIn, unit: Unit, who: Who, response: Response
) -> OrganisationPutOut:
    """Add an organisation, or what is new of a known one: 201 when it was not there."""
    found = await verticals.get(unit, vertical)
    new = NewOrganisation.understand(given.name, given.domains, given.location, given.external_id)
    key, outcome = await organisations.put(unit, found, new, actor=who.actor)
    response.status_code = 201 if outcome == "created" else 200
    return OrganisationPutOut(id=key, outcome=outcome)


def _file(given: VerticalIn) -> VerticalFile:
    if (given.name is None) == (given.source is None):
        raise UsageError("Give the name of a vertical that comes with Messor, or a file's source.")
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
