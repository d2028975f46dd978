"""Exports: requested as a job, watched, and downloaded in one piece or in ranges."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Response
from starlette.responses import FileResponse

from messor.access.principal import Principal
from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep, PrincipalDep, TransactionDep
from messor.api.declared_uses import declared
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.exports import ExportIn
from messor.exports import queries, requests
from messor.exports.formats import format_of
from messor.exports.queries import EXPORTS, Export, ExportFilter
from messor.exports.requests import NewExport
from messor.store.listing import ListPage

router = APIRouter(prefix="/exports", tags=["exports"], route_class=GatedRoute)


def _visible(principal: Principal) -> str | None:
    """Whose exports the caller may see: all with the right to read the audit log, else one's own."""
    return None if principal.may(Act.AUDIT_READ) else principal.actor


@router.get("")
@needs(Act.DATA_EXPORT)
async def list_exports(
    database: DatabaseDep,
    principal: PrincipalDep,
    asked: Annotated[ListRequest[Export, ExportFilter], list_request(EXPORTS)],
) -> ListPage[Export]:
    """List exports; without the right to read the audit log, one's own."""
    whose = _visible(principal)
    return await asked.read(database, **({} if whose is None else {"requested_by": whose}))


@router.post("", status_code=202)
@needs(Act.DATA_EXPORT)
async def start_export(
    given: ExportIn, connection: TransactionDep, principal: PrincipalDep, response: Response
) -> Export:
    """Start an export; a worker makes the file. Poll it until its state is done."""
    wanted = NewExport(
        given.noun, given.format, given.filters, tuple(given.columns), given.bom, given.since,
        uses=declared(principal, given.uses),
    )  # fmt: skip
    made = await requests.begin(
        connection, wanted, actor=principal.actor, may_audit=principal.may(Act.AUDIT_READ)
    )
    response.headers["Location"] = f"/api/v1/exports/{made.id}"
    return made


@router.get("/{export_id}")
@needs(Act.DATA_EXPORT)
async def show_export(export_id: UUID, database: DatabaseDep, principal: PrincipalDep) -> Export:
    """Get an export with its progress."""
    return await queries.get(database, export_id, of=_visible(principal))


@router.get(
    "/{export_id}/file",
    response_class=Response,
    responses={200: {"description": "The file; Range and If-Range are honoured"}},
)
@needs(Act.DATA_EXPORT)
async def download_export(
    export_id: UUID, context: ContextDep, principal: PrincipalDep
) -> FileResponse:
    """Download the file of a finished export; ranges continue an interrupted download."""
    folder = requests.folder_of(context.settings)
    async with context.database.transaction() as connection:
        found = await queries.get(connection, export_id, of=_visible(principal))
        path = await requests.download(connection, folder, found, actor=principal.actor)
    return FileResponse(
        path,
        media_type=format_of(found.format).media_type,
        filename=requests.download_name(found),
        headers={"ETag": f'"{found.file_hash}"', "Cache-Control": "private, no-cache"},
    )


@router.post("/{export_id}/cancel")
@needs(Act.DATA_EXPORT)
async def cancel_export(
    export_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> Export:
    """Cancel an unfinished export."""
    found = await queries.get(connection, export_id, of=_visible(principal))
    await requests.cancel(connection, found, actor=principal.actor)
    return await queries.get(connection, export_id)
