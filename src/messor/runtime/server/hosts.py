"""The host names this server answers to, and the console URL for links.

A request's Host header is chosen by its sender. Unknown names are refused before anything else
reads the request: that prevents DNS rebinding, and login links to another server.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from messor.runtime.server.refusals import refusal
from messor.settings import Settings

ANY = "*"
# Load balancers' HTTP/1.0 checks, which have no Host header: public, without links.
HEALTH = ("/api/v1/health/live", "/api/v1/health/ready", "/healthz", "/readyz")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,255})(?::\d{1,5})?")
_SHOWN = 100


class HostNames:
    """The names, from the settings; ports are ignored."""

    def __init__(self, settings: Settings) -> None:
        given = {name.strip().lower().rstrip(".") for name in settings.allowed_hosts}
        self._is_open = ANY in given
        self._endings = tuple(name[1:] for name in given if name.startswith("*."))
        self._names = {name.strip("[]") for name in given} | set(_configured(settings))

    def accept(self, header: str, *, local_address: str | None) -> bool:
        """Whether a Host header names this server.

        The address of the connection itself needs no setting: no foreign name can resolve to it
        unnoticed.
        """
        name = name_of(header)
        if name is None:
            return False
        if self._is_open or name in self._names or name.endswith(self._endings or ("\n",)):
            return True
        return name == "localhost" or _is_loopback(name) or _is_same(name, local_address)


def name_of(header: str) -> str | None:
    """The name in a Host header, in lower case, without port; None if invalid."""
    found = _HOST.fullmatch(header.strip())
    return found[1].lower().rstrip(".").strip("[]") or None if found else None


def console_url(settings: Settings, port: int | None = None) -> str:
    """The console's URL according to the settings."""
    host = settings.listen_host
    named = f"[{host}]" if ":" in host else host
    return settings.public_url or f"http://{named}:{port or settings.listen_port}"


def link_base(settings: Settings, request: HTTPConnection) -> str:
    """The base of links: the public URL, or the accepted name of this request."""
    if settings.public_url:
        return settings.public_url
    host, server = request.headers.get("host", ""), request.scope.get("server")
    names = HostNames(settings)
    if names.accept(host, local_address=server[0] if server else None):
        return f"{request.url.scheme}://{host}"
    return console_url(settings)


class HostCheck:
    """Refuses requests for other names, for the whole server."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._names = HostNames(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refuse(scope) if scope["type"] in ("http", "websocket") else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope).getlist("host")
        if not headers and scope.get("http_version") == "1.0" and scope["path"] in HEALTH:
            return None
        if len(headers) != 1 or name_of(headers[0]) is None:
            return refusal(scope, 400, "bad_host", "Send one Host header with a valid name.")
        server = scope.get("server")
        if self._names.accept(headers[0], local_address=server[0] if server else None):
            return None
        return refusal(
            scope,
            421,
            "unknown_host",
            f"This server does not answer to the name {headers[0][:_SHOWN]!r}. Open it by its "
            "configured name, or add the name: set MESSOR_PUBLIC_URL to the console's URL, or "
            "MESSOR_ALLOWED_HOSTS to a list of names, and restart.",
        )


def _configured(settings: Settings) -> Iterable[str]:
    for url in (settings.public_url, settings.identity_url):
        if url and (name := urlsplit(url).hostname):
            yield name.lower()
    if not _is_anything(settings.listen_host):
        yield settings.listen_host.lower()


def _is_anything(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:
        return False


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_same(name: str, address: str | None) -> bool:
    if address is None:
        return False
    try:
        return ipaddress.ip_address(name) == ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
