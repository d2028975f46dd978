"""Middleware for every request: request ID, body size limit and security headers.

Pure ASGI, so that it also covers streams and unhandled errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from messor.api import problems
from messor.core.ids import new_id
from messor.core.logs import room_logger

logger = room_logger(__name__)

REQUEST_ID = "X-Request-Id"
DEFAULT_BODY = 1_000_000
LONG_BODY = 20_000_000
_SAFE_ID = re.compile(r"[A-Za-z0-9._:-]{8,100}")

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Envelope:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp, *, long_bodies: Sequence[str] = ()) -> None:
        self._app = app
        self._long_bodies = frozenset(long_bodies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["messor.request_id"] = _request_id(Headers(scope=scope))
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                _add_headers(scope, message)
            await send(message)

        request = Request(scope, receive)
        limit = LONG_BODY if scope["path"] in self._long_bodies else DEFAULT_BODY
        try:
            await self._app(scope, _limited(scope, receive, limit), sending)
        except problems.TooLargeError as error:
            if not has_begun:
                answer = problems.problem(request, 413, error.code, str(error))
                await answer(scope, receive, sending)
        except ClientDisconnect:
            return  # the client has disconnected
        except Exception as error:
            if has_begun:
                raise
            await problems.unexpected(request, error)(scope, receive, sending)


def _limited(scope: Scope, receive: Receive, limit: int) -> Receive:
    """Limit the body; a longer one is rejected as early as possible."""
    declared = Headers(scope=scope).get("content-length", "")
    is_long = declared.isascii() and declared.isdigit() and int(declared[:20]) > limit
    taken = 0

    async def receiving() -> Message:
        nonlocal taken
        if is_long:
            raise problems.TooLargeError(f"The request body exceeds {limit} bytes.")
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > limit:
                raise problems.TooLargeError(f"The request body exceeds {limit} bytes.")
        return message

    return receiving


def _request_id(headers: Headers) -> str:
    """The caller's request ID if it is safe to log, otherwise a new one."""
    given = headers.get(REQUEST_ID, "")
    return given if _SAFE_ID.fullmatch(given) else str(new_id())


def _add_headers(scope: Scope, message: Message) -> None:
    headers = MutableHeaders(scope=message)
    headers[REQUEST_ID] = scope["messor.request_id"]
    for name, value in SECURITY_HEADERS.items():
        headers.setdefault(name, value)
    for name, value in scope.get("messor.headers", {}).items():
        headers[name] = value
