"""Rights: approved uses of domains, permissions on file, and what was held back."""

from __future__ import annotations

import base64
import binascii
from datetime import date
from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import DomainName
from messor.api.routes.domains import name_of
from messor.errors import UsageError
from messor.registry import domains as registry
from messor.rights import permissions, report, uses
from messor.rights.permissions import MAX_DOCUMENT, MAX_REASON, Basis, NewPermission, Permission
from messor.rights.queries import HELD, PERMISSIONS, Held, HeldFilter, PermissionFilter
from messor.rights.report import UseReport
from messor.rights.uses import ApprovedUse
from messor.store.listing import ListPage

router = APIRouter(tags=["rights"], route_class=GatedRoute)


class UsesIn(BaseModel):
    """What a domain's content may be used for."""

    model_config = ConfigDict(extra="forbid")

    uses: list[ApprovedUse] = Field(max_length=20, description="Empty: none are named")


class UsesOut(BaseModel):
    """What a domain's content may be used for; empty: its approval names nothing."""

    domain: str
    uses: list[ApprovedUse]


class DocumentIn(BaseModel):
    """A document that shows a permission."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    content: str = Field(max_length=MAX_DOCUMENT * 4 // 3 + 4, description="In base64")

    def decoded(self) -> bytes:
        try:
            return base64.b64decode(self.content, validate=True)
        except binascii.Error as error:
            raise UsageError("The document's content is not base64.") from error


class PermissionIn(BaseModel):
    """A permission to put on file."""

    model_config = ConfigDict(extra="forbid")

    use: ApprovedUse
    basis: Basis
    reason: str = Field(min_length=1, max_length=MAX_REASON)
    document: DocumentIn | None = None
    expires_on: date | None = Field(None, description="Last day on which it counts")


class ReportOut(BaseModel):
    """For each use, how many pages may leave and what that rests on."""

    domain: str
    uses: list[UseReport]


@router.get("/domains/{domain}/uses")
@needs(Act.READ)
async def show_uses(domain: DomainName, database: DatabaseDep) -> UsesOut:
    """Get what a domain's content is approved for."""
    found = await registry.get(database, name_of(domain))
    return UsesOut(domain=found.domain, uses=list(await uses.of_domain(database, found.id)))


@router.put("/domains/{domain}/uses")
@needs(Act.DOMAINS_REVIEW)
async def set_uses(
    domain: DomainName, given: UsesIn, connection: TransactionDep, principal: PrincipalDep
) -> UsesOut:
    """Set what a domain's content is approved for."""
    found = await registry.lock(connection, name_of(domain))
    named = uses.parsed(given.uses)
    await uses.name_uses(connection, found.id, named, actor=principal.actor)
    return UsesOut(domain=found.domain, uses=list(named))


@router.get("/domains/{domain}/rights/report")
@needs(Act.READ)
async def show_report(domain: DomainName, database: DatabaseDep) -> ReportOut:
    """Get for each use how many pages may leave, and what that rests on."""
    found = await registry.get(database, name_of(domain))
    return ReportOut(domain=found.domain, uses=await report.of_domain_pages(database, found))


@router.get("/rights/held")
@needs(Act.READ)
async def list_held(
    database: DatabaseDep, asked: Annotated[ListRequest[Held, HeldFilter], list_request(HELD)]
) -> ListPage[Held]:
    """List what was held back on its way out, and the statement that did it."""
    return await asked.read(database)


@router.get("/permissions")
@needs(Act.READ)
async def list_permissions(
    database: DatabaseDep,
    asked: Annotated[ListRequest[Permission, PermissionFilter], list_request(PERMISSIONS)],
) -> ListPage[Permission]:
    """List permissions on file."""
    return await asked.read(database)


@router.post("/domains/{domain}/permissions", status_code=201)
@needs(Act.RIGHTS_PERMIT)
async def grant_permission(
    domain: DomainName,
    given: PermissionIn,
    connection: TransactionDep,
    principal: PrincipalDep,
    response: Response,
) -> Permission:
    """Put a permission on file; it counts at once."""
    found = await registry.lock(connection, name_of(domain))
    wanted = NewPermission(
        given.use,
        given.basis,
        given.reason,
        given.document.name if given.document else None,
        given.document.decoded() if given.document else None,
        given.expires_on,
    )
    made = await permissions.grant(connection, found.id, wanted, actor=principal.actor)
    response.headers["Location"] = f"/api/v1/permissions/{made.id}"
    return made


@router.get("/permissions/{permission_id}")
@needs(Act.READ)
async def show_permission(permission_id: UUID, database: DatabaseDep) -> Permission:
    """Get a permission, without its document."""
    return await permissions.get(database, permission_id)


@router.get(
    "/permissions/{permission_id}/document",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}},
)
@needs(Act.RIGHTS_PERMIT)
async def show_document(permission_id: UUID, database: DatabaseDep) -> Response:
    """Get the document that shows a permission."""
    name, document = await permissions.document_of(database, permission_id)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(document, media_type="application/octet-stream", headers=headers)


@router.delete("/permissions/{permission_id}")
@needs(Act.RIGHTS_PERMIT)
async def revoke_permission(
    permission_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> Permission:
    """Revoke a permission; from now on the site's statements count again."""
    found = await permissions.get(connection, permission_id)
    return await permissions.revoke(connection, found, actor=principal.actor)
