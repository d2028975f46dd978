"""Puts a world on loopback sockets: one HTTP port, one TLS port, one control port.

The listeners take all addresses, because every simulated host has its own; connections from
outside the machine are dropped as they arrive.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from messor.world.admission import Admission
from messor.world.answers import Answer
from messor.world.control import Control
from messor.world.protocol import Wire
from messor.world.requestlog import RequestLog
from messor.world.world import World

_BACKLOG = 4096
_STOP_S = 2.0


class Server:
    """A world being served; `epoch` may be changed while it runs."""

    def __init__(
        self, world: World, *, log_file: Path | None = None, epoch: int = 0, jitter_ms: int = 0
    ) -> None:
        self.world = world
        self.epoch = epoch
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

    async def stop(self) -> None:
        for listener in self._listeners:
            listener.close()
        for wire in self._wires:
            for connection in list(wire.open):
                connection.abort()
        # Aborted connections enter the log when they are lost, a few turns of the loop later.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_S):
                for wire in self._wires:
                    await wire.idle.wait()
        self.log.close()
        if self._folder is not None:
            self._folder.cleanup()

    def announcement(self) -> dict[str, Any]:
        """What a client needs to know; printed as one JSON line by the command."""
        return {
            "port": self.port,
            "tls_port": self.tls_port,
            "control": f"http://127.0.0.1:{self.control_port}",
            "names": self.names(),
            "ca_file": str(self.ca_file) if self.ca_file else None,
            "sites": [site.summary() for site in self.world.sites],
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

    def _respond(self, host: str, path: str, headers: Mapping[str, str], secure: bool) -> Answer:
        return self.world.respond(host, path, headers, self.epoch, secure=secure)

    def _certify(self) -> ssl.SSLContext:
        from messor.world.certificates import Authority  # noqa: PLC0415 - needs cryptography

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
    announce: Callable[[str], object] = print,
) -> None:
    """Serves until the event is set; announces itself with one line once it answers."""
    server = Server(world, log_file=log_file, epoch=epoch, jitter_ms=jitter_ms)
    await server.start()
    try:
        announce(json.dumps(server.announcement()))
        await until.wait()
    finally:
        await server.stop()
