"""Uvicorn for one test: it opens and closes at once, where `serve` looks only every tenth of a second."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn

from tests.crawling import until

PATIENCE = 1  # seconds for answers under way, as `timeout_graceful_shutdown` gives them
ENDS_WITHIN = (
    60  # seconds; an answer that does not end when it is cancelled is a fault of the console
)


class PromptServer:
    """Serves an application on a socket until it is closed, with Uvicorn's own protocol and ticks."""

    def __init__(self, app: Any) -> None:
        config = uvicorn.Config(app, lifespan="off", ws="none", log_level="critical")
        config.load()
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)
        self._ticks: asyncio.Task[None] | None = None

    async def open(self, sock: socket.socket) -> None:
        await self._server.startup(sockets=[sock])
        # The ticks write the header Date.
        self._ticks = asyncio.create_task(self._server.main_loop())

    async def close(self) -> None:
        assert self._ticks is not None
        self._ticks.cancel()
        for listener in self._server.servers:
            listener.close()
        state = self._server.server_state
        for connection in list(state.connections):
            connection.shutdown()
        try:
            await until(lambda: not state.connections and not state.tasks, PATIENCE)
        except TimeoutError:
            for task in state.tasks:
                task.cancel()
            async with asyncio.timeout(ENDS_WITHIN):
                await asyncio.gather(*state.tasks, return_exceptions=True)
        await asyncio.gather(self._ticks, return_exceptions=True)
