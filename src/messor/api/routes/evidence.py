"""Evidence bundles of records and pages, as files."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path
from starlette.responses import Response

from messor.access.roles import Act
from messor.api.context import ContextDep, PrincipalDep
from messor.api.declared_uses import DeclaredUses
from messor.api.gate import GatedRoute, needs
from messor.archive.storage import Archive
from messor.ops.evidence.bundle import Evidence

router = APIRouter(prefix="/evidence", tags=["evidence"], route_class=GatedRoute)

MEDIA_TYPE = "application/wacz"


@router.post(
    "/{kind}/{number}",
    response_class=Response,
    responses={200: {"description": "The bundle, a WACZ file"}},
)
@needs(Act.AUDIT_READ)
async def make_bundle(
    kind: Literal["record", "page"],
    number: Annotated[int, Path(ge=1, le=2**63 - 1)],
    context: ContextDep,
    principal: PrincipalDep,
    uses: DeclaredUses,
) -> Response:
    """Make a signed bundle of a record or page: bytes, quotes, decisions, rights, politeness, seals."""
    maker = Evidence(context.database, context.settings, Archive.of(context.settings), context.seal)
    data = await maker.bundle(kind, number, actor=principal.actor, declared=uses)
    headers = {"Content-Disposition": f'attachment; filename="{kind}-{number}.wacz"'}
    return Response(data, media_type=MEDIA_TYPE, headers=headers)
