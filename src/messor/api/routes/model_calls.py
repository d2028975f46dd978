"""Model calls: the questions put to a model, and values that pages do not confirm."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from messor.access.roles import Act
from messor.ai.queries import CALLS, CallFilter, ModelCall
from messor.api.context import DatabaseDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.store.listing import ListPage

router = APIRouter(tags=["extraction"], route_class=GatedRoute)


@router.get("/model-calls")
@needs(Act.READ)
async def list_model_calls(
    database: DatabaseDep, asked: Annotated[ListRequest[ModelCall, CallFilter], list_request(CALLS)]
) -> ListPage[ModelCall]:
    """List model calls with their cost, filtered and ordered."""
    return await asked.read(database)
