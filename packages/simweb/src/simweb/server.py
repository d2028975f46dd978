"""Serves a world on loopback sockets: one HTTP port, one TLS port, one control port.

The listeners bind all addresses, because every simulated host has its own; connections from outside
the machine are dropped on arrival.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from simweb.admission import Admission
from simweb.answers import SimResponse
from simweb.control import Control
from simweb.engines import Engines, SearchIndex, open_engines
from simweb.protocol import Wire
from simweb.requestlog import RequestLog
from simweb.truth import Truth
from simweb.world import World

_BACKLOG = 4096
_STOP_S = 2.0


class Server:
    """A world being served; `epoch` may be changed while it runs."""

    def __init__(
        self,
        world: World,
        *,
        log_file: Path | None = None,
        epoch: int = 0,
        jitter_ms: int = 0,
        engines: Sequence[str] = (),
    ) -> None:
        self.world = world
        self._epoch = epoch
        self._wanted = tuple(engines)
        self._engines: Engines | None = None
        self._hired = contextlib.AsyncExitStack()
        self.log = RequestLog(log_file)
        self.port = 0
        self.tls_port: int | None = None
        self.control_port = 0
        self.ca_file: Path | None = None
        self._jitter_ms = jitter_ms
        self._wires: list[Wire] = []
        self._listeners: list[asyncio.Server | Admission] = []
        self._folder: TemporaryDirectory[str] | None = None

    async def start(self) -> None:
        self.world.warm(self.epoch)
        self.port = await self._listen(Wire(self._respond, self.log))
        if self.world.tls:
            context = self._certify()
            self.tls_port = await self._listen(Wire(self._respond, self.log, secure=True), context)
        control = Control(self)
        wire = Wire(control.respond, None, methods=frozenset({"GET", "POST"}))
        self._wires.append(wire)
        listener = await asyncio.get_running_loop().create_server(wire.connection, "127.0.0.1", 0)
        self._listeners.append(listener)
        self.control_port = listener.sockets[0].getsockname()[1]
        if self._wanted:
            opened = open_engines(self.world, self._wanted, self._index)
            self._engines = await self._hired.enter_async_context(opened)
            self._engines.move_to(self.epoch)

    @property
    def epoch(self) -> int:
        return self._epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        """The sites and the search engines move together."""
        self._epoch = epoch
        if self._engines is not None:
            self._engines.move_to(epoch)

    @cached_property
    def _index(self) -> SearchIndex:
        return SearchIndex(self.world)

    @cached_property
    def _truth(self) -> Truth | None:
        return Truth(self.world, self._index) if self.world.market is not None else None

    def truth(self) -> dict[str, Any] | None:
        """The truth about a market's domains; None for any other world."""
        return self._truth.as_json() if self._truth is not None else None

    def serp(self, keyword: str, location: str, epoch: int) -> dict[str, Any] | None:
        if self._truth is None:
            return None
        return self._truth.serp(keyword, location, epoch).as_json()

    async def stop(self) -> None:
        await self._hired.aclose()
        for listener in self._listeners:
            listener.close()
        for wire in self._wires:
            for connection in list(wire.open):
                connection.abort()
        # Aborted connections enter the log when they are lost, a few loop iterations later.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_S):
                for wire in self._wires:
                    await wire.idle.wait()
        self.log.close()
        if self._folder is not None:
            self._folder.cleanup()

    def announcement(self) -> dict[str, Any]:
        """What a client needs to know; the command prints it as one JSON line."""
        return {
            "port": self.port,
            "tls_port": self.tls_port,
            "control": f"http://127.0.0.1:{self.control_port}",
            "names": self.names(),
            "ca_file": str(self.ca_file) if self.ca_file else None,
            "sites": [site.summary() for site in self.world.sites],
            "search_engines": self._engines.settings if self._engines is not None else {},
        }

    def names(self) -> dict[str, str]:
        """Every authority and the socket address behind it."""
        names = {}
        for site in self.world.sites:
            names[f"{site.host}:80"] = f"{site.address}:{self.port}"
            if self.tls_port is not None:
                names[f"{site.host}:443"] = f"{site.address}:{self.tls_port}"
        return names

    def counters(self) -> dict[str, int]:
        return {
            "epoch": self.epoch,
            "requests": self.log.requests,
            "refusals": self.log.refusals,
            "body_bytes": self.log.body_bytes,
            "open_connections": sum(len(wire.open) for wire in self._wires),
        }

    def _respond(
        self, host: str, path: str, headers: Mapping[str, str], secure: bool
    ) -> SimResponse:
        return self.world.respond(host, path, headers, self.epoch, secure=secure)

    def _certify(self) -> ssl.SSLContext:
        from simweb.certificates import Authority  # noqa: PLC0415 - needs cryptography

        self._folder = TemporaryDirectory(prefix="messor-world-")
        folder = Path(self._folder.name)
        authority = Authority()
        self.ca_file = folder / "ca.pem"
        authority.write(self.ca_file)
        return authority.context([site.host for site in self.world.sites], folder)

    async def _listen(self, wire: Wire, context: ssl.SSLContext | None = None) -> int:
        self._wires.append(wire)
        bound = socket.create_server(("0.0.0.0", 0), backlog=_BACKLOG)  # noqa: S104 - see above
        bound.setblocking(False)
        port: int = bound.getsockname()[1]
        delays = {site.address: site.jitter_ms for site in self.world.sites if site.jitter_ms}
        if self._jitter_ms or delays:
            admission = Admission(self.world.seed, wire, bound, context)
            admission.start(self._jitter_ms, delays)
            self._listeners.append(admission)
        else:
            loop = asyncio.get_running_loop()
            listener = await loop.create_server(
                wire.connection, sock=bound, ssl=context, backlog=_BACKLOG
            )
            self._listeners.append(listener)
        return port


async def serve(
    world: World,
    until: asyncio.Event,
    *,
    log_file: Path | None = None,
    epoch: int = 0,
    jitter_ms: int = 0,
    engines: Sequence[str] = (),
    announce: Callable[[str], object] = print,
) -> None:
    """Serve until the event is set; announces itself with one line once it responds."""
    server = Server(world, log_file=log_file, epoch=epoch, jitter_ms=jitter_ms, engines=engines)
    await server.start()
    try:
        announce(json.dumps(server.announcement()))
        await until.wait()
    finally:
        await server.stop()
