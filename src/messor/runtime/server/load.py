"""Limits on requests in progress: number per address, whose turn it is, and total bytes of bodies.

Behind a trusted proxy all connections come from one address, so requests are counted there, by the
address that the proxy reports.
"""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from messor.access.origin import network_of
from messor.errors import UnavailableError
from messor.runtime.server.limits import BODY_BYTES, ServerLimits
from messor.runtime.server.refusals import refusal
from messor.runtime.server.turns import Turn, Turns

RETRY_SECONDS = 5
BUSY = "The server is receiving too much data. Try again in a moment."


class Load:
    """Counts requests and bytes around an application."""

    def __init__(self, app: ASGIApp, limits: ServerLimits, *, body_bytes: int = BODY_BYTES) -> None:
        self._app = app
        self._limits = limits
        self._left = body_bytes
        self._under_way: Counter[str] = Counter()
        self._turns = Turns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client = scope.get("client")
        network = network_of(client[0] if client else None)
        if self._under_way[network] >= self._limits.by_address:
            sentence = "Too many concurrent requests from your address. Try again in a moment."
            answer = refusal(scope, 429, "throttled", sentence, retry_after=RETRY_SECONDS)
            await answer(scope, receive, send)
            return
        self._under_way[network] += 1
        turn = self._turns.of(network)
        try:
            await turn.begin()
            await self._weigh(scope, _in_turn(turn, receive), _until_answered(turn, send))
        finally:
            turn.end()
            self._under_way[network] -= 1
            if not self._under_way[network]:
                del self._under_way[network]

    async def _weigh(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = 0

        async def weighed() -> Message:
            nonlocal taken
            message = await receive()
            size = len(message.get("body", b""))
            if size > self._left:
                raise UnavailableError(BUSY)
            self._left -= size
            taken += size
            return message

        try:
            await self._app(scope, weighed, send)
        finally:
            self._left += taken


def _in_turn(turn: Turn, receive: Receive) -> Receive:
    """While the client sends, others have their turn."""

    async def received() -> Message:
        turn.pause()
        message = await receive()
        await turn.begin()
        return message

    return received


def _until_answered(turn: Turn, send: Send) -> Send:
    async def sent(message: Message) -> None:
        await send(message)
        turn.end()

    return sent
