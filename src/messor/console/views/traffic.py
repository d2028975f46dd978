"""The traffic halt and the limits on all sites together. Every page shows an active halt."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.politeness import limits, traffic
from messor.registry.terms import RANGES


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


async def limit(call: ConsoleRequest) -> Response:
    """Set the limits; empty fields remove them."""
    try:
        wanted = limits.understood(
            call.form.words("crawl_hours"),
            call.form.words("time_zone"),
            call.form.whole("megabytes_per_day", "Megabytes per day"),
        )
        async with call.context.database.transaction() as connection:
            await limits.set_limits(connection, wanted, actor=call.actor)
    except UsageError as error:
        return await _page(call, wrong=str(error), status=422)
    return call.go("/traffic", "The limits were saved.")


async def _page(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    return await call.page(
        "traffic/page.html",
        status=status,
        wrong=wrong,
        limits=await limits.find(call.context.database),
        no_limits=limits.NONE,
        megabytes=RANGES["megabytes_per_day"],
    )


SCREENS = (
    get("/traffic", Act.READ, show),
    post("/traffic/halt", Act.TRAFFIC_HALT, halt),
    post("/traffic/resume", Act.TRAFFIC_RESUME, resume),
    post("/traffic/limits", Act.TRAFFIC_RESUME, limit),
)
