"""Growing keywords: what templates, result pages and measurements would change, and doing it."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import discovery_labels
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.scout import expansion, keywords, tiers

MOST_SHOWN = 200


async def show_generation(call: ConsoleRequest) -> Response:
    """What the templates would write."""
    applied, values = await discovery_labels.about(call)
    if applied is not None:
        values["seen"] = await keywords.preview(call.desk.database, applied)
    return await call.page("keywords/generate.html", **values)


async def show_expansion(call: ConsoleRequest) -> Response:
    """What the latest result pages suggest."""
    applied, values = await discovery_labels.about(call)
    if applied is not None:
        found = await expansion.suggest(call.desk.database, applied)
        found.sort(key=lambda one: (not one.taken, one.drift, one.text))
        values |= {
            "found": found[:MOST_SHOWN],
            "taken": sum(one.taken for one in found),
            "all": len(found),
        }
    return await call.page("keywords/expand.html", **values)


async def show_tiers(call: ConsoleRequest) -> Response:
    """Whose tier would change, and which would rest."""
    applied, values = await discovery_labels.about(call)
    if applied is not None:
        values["changes"] = await tiers.preview(call.desk.database, applied, MOST_SHOWN)
        values["most"] = MOST_SHOWN
    return await call.page("keywords/tiers.html", **values)


async def grow(call: ConsoleRequest) -> Response:
    """Do one of the three."""
    act = call.form.text("act")
    if act not in ("generate", "expand", "tiers"):
        raise UsageError("What can be done with keywords: generate, expand, tiers.")
    database = call.desk.database
    applied = await discovery_labels.required(call, call.form.text("vertical"))
    if act == "generate":
        new = await keywords.write(database, applied, actor=call.actor)
        said = f"{new:,} keywords were written."
    elif act == "expand":
        found = await expansion.expand(database, applied, actor=call.actor)
        said = f"{sum(one.taken for one in found):,} of {len(found):,} suggestions were taken."
    else:
        done = await tiers.apply(database, applied, actor=call.actor)
        said = (
            f"{done.measured:,} keywords were measured; the tier of {done.changed:,} changed, "
            f"{done.pruned:,} rest."
        )
    return call.go(with_query("/keywords", vertical=applied.vertical.name), said)


SCREENS = (
    get("/keywords/generate", Act.READ, show_generation),
    get("/keywords/expand", Act.READ, show_expansion),
    get("/keywords/tiers", Act.READ, show_tiers),
    post("/keywords/grow", Act.DOMAINS_CONFIGURE, grow),
)
