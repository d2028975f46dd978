"""Requests of site owners: the list, one that came by mail, and its proof."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import DomainName
from messor.api.routes.domains import name_of
from messor.fetch.txt_records import txt_records
from messor.governance import owners, politeness_report
from messor.governance.owner_queries import OWNER_REQUESTS, OwnerRequestFilter
from messor.governance.owners import MAX_CONTACT, OwnerRequest, Wish
from messor.store.listing import ListPage

router = APIRouter(tags=["owners"], route_class=GatedRoute)


class OwnerRequestIn(BaseModel):
    """A request that a site's owner sent by mail."""

    model_config = ConfigDict(extra="forbid")

    domain: str = Field(min_length=1, max_length=2_000)
    wish: Wish
    contact: str | None = Field(None, max_length=MAX_CONTACT)


@router.get("/owner-requests")
@needs(Act.DOMAINS_REVIEW)
async def list_owner_requests(
    database: DatabaseDep,
    asked: Annotated[ListRequest[OwnerRequest, OwnerRequestFilter], list_request(OWNER_REQUESTS)],
) -> ListPage[OwnerRequest]:
    """List requests of site owners."""
    return await asked.read(database)


@router.post("/owner-requests", status_code=201)
@needs(Act.DOMAINS_REVIEW)
async def add_owner_request(given: OwnerRequestIn, connection: TransactionDep) -> OwnerRequest:
    """Note a request that came by mail; its challenge goes to the sender."""
    made, _ = await owners.ask(
        connection, given.domain, given.wish, contact=given.contact, source="mail"
    )
    return made


@router.post("/owner-requests/{request_id}/check")
@needs(Act.DOMAINS_REVIEW)
async def check_owner_request(request_id: UUID, database: DatabaseDep) -> OwnerRequest:
    """Check the TXT record of a request; what was asked for is done if it is there."""
    found = await owners.get(database, request_id)
    return await owners.check_record(database, found, txt_records)


@router.get("/domains/{domain}/politeness-report")
@needs(Act.READ, needs_setup=True)
async def show_politeness_report(
    domain: DomainName, database: DatabaseDep, context: ContextDep
) -> dict[str, Any]:
    """Get the signed politeness report of a domain, as a JSON Web Signature."""
    return dict(
        await politeness_report.signed(database, context.settings, context.seal, name_of(domain))
    )
