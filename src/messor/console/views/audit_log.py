"""The audit log: every action and outcome with its actor."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get
from messor.ledger.event_types import GROUPS
from messor.ledger.queries import EVENTS


async def show(call: ConsoleRequest) -> Response:
    listed = await list_of(call, EVENTS, "/audit", choices={"kind": GROUPS}, with_audit=True)
    actors = {row.actor for row in listed.items} | {listed.filters.actor or ""}
    return await call.page("events/audit.html", listed=listed, names=await call.names(actors))


SCREENS = (get("/audit", Act.AUDIT_READ, show),)
