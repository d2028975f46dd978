"""The schedule: scheduled work, its next run and the reason; changed by admins."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import ConflictError, UsageError
from messor.schedule import leader, plan
from messor.schedule.orchestrators import Orchestrator
from messor.schedule.outlook import outlook
from messor.schedule.standard import standard_registry
from messor.store.database import Connection


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def change(call: ConsoleRequest) -> Response:
    orchestrator = standard_registry(call.context.settings).get(call.part("name"))
    try:
        async with call.context.database.transaction() as connection:
            await _act(connection, call, orchestrator)
    except (UsageError, ConflictError) as error:
        return await _page(call, wrong=str(error), status=422)
    return call.go("/schedule", f"{orchestrator.name} was updated.")


async def _act(connection: Connection, call: ConsoleRequest, orchestrator: Orchestrator) -> None:
    """Override or reset the schedule, enable or disable it."""
    act, cadence, actor = call.form.text("act"), call.form.words("cadence"), call.actor
    if act == "set":
        if cadence is None:
            raise UsageError("Enter a schedule such as 30 3 * * * or @every 90m.")
        await plan.override(connection, orchestrator, cadence, actor=actor)
    elif act == "reset":
        await plan.override(connection, orchestrator, None, actor=actor)
    elif act in ("enable", "disable"):
        await plan.switch(connection, orchestrator, enabled=act == "enable", actor=actor)
    else:
        raise UsageError("The action must be set, reset, enable or disable.")


async def _page(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    plans = await plan.find(call.context.database)
    rows = outlook(standard_registry(call.context.settings), plans)
    return await call.page(
        "schedule/page.html",
        status=status,
        wrong=wrong,
        rows=rows,
        led=await leader.find(call.context.database),
        names=await call.names({row.overridden_by for row in rows if row.overridden_by}),
    )


SCREENS = (
    get("/schedule", Act.READ, show),
    post("/schedule/{name}", Act.SCHEDULE_CONTROL, change),
)
