"""The index at a search server: its state, a rebuild, a check with repair."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.insight.search_server import indexes, jobs
from messor.insight.search_server.jobs import Request

PATH = "/search/index"


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def rebuild(call: ConsoleRequest) -> Response:
    return await _ask(call, jobs.REBUILD, "A rebuild")


async def check(call: ConsoleRequest) -> Response:
    return await _ask(call, jobs.CHECK, "A check")


async def _ask(call: ConsoleRequest, job_type: Request, name: str) -> Response:
    try:
        async with call.context.database.transaction() as connection:
            new = await jobs.ask(connection, call.context.settings, job_type)
    except UsageError as error:
        return await _page(call, wrong=str(error), status=422)
    return call.go(PATH, f"{name} was requested." if new else f"{name} is already queued.")


async def _page(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    return await call.page(
        "search/index.html",
        status=status,
        wrong=wrong,
        found=await indexes.statuses(call.context.database),
        is_configured=call.context.settings.search_server_url is not None,
    )


SCREENS = (
    get(PATH, Act.READ, show),
    post(f"{PATH}/rebuild", Act.SCHEDULE_CONTROL, rebuild),
    post(f"{PATH}/check", Act.SCHEDULE_CONTROL, check),
)
