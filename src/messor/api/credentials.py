"""Who is asking: by API key in the header Authorization, or by the session's cookie.

A cookie is sent by browsers whoever wrote the page, so what it changes must carry the token of a
page of ours as well. A key that does not hold is never made up for by a cookie.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection

from messor.access import csrf, keys, sessions
from messor.access.errors import BadKeyError, UnauthenticatedError
from messor.access.origin import Origin
from messor.access.principal import Principal
from messor.api.house import ApiContext

CSRF_HEADER = "X-CSRF-Token"
READS = frozenset({"GET", "HEAD", "OPTIONS"})


def origin_of(request: HTTPConnection) -> Origin:
    address = request.client.host if request.client else None
    return Origin(address, request.headers.get("user-agent"))


def cookie_of(request: HTTPConnection, name: str) -> str | None:
    """The session's cookie; over https its name has the prefix that keeps other hosts out."""
    return request.cookies.get(f"__Host-{name}" if request.url.scheme == "https" else name)


async def identify(house: ApiContext, request: HTTPConnection) -> Principal:
    """The principal; raises when nobody is known by what was shown."""
    authorization = request.headers.get("authorization")
    if authorization is not None:
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise BadKeyError("Send the API key as: Authorization: Bearer messor_…")
        return await keys.recognise(house.database, key.strip(), origin_of(request))
    cookie = cookie_of(request, house.session_cookie)
    if not cookie:
        raise UnauthenticatedError("Log in first, or send an API key.")
    required = house.settings.two_factor == "required"
    principal = await sessions.resume(house.database, cookie, two_factor_required=required)
    if request.scope["method"] not in READS:
        csrf.check_csrf(cookie, request.headers.get(CSRF_HEADER))
    return principal
