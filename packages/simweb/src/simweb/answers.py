"""Requests to and responses of a simulated host, before either touches a socket.

A response also describes its misbehaviour on the wire (silence, a false length, a slow stream, a
reset); the connection in `protocol` performs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Protocol, TypeAlias

Headers: TypeAlias = tuple[tuple[str, str], ...]

STATUS_LINES = {int(s): f"HTTP/1.1 {int(s)} {s.phrase}\r\n" for s in HTTPStatus}


class Ending(Enum):
    """What happens to the connection after the response."""

    KEEP = "keep"
    CLOSE = "close"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class Request:
    host: str
    path: str  # with its query
    headers: Mapping[str, str]  # names in lower case
    epoch: int = 0
    secure: bool = False

    @property
    def route(self) -> str:
        return self.path.partition("?")[0]

    @property
    def query(self) -> str:
        return self.path.partition("?")[2]


@dataclass(frozen=True, slots=True)
class Stream:
    """A body generated while it is sent, so that a huge or endless one needs no memory."""

    chunks: Callable[[], Iterator[bytes]]
    pause_s: float = 0.0  # between two chunks
    chunked: bool = True  # framed as chunked transfer coding, else raw bytes


@dataclass(frozen=True, slots=True)
class SimResponse:
    status: int
    headers: Headers = ()
    body: bytes = b""
    stream: Stream | None = None
    ending: Ending = Ending.KEEP
    silent: bool = False  # the request is accepted and never answered
    pause_s: float = 0.0  # before the response begins
    claimed_length: int | None = None  # a Content-Length that differs from the body's

    def header(self, name: str) -> str | None:
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def head(self, date_line: str) -> bytes:
        """Status line and headers as sent, up to the empty line."""
        lines = [STATUS_LINES[self.status], date_line]
        lines += [f"{name}: {value}\r\n" for name, value in self.headers]
        lines.append(self._framing())
        if self.ending is Ending.CLOSE:
            lines.append("Connection: close\r\n")
        lines.append("\r\n")
        return "".join(lines).encode("latin-1")

    def _framing(self) -> str:
        if self.claimed_length is not None:
            return f"Content-Length: {self.claimed_length}\r\n"
        if self.stream is not None:
            return "Transfer-Encoding: chunked\r\n" if self.stream.chunked else ""
        return "" if self.status == 304 else f"Content-Length: {len(self.body)}\r\n"


class Responder(Protocol):
    """One simulated host: a request in, a response out."""

    def respond(self, request: Request) -> SimResponse: ...

    def warm(self, epoch: int) -> None:
        """Prepare what can be prepared, so that responding costs little."""


def redirect(target: str, status: int = 302) -> SimResponse:
    return SimResponse(status, (("Location", target), ("Content-Type", "text/html; charset=utf-8")))


def plain(status: int, text: str, *extra: tuple[str, str]) -> SimResponse:
    return SimResponse(
        status, (("Content-Type", "text/plain; charset=utf-8"), *extra), text.encode()
    )
