"""The guard: before any screen it finds out who calls, whether they may, and whose form it is.

What goes wrong inside becomes a page with the right status, a sentence and the next step.
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
from messor.console.desk import ConsoleContext
from messor.console.forms import (
    MOST_BYTES,
    MOST_BYTES_OF_STRANGERS,
    Form,
    TooLargeError,
    WrongKindError,
    read_form,
)
from messor.console.screens import Screen
from messor.core.full_disk import is_full
from messor.errors import ConflictError, MessorError, NotFoundError, UnavailableError, UsageError
from messor.store.database import LOST_CONNECTION, TRY_AGAIN

# The first that fits.
STATUSES: tuple[tuple[type[MessorError], int], ...] = (
    (TooLargeError, 413),
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
AWAY = "The database is busy or away. Try again soon."
DISK_FULL = (
    "The disk of the database is full, so nothing can be changed or begun, a login included. "
    "What is there can be read. Free some space; work then goes on by itself."
)
TITLES = {
    401: "Log in first",
    403: "Not yours to do",
    404: "Nothing here",
    405: "Not this way",
    409: "That does not fit",
    413: "Too much at once",
    415: "Not a form",
    422: "Please check that",
    429: "Too often",
    500: "Something broke",
    503: "One moment",
}


def guarded(screen: Screen, desk: ConsoleContext) -> Callable[[Request], Awaitable[Response]]:
    """What the server calls for a screen."""

    async def answer(request: Request) -> Response:
        call = ConsoleRequest(request, desk)
        try:
            call.principal = await _caller(desk, request)
            desk.rates.charge(call.principal, call.origin)
            if screen.act is not None:
                if (
                    call.principal is not None
                    and call.principal.must_enrol
                    and (screen.act is not Act.ACCOUNT_OWN)
                ):
                    return RedirectResponse("/account/two-factor", 303)
                authorise(call.principal, screen.act)
            if screen.method == "POST":
                call.form = await _form(call, screen)
                check_csrf(call.cookie, call.form.text("csrf"))
            return await screen.handler(call)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is there to read it
        except MessorError as error:
            return refuse(call, error)
        except asyncpg.DataError:
            return refuse(call, UsageError("A value of this request cannot be stored."))
        except LOST_CONNECTION + TRY_AGAIN as error:
            return refuse(call, UnavailableError(DISK_FULL if is_full(error) else AWAY))

    return answer


async def _form(call: ConsoleRequest, screen: Screen) -> Form:
    """What was sent, and no more of it than its sender may send."""
    most = MOST_BYTES_OF_STRANGERS if call.principal is None else MOST_BYTES
    return await read_form(call.request, most_bytes=most, takes_files=screen.takes_files)


async def _caller(desk: ConsoleContext, request: Request) -> Principal | None:
    token = cookies.read(request, cookies.SESSION)
    if token is None:
        return None
    try:
        required = desk.settings.two_factor == "required"
        return await sessions.resume(desk.database, token, two_factor_required=required)
    except SessionEndedError:
        return None


def refuse(call: ConsoleRequest, error: MessorError) -> Response:
    """A page that says why not, and what to do."""
    status = next((code for kind, code in STATUSES if isinstance(error, kind)), 500)
    if status == 401 and not isinstance(error, BadLinkError):
        return _to_login(call)
    response = error_page(call, status, str(error))
    if isinstance(error, ThrottledError):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def error_page(call: ConsoleRequest, status: int, sentence: str) -> Response:
    """An error for people; nothing is asked of the database for it."""
    return call.bare(
        "error.html",
        status=status,
        code=status,
        title=TITLES.get(status, "That did not work"),
        sentence=sentence,
        request_id=call.request.scope.get("state", {}).get("request_id", ""),
    )


def _to_login(call: ConsoleRequest) -> Response:
    request = call.request
    if call.is_partial:
        return Response(status_code=401, headers={"HX-Redirect": "/login"})
    if request.method != "GET":
        return error_page(
            call, 401, "Your session has ended, and nothing was changed. Log in again."
        )
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = "/login" if here == "/" else f"/login?next={quote(here, safe='/')}"
    return RedirectResponse(target, 303)
