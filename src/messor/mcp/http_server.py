"""The tools over HTTP, with the limits of the console: names, heads, bodies, connections and keys.

A caller without a valid key is refused before a body is read or a session begins; wrong keys count
against their address, as everywhere.
"""

from __future__ import annotations

from datetime import timedelta

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from messor.access import keys, ratelimits
from messor.access.errors import ThrottledError, UnauthenticatedError
from messor.access.origin import Origin
from messor.access.ratelimits import Limit
from messor.runtime.server.hosts import HostCheck
from messor.runtime.server.limits import ServerLimits
from messor.runtime.server.load import Load
from messor.runtime.server.protocol import bounded_protocol
from messor.runtime.server.refusals import refusal
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

MOST_BODY = 1_000_000  # bytes of a request; the longest argument of a tool is far shorter
MOST_SESSIONS = 500
IDLE_SECONDS = 600.0
RETRY_SECONDS = 5


def http_server(
    server: MCPServer, settings: Settings, database: Database, *, host: str, port: int
) -> uvicorn.Server:
    """A server of the tools at /mcp."""
    limits = ServerLimits.of(settings)
    app = server.streamable_http_app(
        host=host,
        max_request_body_size=MOST_BODY,
        max_sessions=MOST_SESSIONS,
        session_idle_timeout=IDLE_SECONDS,
    )
    config = uvicorn.Config(
        HostCheck(Load(KeyFirst(app, settings, database), limits), settings),
        host=host,
        port=port,
        http=bounded_protocol(limits),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        h11_max_incomplete_event_size=65_536,
    )
    return uvicorn.Server(config)


class KeyFirst:
    """Lets requests with a valid API key through; the tools check what it may do."""

    def __init__(self, app: ASGIApp, settings: Settings, database: Database) -> None:
        self._app = app
        self._database = database
        self._limit = Limit(settings.api_stranger_requests_per_minute, timedelta(minutes=1))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer: ASGIApp = self._app
        try:
            await self._recognise(scope)
        except UnauthenticatedError as error:
            unknown = refusal(scope, 401, error.code, f"{error.code}: {error}")
            unknown.headers["WWW-Authenticate"] = "Bearer"
            answer = unknown
        except ThrottledError as error:
            answer = refusal(scope, 429, error.code, str(error), retry_after=error.retry_after)
        except LOST_CONNECTION + TRY_AGAIN:
            busy = "The database is busy or unreachable; try again shortly."
            answer = refusal(scope, 503, "unavailable", busy, retry_after=RETRY_SECONDS)
        await answer(scope, receive, send)

    async def _recognise(self, scope: Scope) -> None:
        """Raise for a request without a valid key, which its address is charged for."""
        client = scope.get("client")
        address = client[0] if client else None
        try:
            key = _key_of(Headers(scope=scope))
            await keys.recognise(self._database, key, Origin(address, "mcp"))
        except UnauthenticatedError:
            counted = ratelimits.key_of_address("api", address)
            (await ratelimits.take(self._database, counted, self._limit)).require()
            raise


def _key_of(headers: Headers) -> str:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise UnauthenticatedError("Send an API key as Authorization: Bearer messor_…")
    return key.strip()
