"""Delayed admission: each accepted socket waits a random time before it is read.

A TLS client waits for its handshake, a plain one for its response. The arrival of a plain client's
first bytes is still recorded to the millisecond, so that the log shows when a request was sent and
not when it was read.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Mapping

from simweb.chance import draw
from simweb.protocol import Connection, Wire


class Admission:
    def __init__(
        self, seed: int, wire: Wire, bound: socket.socket, context: ssl.SSLContext | None
    ) -> None:
        self._draw = draw(seed, "jitter", wire.secure)
        self._wire = wire
        self._bound = bound
        self._context = context
        self._waiting: set[asyncio.Task[None]] = set()
        self._delays: Mapping[str, int] = {}
        self._everywhere_ms = 0

    def start(self, everywhere_ms: int, delays: Mapping[str, int]) -> None:
        """Accept from now on, with one maximum delay for all and others by address."""
        self._everywhere_ms, self._delays = everywhere_ms, delays
        asyncio.get_running_loop().add_reader(self._bound, self._accept)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._bound)
        self._bound.close()
        for task in self._waiting:
            task.cancel()

    def _accept(self) -> None:
        try:
            accepted, _ = self._bound.accept()
        except BlockingIOError:
            return  # the client gave up between the event and the call
        accepted.setblocking(False)
        longest = max(self._everywhere_ms, self._delays.get(accepted.getsockname()[0], 0))
        wait_s = self._draw.uniform(0, longest) / 1000
        task = asyncio.get_running_loop().create_task(self._admit(accepted, wait_s))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _admit(self, accepted: socket.socket, wait_s: float) -> None:
        loop = asyncio.get_running_loop()
        readable_ns = await self._wait(accepted, wait_s)
        if self._context is not None:
            readable_ns = 0  # those bytes belonged to the handshake
        try:
            await loop.connect_accepted_socket(
                lambda: Connection(self._wire, readable_ns), accepted, ssl=self._context
            )
        except (ConnectionError, ssl.SSLError):
            accepted.close()  # the client disconnected while waiting

    @staticmethod
    async def _wait(accepted: socket.socket, wait_s: float) -> int:
        """Wait, and return when the first bytes came; 0 if they did not."""
        loop = asyncio.get_running_loop()
        came_ns = 0

        def note() -> None:
            nonlocal came_ns
            came_ns = time.monotonic_ns()
            loop.remove_reader(accepted)

        loop.add_reader(accepted, note)
        try:
            await asyncio.sleep(wait_s)
        except asyncio.CancelledError:
            accepted.close()
            raise
        finally:
            loop.remove_reader(accepted)
        return came_ns
