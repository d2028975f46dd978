"""The log of requests: one line each, tab-separated, buffered and written ten times a second.

A line is: arrival of the head and end of the response (CLOCK_MONOTONIC, nanoseconds; 0 = never
answered), connection, peer port, scheme, host, method, path, status (0 = none), body bytes sent.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

FLUSH_SECONDS = 0.1


class LoggedRequest(NamedTuple):
    arrived_ns: int
    answered_ns: int
    connection: int
    peer_port: int
    scheme: str
    host: str
    method: str
    path: str
    status: int
    body_bytes: int

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"


def parse_line(line: str) -> LoggedRequest:
    arrived, answered, connection, port, scheme, host, method, path, status, size = line.split("\t")
    return LoggedRequest(
        int(arrived),
        int(answered),
        int(connection),
        int(port),
        scheme,
        host,
        method,
        path,
        int(status),
        int(size),
    )


def read_log(file: Path) -> list[LoggedRequest]:
    """All requests in order of arrival; an incomplete last line is omitted."""
    whole = file.read_text("utf-8").rpartition("\n")[0]
    return sorted(parse_line(line) for line in whole.splitlines())


class RequestLog:
    """Counts requests and, given a file, writes them there."""

    def __init__(self, file: Path | None) -> None:
        self._out = file.open("w", encoding="utf-8") if file else None
        self._lines: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self.requests = 0
        self.refusals = 0  # responses with 429
        self.body_bytes = 0

    def note(self, request: LoggedRequest) -> None:
        self.requests += 1
        self.refusals += request.status == 429
        self.body_bytes += request.body_bytes
        if self._out is None:
            return
        self._lines.append("\t".join(map(str, request)) + "\n")
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._out is not None and self._lines:
            self._out.write("".join(self._lines))
            self._out.flush()
            self._lines.clear()

    def close(self) -> None:
        self.flush()
        if self._out is not None:
            self._out.close()
            self._out = None
