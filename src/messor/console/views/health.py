"""Contract health: the behaviour contract checked against stored evidence on each request."""

from __future__ import annotations

import re

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get
from messor.console.views.ingest import mode_values
from messor.ops import contract

OFFERED = re.compile(r'type="radio" name="mode" value="([^"]*)"')


async def show(call: ConsoleRequest) -> Response:
    report = await contract.audit(
        call.context.database, agent=call.context.settings.agent_token, offered=offered_modes(call)
    )
    template = "health/checks.html" if call.is_partial else "health/page.html"
    if call.is_partial:
        return call.bare(template, report=report, alarms=await call.context.board.alarms.get())
    return await call.page(template, report=report)


def offered_modes(call: ConsoleRequest) -> list[str]:
    """The modes offered by the rendered mode selector."""
    form_values = {"mode": "", "pages": ""}
    return OFFERED.findall(call.draw("import/modes.html", form_values=form_values, **mode_values()))


SCREENS = (get("/admin/orbits/health", Act.READ, show),)
