"""HTTP/1.1 by uvicorn, with time limits on heads, stalled bodies and unread responses.

uvicorn itself only limits the idle time between requests, and drops that limit with the first byte
of the next one.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from messor.runtime.server.crowd import ConnectionTable
from messor.runtime.server.limits import LINGER_SECONDS, SLOWEST_BODY, WRITE_SECONDS, ServerLimits

TIMED_OUT = "The request took too long to arrive. Send it again."
CROWDED = "Too many connections are open. Try again in a moment."


class BoundedSocket(WebSocketsSansIOProtocol):
    """A connection that became a WebSocket; it counts as the one that it was."""

    guest: BoundedProtocol | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self.guest is not None:
            self.guest.crowd.leave(self.guest)
        super().connection_lost(exc)


class BoundedProtocol(H11Protocol):
    """One connection; created by `bounded_protocol`, which sets its connection table."""

    crowd: ClassVar[ConnectionTable]
    limits: ClassVar[ServerLimits]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.peer: str | None = None
        self._is_admitted = False
        self._is_socket = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._body_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        self._body_began = 0.0
        self._body_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.peer = self.client[0] if self.client else None
        self._is_admitted = self.crowd.enter(self)
        if not self._is_admitted:
            self._say(503, CROWDED)
            return
        self._head_timer = self.loop.call_later(self.limits.head_seconds, self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.leave(self)
        for timer in (self._head_timer, self._body_timer, self._write_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._body_timer = self._write_timer = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_admitted:
            return
        self._body_bytes += len(data)
        super().data_received(data)
        self._look()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Leave the connection to a WebSocket; pings end one whose client is gone."""
        self._is_socket = True
        self._stop_head_timer()
        self._stop_body_timer()
        super().handle_websocket_upgrade(event)
        socket = self.transport.get_protocol()
        if isinstance(socket, BoundedSocket):
            socket.guest = self
        self.crowd.works(self)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and self.conn.their_state is h11.SEND_BODY:
            # The rest of a refused body is not awaited.
            self.loop.call_later(LINGER_SECONDS, self.end)
        self._look()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self.loop.call_later(LINGER_SECONDS, self.end)  # although its last response was not read

    def pause_writing(self) -> None:
        super().pause_writing()
        self.crowd.stalls(self)
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(WRITE_SECONDS, self.end)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        self._look()

    def end(self) -> None:
        """Close at once, whatever is in progress."""
        self.transport.abort()

    @property
    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    @property
    def _is_their_turn(self) -> bool:
        """Whether the client has to read a response, or to send the rest of a body."""
        is_sending = self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused
        return is_sending or self.flow.write_paused

    def _look(self) -> None:
        """Set the timers by what the connection waits for now."""
        if self._is_socket or self.transport.is_closing():
            return
        if self._is_answering:
            if self._is_their_turn:
                self.crowd.stalls(self)
            else:
                self.crowd.works(self)
            self._stop_head_timer()
            self._watch_body()
            return
        self.crowd.waits(self)
        self._stop_body_timer()
        has_begun = self.timeout_keep_alive_task is None  # part of a head has arrived
        if has_begun and self._head_timer is None:
            self._head_timer = self.loop.call_later(self.limits.head_seconds, self._head_is_late)

    def _watch_body(self) -> None:
        if self.conn.their_state is not h11.SEND_BODY:
            self._stop_body_timer()
        elif self._body_timer is None:
            self._body_began, self._body_bytes = self.loop.time(), 0
            self._body_timer = self.loop.call_later(self.limits.body_seconds, self._body_is_late)

    def _body_is_late(self) -> None:
        """Close, unless enough has arrived, or it is us who do not read on."""
        self._body_timer = None
        if not self._is_answering or self.conn.their_state is not h11.SEND_BODY:
            return
        allowed = self.limits.body_seconds + self._body_bytes / SLOWEST_BODY
        left = self._body_began + allowed - self.loop.time()
        if self.flow.read_paused:
            left = max(left, self.limits.body_seconds)
        if left <= 0:
            self._say(408, TIMED_OUT)
        else:
            self._body_timer = self.loop.call_later(left, self._body_is_late)

    def _head_is_late(self) -> None:
        self._head_timer = None
        if not self._is_answering:
            self._say(408, TIMED_OUT)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_body_timer(self) -> None:
        if self._body_timer is not None:
            self._body_timer.cancel()
            self._body_timer = None

    def _say(self, status: int, sentence: str) -> None:
        """Send a raw response if none was sent yet, and close."""
        has_begun = self._is_answering and self.cycle.response_started
        if not has_begun and not self.transport.is_closing():
            body = f"{sentence}\n".encode()
            phrase = "Request Timeout" if status == 408 else "Service Unavailable"
            self.transport.write(
                f"HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                + body
            )
        self.transport.close()
        self.loop.call_later(LINGER_SECONDS, self.end)


def bounded_protocol(limits: ServerLimits) -> type[BoundedProtocol]:
    """A protocol class for one server: uvicorn creates the connections without arguments."""
    return type("Bounded", (BoundedProtocol,), {"limits": limits, "crowd": ConnectionTable(limits)})
