"""The API's reference: every operation with its fields and examples, and a form that tries it.

Requests of the form are sent by the browser with the member's session and CSRF token; without JavaScript the
page shows them as commands.
"""

from __future__ import annotations

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.screens import get
from messor.errors import NotFoundError

PATH = "/api-reference"


async def show_all(call: ConsoleRequest) -> Response:
    """The operations by subject, those that match what was typed."""
    reference = call.context.api_reference
    typed = call.query("q").strip()
    found = {} if reference is None else reference.by_subject(typed)
    return await call.page("api_reference/index.html", subjects=found, typed=typed)


async def show_operation(call: ConsoleRequest) -> Response:
    """One operation."""
    reference = call.context.api_reference
    if reference is None:
        raise NotFoundError("The API is not served here.")
    operation = reference.find(call.part("operation"))
    address = str(call.request.base_url).rstrip("/")
    return await call.page("api_reference/operation.html", operation=operation, address=address)


SCREENS = (
    get(PATH, Act.READ, show_all),
    get(f"{PATH}/{{operation}}", Act.READ, show_operation),
)
