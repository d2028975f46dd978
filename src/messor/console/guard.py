"""The guard: authenticates, authorises and checks CSRF before any screen handler runs.

Errors become a page with the right status, a message and the next step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import quote

import asyncpg
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from messor.access import sessions
from messor.access.csrf import check_csrf
from messor.access.errors import (
    AccessError,
    BadLinkError,
    ForbiddenError,
    SessionEndedError,
    ThrottledError,
    UnauthenticatedError,
)
from messor.access.principal import Principal, authorise
from messor.access.roles import Act
from messor.console import cookies
from messor.console.call import ConsoleRequest
from messor.console.context import ConsoleContext
from messor.console.forms import (
    MAX_ANONYMOUS_BYTES,
    MAX_BYTES,
    Form,
    FormTooLargeError,
    WrongKindError,
    read_form,
)
from messor.console.screens import Screen
from messor.core.full_disk import is_full
from messor.errors import ConflictError, MessorError, NotFoundError, UnavailableError, UsageError
from messor.store.database import LOST_CONNECTION, TRY_AGAIN

# The first match applies.
STATUSES: tuple[tuple[type[MessorError], int], ...] = (
    (FormTooLargeError, 413),
    (WrongKindError, 415),
    (UnauthenticatedError, 401),
    (ThrottledError, 429),
    (ForbiddenError, 403),
    (AccessError, 403),
    (NotFoundError, 404),
    (ConflictError, 409),
    (UnavailableError, 503),
    (UsageError, 422),
)
UNREACHABLE = "The database is busy or unreachable; try again shortly."
DISK_FULL = (
    "The database's disk is full: pages can be read, but nothing can be changed and nobody can log "
    "in. Free some space; work then resumes by itself."
)
TITLES = {
    401: "Login required",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported form",
    422: "Invalid input",
    429: "Too many requests",
    500: "Internal error",
    503: "Temporarily unavailable",
}


def guarded(screen: Screen, context: ConsoleContext) -> Callable[[Request], Awaitable[Response]]:
    """Wrap a screen in authentication, authorisation and error handling."""

    async def answer(request: Request) -> Response:
        call = ConsoleRequest(request, context)
        try:
            call.principal = await _caller(context, request)
            context.rates.charge(call.principal, call.origin)
            if screen.act is not None:
                if (
                    call.principal is not None
                    and call.principal.must_enrol
                    and (screen.act is not Act.ACCOUNT_OWN)
                ):
                    return RedirectResponse("/account/two-factor", 303)
                authorise(call.principal, screen.act)
            if screen.method == "POST" and not screen.is_for_programs:
                call.form = await _form(call, screen)
                check_csrf(call.cookie, call.form.text("csrf"))
            return await screen.handler(call)
        except ClientDisconnect:
            return Response(status_code=400)  # the client has disconnected
        except MessorError as error:
            return refuse(call, error)
        except asyncpg.DataError:
            return refuse(call, UsageError("The request contains a value that cannot be stored."))
        except LOST_CONNECTION + TRY_AGAIN as error:
            return refuse(call, UnavailableError(DISK_FULL if is_full(error) else UNREACHABLE))

    return answer


async def _form(call: ConsoleRequest, screen: Screen) -> Form:
    """Read the form within the size limit of its sender."""
    max_bytes = MAX_ANONYMOUS_BYTES if call.principal is None else MAX_BYTES
    return await read_form(call.request, max_bytes=max_bytes, takes_files=screen.takes_files)


async def _caller(context: ConsoleContext, request: Request) -> Principal | None:
    token = cookies.read(request, cookies.SESSION)
    if token is None:
        return None
    try:
        required = context.settings.two_factor == "required"
        return await sessions.resume(context.database, token, two_factor_required=required)
    except SessionEndedError:
        return None


def refuse(call: ConsoleRequest, error: MessorError) -> Response:
    """Render the page for an error."""
    status = next((code for kind, code in STATUSES if isinstance(error, kind)), 500)
    if status == 401 and not isinstance(error, BadLinkError):
        return _to_login(call)
    response = error_page(call, status, str(error))
    if isinstance(error, ThrottledError):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def error_page(call: ConsoleRequest, status: int, sentence: str) -> Response:
    """Render an error page without database access."""
    return call.bare(
        "error.html",
        status=status,
        code=status,
        title=TITLES.get(status, "Request failed"),
        sentence=sentence,
        request_id=call.request.scope.get("state", {}).get("request_id", ""),
    )


def _to_login(call: ConsoleRequest) -> Response:
    request = call.request
    if call.is_partial:
        return Response(status_code=401, headers={"HX-Redirect": "/login"})
    if request.method != "GET":
        return error_page(
            call, 401, "Your session has expired and nothing was changed; log in again."
        )
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = "/login" if here == "/" else f"/login?next={quote(here, safe='/')}"
    return RedirectResponse(target, 303)
