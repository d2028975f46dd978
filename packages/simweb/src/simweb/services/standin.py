"""What the stand-ins share: a small HTTP server on loopback, recorded requests and failures.

Every response carries `X-Messor-Stand-In`, so that nobody takes it for the service itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import msgspec
from aiohttp import web

from simweb.services.render import Render

_HUGE_CHUNK = b" " * 65_536


class Failure(StrEnum):
    """How a stand-in can fail, on the wire or in the service's own words."""

    UNAUTHORIZED = "unauthorized"  # 401
    NO_CREDITS = "no credits"  # 402
    FORBIDDEN = "forbidden"  # 403
    CONFLICT = "conflict"  # 409
    REQUEST_TOO_LARGE = "request too large"  # 413
    REJECTED = "rejected"  # 400
    INVALID = "invalid"  # 422
    TOO_MANY = "too many"  # 429
    TOO_MANY_UNTIL = "too many until"  # 429 with Retry-After
    BUSY = "busy"  # 503 with Retry-After
    INTERNAL = "internal"  # 500
    BAD_GATEWAY = "bad gateway"  # 502
    GATEWAY_TIMEOUT = "gateway timeout"  # 504
    REQUEST_TIMEOUT = "request timeout"  # 408
    SILENT = "silent"  # accepts the request and never responds
    CUT = "cut"  # stops in the middle of the response
    BAD_JSON = "bad JSON"
    DEEP_JSON = "deep JSON"
    NOT_JSON = "not JSON"  # a proxy's HTML page, with 200
    HUGE = "huge"  # an endless response
    REDIRECT = "redirect"  # to another origin
    ONLY_MARKDOWN = "only markdown"
    NO_PAGE = "no page"
    OTHER_PAGE = "other page"
    NOBODY_ANSWERS = (
        "nobody answers"  # 200 without results, because all its sources are unavailable
    )
    ERROR_BODY = "error body"  # 200 with an error in place of a page


_GARBLED = {
    Failure.BAD_JSON: ("application/json", '{"success": tru'),
    Failure.DEEP_JSON: ("application/json", "[" * 100_000),
    Failure.NOT_JSON: ("text/html", "<html>Welcome</html>"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Said:
    """One response in the service's own words."""

    status: int
    value: Any
    headers: Mapping[str, str] | None = None


class StandIn:
    """Serves while its context is open; `failure` may be changed while it runs."""

    name = "stand-in"
    failures: Mapping[Failure, Said] = {}

    def __init__(self, render: Render, *, api_key: str | None = None) -> None:
        self.failure: Failure | None = None
        self.asked: list[Asked] = []
        self.arrival = asyncio.Event()  # set when a request arrived
        self.base_url = ""
        self.elsewhere = "http://127.0.0.2:9/"  # redirect target, if configured
        self._render = render
        self._api_key = api_key
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        app = web.Application(client_max_size=10_000_000)
        self.route(app.router)
        app.on_response_prepare.append(self._sign)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()

    def route(self, router: web.UrlDispatcher) -> None:
        raise NotImplementedError

    async def note(self, request: web.Request) -> Any:
        """Record the request; returns its JSON, or None if it has none."""
        try:
            body = msgspec.json.decode(await request.read())
        except msgspec.DecodeError:
            body = None
        self.asked.append(Asked(request.path, dict(request.headers), body))
        self.arrival.set()
        return body

    def knows(self, request: web.Request) -> bool:
        """Whether the request carries the key, if there is one."""
        wanted = f"Bearer {self._api_key}"
        return self._api_key is None or request.headers.get("Authorization") == wanted

    async def fail(self, request: web.Request) -> web.StreamResponse | None:
        """The configured failure; None if there is none, or it is in the content."""
        match self.failure:
            case None:
                return None
            case Failure.SILENT:
                await asyncio.Event().wait()
            case Failure.CUT:
                return await _cut(request)
            case Failure.HUGE:
                return await _pour(request)
            case Failure.REDIRECT:
                return web.Response(status=307, headers={"Location": self.elsewhere})
        if self.failure in _GARBLED:
            kind, text = _GARBLED[self.failure]
            return web.Response(text=text, content_type=kind)
        failure = self.failures.get(self.failure)
        return None if failure is None else say(failure)

    async def _sign(self, _: web.Request, response: web.StreamResponse) -> None:
        response.headers["X-Messor-Stand-In"] = self.name


def say(said: Said) -> web.Response:
    body = msgspec.json.encode(said.value)
    return web.Response(
        status=said.status, body=body, content_type="application/json", headers=said.headers
    )


async def _cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = 10_000
    await response.prepare(request)
    await response.write(b'{"success": true, ')
    assert request.transport is not None
    request.transport.abort()
    return response


async def _pour(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(_HUGE_CHUNK)
