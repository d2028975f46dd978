"""Routes of this API: the gate of all routes, more lenient about query parameters and keys."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from messor.api.gate import GatedRoute
from messor.scrape.services import ScrapeServices

OTHER_KEY = b"x-idempotency-key"  # as the official clients send it


class FirecrawlRoute(GatedRoute):
    """A route behind the gate; clients send query parameters of other versions."""

    def _refuse_unknown(self, request: Request) -> None:  # noqa: ARG002 - anything is let through
        return


class KeyHeader:
    """Reads the idempotency key under its other name as well."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            names = {name for name, _ in scope["headers"]}
            if OTHER_KEY in names and b"idempotency-key" not in names:
                value = next(value for name, value in scope["headers"] if name == OTHER_KEY)
                headers = [*scope["headers"], (b"idempotency-key", value)]
                scope = {**scope, "headers": headers}
        await self._app(scope, receive, send)


async def _services(request: Request) -> ScrapeServices:
    services: ScrapeServices = request.app.state.scrape
    return services


ServicesDep = Annotated[ScrapeServices, Depends(_services)]
