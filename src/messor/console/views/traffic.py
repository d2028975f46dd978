"""The traffic halt: halting and resuming. Every page shows an active halt."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.politeness import traffic


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def halt(call: ConsoleRequest) -> Response:
    try:
        async with call.context.database.transaction() as connection:
            await traffic.halt(connection, reason=call.form.text("reason"), actor=call.actor)
    except UsageError as error:
        return await _page(call, wrong=str(error), status=422)
    call.context.board.halt.spoil()
    return call.go("/traffic", "All traffic to sites is halted.", "warning")


async def resume(call: ConsoleRequest) -> Response:
    async with call.context.database.transaction() as connection:
        await traffic.resume(connection, actor=call.actor)
    call.context.board.halt.spoil()
    return call.go("/traffic", "Traffic was resumed.")


async def _page(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    return await call.page("traffic/page.html", status=status, wrong=wrong)


SCREENS = (
    get("/traffic", Act.READ, show),
    post("/traffic/halt", Act.TRAFFIC_HALT, halt),
    post("/traffic/resume", Act.TRAFFIC_RESUME, resume),
)
