"""Login through an OpenID Connect provider: redirect and callback."""

from __future__ import annotations

import base64
import binascii
import contextlib

import msgspec
from starlette.responses import RedirectResponse, Response

from messor.access.errors import AccessError
from messor.access.roles import Role
from messor.console import cookies
from messor.console.addresses import within
from messor.console.call import ConsoleRequest
from messor.console.screens import PUBLIC, get
from messor.console.views.login import enter
from messor.errors import NotFoundError, UnavailableError
from messor.fetch.services.identity_provider import Attempt, Identity, RefusedError
from messor.runtime.server.hosts import link_base

LIFETIME_SECONDS = 600  # seconds between redirect and callback
_OWNER = "login at the identity provider"


async def start(call: ConsoleRequest) -> Response:
    """Redirect to the provider; the login state is kept in an encrypted cookie."""
    if call.context.identity_provider is None:
        raise NotFoundError("Login through an identity provider is not configured.")
    base = link_base(call.context.settings, call.request).rstrip("/")
    try:
        target, attempt = await call.context.identity_provider.begin(
            f"{base}/login/oidc/callback", within(call.query("next"))
        )
    except UnavailableError as error:
        return await _refuse(call, str(error), 503)
    response = RedirectResponse(target, 303)
    sealed = call.context.seal.close(msgspec.json.encode(attempt).decode(), _OWNER)
    value = base64.urlsafe_b64encode(sealed).decode()
    cookies.write(call.request, response, cookies.SIGN_ON, value, seconds=LIFETIME_SECONDS)
    return response


async def callback(call: ConsoleRequest) -> Response:
    """Handle the callback: open a session for the identified member."""
    provider, attempt = call.context.identity_provider, _attempt(call)
    if provider is None:
        raise NotFoundError("Login through an identity provider is not configured.")
    if attempt is None:
        return await _refuse(
            call, "The login expired or was started in another browser; start again.", 401
        )
    try:
        identity = await provider.finish(attempt, dict(call.request.query_params))
        opened = await call.context.logins.log_in_by_identity(
            issuer=identity.issuer,
            subject=identity.subject,
            email=identity.email,
            name=_name(identity),
            join_as=_role(call),
            origin=call.origin,
        )
    except (AccessError, RefusedError) as error:
        return await _refuse(call, str(error), 401)
    except UnavailableError as error:
        return await _refuse(call, str(error), 503)
    response = enter(call, opened, within(attempt.target))
    cookies.clear(call.request, response, cookies.SIGN_ON)
    return response


def _attempt(call: ConsoleRequest) -> Attempt | None:
    text = cookies.read(call.request, cookies.SIGN_ON)
    if not text:
        return None
    with contextlib.suppress(
        UnavailableError, binascii.Error, ValueError, msgspec.DecodeError, UnicodeEncodeError
    ):
        sealed = base64.urlsafe_b64decode(text.encode("ascii"))
        return msgspec.json.decode(call.context.seal.open(sealed, _OWNER), type=Attempt)
    return None


def _name(identity: Identity) -> str | None:
    return identity.name[:100] if identity.name else None


def _role(call: ConsoleRequest) -> Role | None:
    named = call.context.settings.oidc_join
    return Role(named) if named else None


async def _refuse(call: ConsoleRequest, sentence: str, status: int) -> Response:
    response = await call.page("login.html", status=status, next="/", email="", wrong=sentence)
    cookies.clear(call.request, response, cookies.SIGN_ON)
    return response


SCREENS = (
    get("/login/oidc", PUBLIC, start),
    get("/login/oidc/callback", PUBLIC, callback),
)
