"""Keyword generation, expansion and tiers: preview and apply."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import discovery_labels
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.scout import expansion, keywords, tiers

MAX_SHOWN = 200


async def show_generation(call: ConsoleRequest) -> Response:
    """Preview of the keywords the templates generate."""
    applied, values = await discovery_labels.about(call)
    if applied is not None:
        values["seen"] = await keywords.preview(call.context.database, applied)
    return await call.page("keywords/generate.html", **values)


async def show_expansion(call: ConsoleRequest) -> Response:
    """Preview of suggestions from the latest result pages."""
    applied, values = await discovery_labels.about(call)
    if applied is not None:
        found = await expansion.suggest(call.context.database, applied)
        found.sort(key=lambda one: (not one.taken, one.drift, one.text))
        values |= {
            "found": found[:MAX_SHOWN],
            "taken": sum(one.taken for one in found),
            "all": len(found),
        }
    return await call.page("keywords/expand.html", **values)


async def show_tiers(call: ConsoleRequest) -> Response:
    """Preview of tier changes and pruned keywords."""
    applied, values = await discovery_labels.about(call)
    if applied is not None:
        values["changes"] = await tiers.preview(call.context.database, applied, MAX_SHOWN)
        values["most"] = MAX_SHOWN
    return await call.page("keywords/tiers.html", **values)


async def grow(call: ConsoleRequest) -> Response:
    """Apply one of the three."""
    act = call.form.text("act")
    if act not in ("generate", "expand", "tiers"):
        raise UsageError("The action must be generate, expand or tiers.")
    database = call.context.database
    applied = await discovery_labels.required(call, call.form.text("vertical"))
    if act == "generate":
        new = await keywords.write(database, applied, actor=call.actor)
        message = f"{new:,} keywords were added."
    elif act == "expand":
        async with database.transaction() as connection:
            grown = await expansion.expand(connection, applied, actor=call.actor)
        message = f"{grown.new:,} of {len(grown.suggestions):,} suggestions were added."
    else:
        async with database.transaction() as connection:
            done = await tiers.apply(connection, applied, actor=call.actor)
        message = (
            f"{done.measured:,} keywords were measured; {done.changed:,} changed tier, "
            f"{done.pruned:,} were pruned."
        )
    return call.go(with_query("/keywords", vertical=applied.vertical.name), message)


SCREENS = (
    get("/keywords/generate", Act.READ, show_generation),
    get("/keywords/expand", Act.READ, show_expansion),
    get("/keywords/tiers", Act.READ, show_tiers),
    post("/keywords/grow", Act.DOMAINS_CONFIGURE, grow),
)
