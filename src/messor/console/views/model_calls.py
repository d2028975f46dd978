"""Model calls: the questions put to a model, their cost, and values that pages do not confirm."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.ai.queries import CALLS
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get


async def show(call: ConsoleRequest) -> Response:
    listed = await list_of(call, CALLS, "/model-calls")
    return await call.page("parsers/model_calls.html", listed=listed)


SCREENS = (get("/model-calls", Act.READ, show),)
