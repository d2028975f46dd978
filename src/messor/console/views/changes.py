"""The change feed as a list."""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get
from messor.feed.queries import CHANGES, KINDS


async def show(call: ConsoleRequest) -> Response:
    listed = await list_of(call, CHANGES, "/changes", choices={"kinds": KINDS})
    return await call.page("changes/list.html", listed=listed)


SCREENS = (get("/changes", Act.READ, show),)
