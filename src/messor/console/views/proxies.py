"""Proxies: the pool with its statistics, and adding, switching and removing proxies."""

from __future__ import annotations

from decimal import Decimal

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import ConflictError, UnavailableError, UsageError
from messor.fetch.proxies import costs, placement, registry
from messor.fetch.proxies.proxy import check_password, understand


async def show(call: ConsoleRequest) -> Response:
    return await _page(call)


async def add(call: ConsoleRequest) -> Response:
    form = call.form
    try:
        endpoint, password = understand(form.text("url").strip())
        if typed := form.text("password"):
            password = typed
            check_password(endpoint, password)
        await placement.judge(call.context.settings, endpoint, trusted=False)
        seal = call.context.seal
        price = form.decimal("cost", "Cost")
        cost = None if price is None else registry.check_cost(Decimal(str(price)))
        async with call.context.database.transaction() as connection:
            await registry.add(
                connection, seal, endpoint, password, actor=call.actor, cost_per_request=cost
            )
    except (UsageError, ConflictError, UnavailableError) as error:
        return await _page(call, wrong=str(error), status=422)
    return call.go("/proxies", f"{endpoint.name} was added.")


async def change(call: ConsoleRequest) -> Response:
    act = call.form.text("act")
    if act not in ("enable", "disable", "remove"):
        raise UsageError("The action must be enable, disable or remove.")
    async with call.context.database.transaction() as connection:
        known = await registry.get(connection, str(call.number("number")))
        if act == "remove":
            await registry.remove(connection, known, actor=call.actor)
            message = "and its password were removed."
        else:
            enabled = act == "enable"
            await registry.switch(connection, known, active=enabled, actor=call.actor)
            message = f"was {act}d."
    return call.go("/proxies", f"{known.endpoint.name} {message}")


async def _page(call: ConsoleRequest, *, wrong: str | None = None, status: int = 200) -> Response:
    return await call.page(
        "proxies/page.html",
        status=status,
        wrong=wrong,
        rows=await registry.listing(call.context.database),
        costs=await costs.by_day(call.context.database),
        days=costs.DEFAULT_DAYS,
    )


SCREENS = (
    get("/proxies", Act.PROXIES_MANAGE, show),
    post("/proxies", Act.PROXIES_MANAGE, add),
    post("/proxies/{number:int}", Act.PROXIES_MANAGE, change),
)
