"""One connection of the simulated web: parses heads, writes responses, misbehaves as configured.

Speaks HTTP/1.1 with keep-alive, GET, HEAD and (for the control API) POST without a body. Responses
are decided elsewhere; this module only sends and logs them.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from typing import TypeAlias, cast

from simweb.answers import Ending, SimResponse, plain
from simweb.requestlog import LoggedRequest, RequestLog

# host, path, headers, secure
Respond: TypeAlias = Callable[[str, str, Mapping[str, str], bool], SimResponse]

_HEAD_LIMIT = 65_536
_RESET_AFTER_S = 0.05  # lets the first half reach the peer before the reset overtakes it
_NO_LINGER = struct.pack("ii", 1, 0)


class Wire:
    """What the connections of one listener share."""

    def __init__(
        self,
        respond: Respond,
        log: RequestLog | None,
        *,
        secure: bool = False,
        methods: frozenset[str] = frozenset({"GET", "HEAD"}),
    ) -> None:
        self.respond = respond
        self.log = log
        self.secure = secure
        self.methods = methods
        self.open: set[Connection] = set()
        self.idle = asyncio.Event()  # set while no connection is open
        self.idle.set()
        self.numbers = itertools.count(1)
        self._second = 0
        self._date_line = ""

    def date_line(self) -> str:
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._date_line = f"Date: {formatdate(second, usegmt=True)}\r\n"
        return self._date_line

    def connection(self) -> Connection:
        return Connection(self)

    def enter(self, connection: Connection) -> None:
        self.open.add(connection)
        self.idle.clear()

    def leave(self, connection: Connection) -> None:
        self.open.discard(connection)
        if not self.open:
            self.idle.set()


@dataclass(slots=True)
class _Exchange:
    """The request being processed."""

    arrived_ns: int
    method: str
    host: str
    path: str
    last: bool  # the client wants the connection closed afterwards
    answer: SimResponse
    sent: int = 0


class Connection(asyncio.Protocol):
    def __init__(self, wire: Wire, readable_ns: int = 0) -> None:
        self._wire = wire
        self._readable_ns = readable_ns  # when the first bytes came, if that was recorded before
        self._number = next(wire.numbers)
        self._buffer = b""
        self._arrived_ns = 0
        self._exchange: _Exchange | None = None
        self._chunks: Iterator[bytes] | None = None
        self._pump_due: asyncio.TimerHandle | None = None
        self._paused = False
        self._peer_port = 0
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport has the methods of asyncio's but is not one by class.
        self._transport = cast(asyncio.Transport, transport)
        address, self._peer_port = transport.get_extra_info("peername")[:2]
        if address.startswith("127."):
            self._wire.enter(self)
        else:
            self.abort()  # the listener is open to all addresses, the world is not

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the base's name
        self._chunks = None
        if self._pump_due is not None:
            self._pump_due.cancel()
        if self._exchange is not None:
            self._note(self._exchange, answered_ns=0)
        self._wire.leave(self)

    def abort(self) -> None:
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._arrived_ns = self._readable_ns or time.monotonic_ns()
        self._readable_ns = 0
        self._buffer = self._buffer + data if self._buffer else data
        self._serve()

    def _serve(self) -> None:
        while self._exchange is None and self._buffer and not self._transport.is_closing():
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                if len(head) > _HEAD_LIMIT:
                    self._transport.abort()
                return
            self._buffer = rest
            self._handle(head)

    def _handle(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        host = headers.get("host", "").partition(":")[0].lower()
        words = first.split()
        if len(words) != 3 or not host:
            self._begin(_Exchange(self._arrived_ns, "-", "-", "-", True, _NOT_A_REQUEST))
            return
        method, path, _ = words
        if method in self._wire.methods:
            response = self._wire.respond(host, path, headers, self._wire.secure)
        else:
            response = _NOT_A_METHOD
        last = response.ending is Ending.CLOSE or headers.get("connection", "").lower() == "close"
        self._begin(_Exchange(self._arrived_ns, method, host, path, last, response))

    def _begin(self, exchange: _Exchange) -> None:
        self._exchange = exchange
        if exchange.answer.silent:
            return
        if exchange.answer.pause_s:
            loop = asyncio.get_running_loop()
            self._pump_due = loop.call_later(exchange.answer.pause_s, self._answer, exchange)
        else:
            self._answer(exchange)

    def _answer(self, exchange: _Exchange) -> None:
        self._pump_due = None
        response = exchange.answer
        head = response.head(self._wire.date_line())
        if exchange.method == "HEAD":
            self._transport.write(head)
            self._finish(exchange)
        elif response.stream is None:
            exchange.sent = len(response.body)
            self._transport.write(head + response.body)
            self._finish(exchange)
        else:
            self._transport.write(head)
            self._chunks = response.stream.chunks()
            self._pump()

    def _pump(self) -> None:
        """Write one chunk and return for the next, as long as the peer keeps up."""
        self._pump_due = None
        exchange = self._exchange
        if exchange is None or self._chunks is None or self._paused:
            return
        stream = exchange.answer.stream
        assert stream is not None
        chunk = next(self._chunks, None)
        if chunk is None:
            self._chunks = None
            if stream.chunked:
                self._transport.write(b"0\r\n\r\n")
            self._finish(exchange)
            return
        exchange.sent += len(chunk)
        self._transport.write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if stream.chunked else chunk)
        self._pump_due = asyncio.get_running_loop().call_later(stream.pause_s, self._pump)

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._pump_due is None:
            self._pump()

    def _finish(self, exchange: _Exchange) -> None:
        self._note(exchange, time.monotonic_ns())
        if exchange.answer.ending is Ending.RESET:
            asyncio.get_running_loop().call_later(_RESET_AFTER_S, self._reset)
        elif exchange.last:
            self._transport.close()
        elif self._buffer:
            asyncio.get_running_loop().call_soon(self._serve)

    def _reset(self) -> None:
        """Without lingering, close sends RST instead of FIN."""
        if not self._transport.is_closing():
            raw = self._transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self._transport.abort()

    def _note(self, exchange: _Exchange, answered_ns: int) -> None:
        self._exchange = None
        if self._wire.log is not None:
            entry = LoggedRequest(
                exchange.arrived_ns,
                answered_ns,
                self._number,
                self._peer_port,
                "https" if self._wire.secure else "http",
                exchange.host,
                exchange.method,
                exchange.path,
                0 if exchange.answer.silent else exchange.answer.status,
                exchange.sent,
            )
            self._wire.log.note(entry)


_NOT_A_REQUEST = plain(400, "This is not a request.\n")
_NOT_A_METHOD = plain(405, "Only GET and HEAD are spoken here.\n", ("Allow", "GET, HEAD"))
