"""Evidence bundles: a button of a record or page downloads one."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.archive.storage import Archive
from messor.console.call import ConsoleRequest
from messor.console.screens import post
from messor.errors import ConflictError, NotFoundError
from messor.ops.evidence.bundle import Evidence, Kind


async def of_record(call: ConsoleRequest) -> Response:
    return await _bundle(call, "record", call.number("record_id"))


async def of_page(call: ConsoleRequest) -> Response:
    return await _bundle(call, "page", call.number("page_id"))


async def _bundle(call: ConsoleRequest, kind: Kind, number: int) -> Response:
    context = call.context
    archive = Archive.of(context.settings)
    maker = Evidence(context.database, context.settings, archive, context.seal)
    try:
        data = await maker.bundle(kind, number, actor=call.actor)
    except (ConflictError, NotFoundError) as error:
        return call.go(f"/{kind}s/{number}", str(error), "warning")
    headers = {"Content-Disposition": f'attachment; filename="{kind}-{number}.wacz"'}
    return Response(data, media_type="application/wacz", headers=headers)


SCREENS = (
    post("/records/{record_id:int}/evidence", Act.AUDIT_READ, of_record),
    post("/pages/{page_id:int}/evidence", Act.AUDIT_READ, of_page),
)
