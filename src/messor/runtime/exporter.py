"""The listener for Prometheus and for health checks of containers: /metrics, /healthz, /readyz.

It answers for all processes of a machine, needs no key and tells no content, and is therefore off
unless MESSOR_METRICS_LISTEN names an address.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from aiohttp import web

from messor.core.heartbeat import Heartbeat
from messor.core.metrics import as_text
from messor.errors import UsageError
from messor.runtime.metrics_socket import gather, is_ready

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Exporter:
    """Serves until stopped."""

    def __init__(self, listen: str, data_dir: Path) -> None:
        host, _, port = listen.rpartition(":")
        if not port.isdecimal():
            raise UsageError(
                f"MESSOR_METRICS_LISTEN is {listen!r}; give host:port, such as 127.0.0.1:9464."
            )
        self._host, self._port = host.strip("[]") or "127.0.0.1", int(port)
        self._data_dir = data_dir
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat()

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        app = web.Application()
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/healthz", self._health)
        app.router.add_get("/readyz", self._readiness)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self._port).start()
            await self._stop.wait()
        finally:
            await runner.cleanup()

    async def _metrics(self, _: web.Request) -> web.Response:
        text = as_text(await gather(self._data_dir))
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _readiness(self, _: web.Request) -> web.Response:
        if is_ready(await gather(self._data_dir)):
            return web.Response(text="ok\n")
        return web.Response(
            status=503, text="The database does not respond to every process, or none runs.\n"
        )
