"""Authentication by API key in the Authorization header, or by session cookie.

Browsers send cookies from any page, so changes made with a cookie also need a CSRF token. An
invalid key never falls back to a cookie.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection

from messor.access import csrf, keys, sessions
from messor.access.errors import BadKeyError, UnauthenticatedError
from messor.access.origin import Origin
from messor.access.principal import Principal
from messor.api.context import ApiContext

CSRF_HEADER = "X-CSRF-Token"
READS = frozenset({"GET", "HEAD", "OPTIONS"})


def origin_of(request: HTTPConnection) -> Origin:
    address = request.client.host if request.client else None
    return Origin(address, request.headers.get("user-agent"))


def cookie_of(request: HTTPConnection, name: str) -> str | None:
    """The session cookie; over https its name carries the `__Host-` prefix."""
    return request.cookies.get(f"__Host-{name}" if request.url.scheme == "https" else name)


async def identify(context: ApiContext, request: HTTPConnection) -> Principal:
    """Authenticate the caller; raises UnauthenticatedError."""
    authorization = request.headers.get("authorization")
    if authorization is not None:
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise BadKeyError("Send the API key as Authorization: Bearer messor_…")
        return await keys.recognise(context.database, key.strip(), origin_of(request))
    cookie = cookie_of(request, context.session_cookie)
    if not cookie:
        raise UnauthenticatedError("Authentication required: log in or send an API key.")
    required = context.settings.two_factor == "required"
    principal = await sessions.resume(context.database, cookie, two_factor_required=required)
    if request.scope["method"] not in READS:
        csrf.check_csrf(cookie, request.headers.get(CSRF_HEADER))
    return principal
