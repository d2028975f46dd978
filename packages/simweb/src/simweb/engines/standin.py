"""What the stand-ins for search engines share: the index, a quota, outages and failures."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from aiohttp import web

from simweb.engines.index import Page, SearchIndex
from simweb.services.render import Rendered
from simweb.services.standin import Failure, Said, StandIn, say

KEY = "stand-in-key"


async def _no_browser(href: str) -> Rendered:
    return Rendered(href, error="net::ERR_ABORTED")


class EngineStandIn(StandIn):
    """Searches the simulated web. `quota` is the rest of a plan; None is no limit."""

    def __init__(
        self,
        index: SearchIndex,
        *,
        api_key: str | None = KEY,
        quota: int | None = None,
        epoch: int = 0,
        outages: Collection[int] = (),
    ) -> None:
        super().__init__(_no_browser, api_key=api_key)
        self.index = index
        self.quota = quota
        self.epoch = epoch
        self.outages = frozenset(outages)  # epochs in which it is down
        self.partial = False
        self.searches = 0  # answered and charged

    async def refuse(self, request: web.Request) -> web.StreamResponse | None:
        """The response in place of results; None if it returns results."""
        if not self.knows(request):
            return say(self.failures[Failure.UNAUTHORIZED])
        failing = await self.fail(request)
        if failing is not None:
            return failing
        if self.failure is Failure.ERROR_BODY:
            return say(Said(200, {"error": "Your monthly quota is used up."}))
        if self.epoch in self.outages:
            return web.Response(status=503, text="Service Unavailable")
        if self.quota is not None and self.searches >= self.quota:
            return say(self.failures[Failure.NO_CREDITS])
        return None

    async def account(self, request: web.Request) -> web.StreamResponse:
        """The rest of an account's plan, where the service reports it for free."""
        if not self.knows(request):
            return say(self.failures[Failure.UNAUTHORIZED])
        return say(Said(200, {"status_code": 20000, "searches_left": self.quota}))

    def look(self, query: str, page: int = 1, size: int = 10, place: str = "") -> Page:
        self.searches += 1
        return self.index.search(query, self.epoch, page, size, place)

    def knows_header(self, request: web.Request, name: str) -> bool:
        return self._api_key is None or request.headers.get(name) == self._api_key

    def bad(self, message: str, status: int = 400) -> web.Response:
        return say(Said(status, {"error": message}))


def number(value: Any, low: int, high: int, usual: int) -> int:
    """A number of a request within its bounds."""
    try:
        return max(low, min(int(value), high))
    except (TypeError, ValueError):
        return usual


def text(value: Any) -> str:
    """A text of a request, if it has one."""
    return value if isinstance(value, str) else ""
