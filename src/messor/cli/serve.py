"""The web server for the API and the console, on one address."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from messor.access.passwords import Passwords
from messor.api.app import make_api
from messor.api.firecrawl.app import is_firecrawl, make_firecrawl
from messor.console.app import make_console
from messor.console.cookies import SESSION
from messor.core.heartbeat import Heartbeat
from messor.core.memory import collect_rarely
from messor.core.metrics import Metrics
from messor.ledger.alarms import AlarmBoard
from messor.runtime.server.descriptors import raise_limit
from messor.runtime.server.hosts import HostCheck, console_url
from messor.runtime.server.limits import ServerLimits
from messor.runtime.server.listener import listen
from messor.runtime.server.load import Load
from messor.runtime.server.protocol import BoundedSocket, bounded_protocol
from messor.scrape.services import ScrapeServices
from messor.settings import Settings
from messor.store.database import Database

# What load balancers, containers and Prometheus look for by default.
SHORT_PATHS = {
    "/healthz": "/api/v1/health/live",
    "/readyz": "/api/v1/health/ready",
    "/metrics": "/api/v1/metrics",
}
MOST_MESSAGE = 1_024  # bytes that a client sends over a WebSocket; nothing is expected
SHUTDOWN_SECONDS = 2  # for responses in progress; event streams never end by themselves


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signal handling to its caller."""

    def __init__(self, config: uvicorn.Config, heartbeat: Heartbeat) -> None:
        super().__init__(config)
        self._heartbeat = heartbeat

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def on_tick(self, counter: int) -> bool:
        self._heartbeat.beat("serving")
        return await super().on_tick(counter)


class WebServer:
    """Serves until stopped, on a given socket or on one of its own."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        alarms: AlarmBoard | None = None,
        *,
        listening: socket.socket | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._metrics = metrics or Metrics()
        self._settings = settings
        self._passwords = Passwords()
        self._api = make_api(settings, database, session_cookie=SESSION, alarms=alarms)
        context = self._api.state.context
        self._services = ScrapeServices(
            settings, database, context.full_text, lambda: bool(context.is_closing)
        )
        self._firecrawl = make_firecrawl(context, self._services)
        self._console = make_console(
            settings,
            database,
            self._passwords,
            public_submission=settings.public_submission,
            alarms=alarms,
            api_document=self._api.openapi,
        )
        self._socket = listening or listen(settings.listen_host, settings.listen_port)
        raise_limit()
        limits = ServerLimits.of(settings)
        config = uvicorn.Config(
            HostCheck(Load(self._dispatch, limits), settings),
            http=bounded_protocol(limits),
            ws=BoundedSocket,
            ws_max_size=MOST_MESSAGE,
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=settings.trusted_proxies,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            h11_max_incomplete_event_size=65_536,
        )
        self.heartbeat = Heartbeat()
        self._server = _Server(config, self.heartbeat)

    @property
    def url(self) -> str:
        """The URL of the console."""
        return console_url(self._settings, self.port)

    @property
    def port(self) -> int:
        number: int = self._socket.getsockname()[1]
        return number

    @property
    def is_open(self) -> bool:
        return self._server.started

    def stop(self) -> None:
        self._api.state.context.is_closing = True  # ends the event streams
        self._server.should_exit = True

    async def run(self) -> None:
        collect_rarely()
        self._api.state.context.begin(self._services.keeper.run())
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            await self._api.state.context.close()
            await self._console.state.background.close()
            await self._console.state.full_text.close()
            self._passwords.close()
            self._socket.close()

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send paths under /api to the API, all others to the console, and measure it."""
        if scope["type"] == "http" and (other := SHORT_PATHS.get(scope["path"])):
            scope = {**scope, "path": other, "raw_path": other.encode()}
        app, interface = self._application(scope.get("path", ""))
        if scope["type"] != "http":  # open for minutes: not a request to be measured
            await app(scope, receive, send)
            return
        with self._measured(interface) as responded:

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    responded.append(message["status"])
                await send(message)

            await app(scope, receive, noting)

    def _application(self, path: str) -> tuple[ASGIApp, str]:
        if path == "/api" or path.startswith("/api/"):
            return self._api, "api"
        if is_firecrawl(path):
            return self._firecrawl, "firecrawl"
        return self._console, "console"

    @contextlib.contextmanager
    def _measured(self, interface: str) -> Iterator[list[int]]:
        """Measure a request; the caller notes the status of its response."""
        began, statuses = time.perf_counter(), list[int]()
        try:
            yield statuses
        finally:
            status = f"{statuses[0] // 100}xx" if statuses else "none"
            self._metrics.requests.labels(interface, status).inc()
            self._metrics.request_seconds.labels(interface).observe(time.perf_counter() - began)
