"""Metrics of this machine's processes for Prometheus, with a key."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from messor.access.roles import Act
from messor.api.context import ContextDep
from messor.api.gate import GatedRoute, needs
from messor.core.metrics import as_text
from messor.runtime.metrics_socket import gather

router = APIRouter(prefix="/metrics", tags=["health"], route_class=GatedRoute)


@router.get("", response_class=PlainTextResponse)
@needs(Act.READ, own_transactions=True)
async def show_metrics(context: ContextDep) -> PlainTextResponse:
    """All processes that use this server's data folder, in Prometheus' text format."""
    return PlainTextResponse(as_text(await gather(context.settings.data_dir)))
