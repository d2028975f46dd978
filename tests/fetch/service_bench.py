"""A provider on the bench: the stand-in it asks, its breaker's clock, a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import pytest
from pydantic import SecretStr

from messor.fetch.outcome import Fetched
from messor.fetch.services.breaker import Breaker
from messor.fetch.services.crawl4ai import Crawl4AI
from messor.fetch.services.firecrawl import Firecrawl
from messor.fetch.services.options import ServiceSettings
from messor.fetch.services.service import RemoteProvider
from messor.politeness.pace import Permit
from messor.store.database import Database
from simweb.answers import SimResponse, plain, redirect
from simweb.services import Crawl4AIStandIn, Failure, FirecrawlStandIn, StandIn, WorldBrowser
from simweb.services.render import Rendered
from simweb.services.standin import Said
from tests.fetch.conftest import permit
from tests.little_web import page

KEY = "fc-secret-0123456789"
HOME = "http://shop.test/"
HTML_ANSWER = page("Good bread", "/about")
_TYPE = (("Content-Type", "text/html"),)
SHELL = b'<title>Shop</title><div id="root"></div><script src="/fill.js"></script>%s'
FILL = b'document.getElementById("root").innerHTML = "<p>Good bread from a script</p>";'
PAGES: dict[str, SimResponse] = {
    "/": HTML_ANSWER,
    "/missing": plain(404, "Gone"),
    "/forbidden": plain(403, "No"),
    "/busy": plain(503, "Later", ("Retry-After", "120")),
    "/broken": plain(500, "Oh"),
    "/moved": redirect("/"),
    "/away": redirect("http://other.test/"),
    "/empty": SimResponse(200, (("Content-Type", "text/html"),), b" "),
    "/report.pdf": SimResponse(200, (("Content-Type", "application/pdf"),), b"%PDF-1.7"),
    "/quiet": page("Quiet", extra=(("X-Robots-Tag", "noindex"),)),
    "/shell": SimResponse(200, _TYPE, SHELL % b""),
    "/ticking": SimResponse(200, _TYPE, SHELL % b"<script>setInterval(ask, 200)</script>"),
    "/fill.js": SimResponse(200, (("Content-Type", "text/javascript"),), FILL),
    "/big": SimResponse(200, (("Content-Type", "text/html"),), b"x" * 50_000),
}


def respond(host: str, path: str, _: bool) -> SimResponse:
    if host not in ("shop.test", "other.test"):
        return plain(421, "no such host")
    return PAGES.get(path, plain(404, "There is no such page"))


BROWSER = WorldBrowser(respond)


async def allow(_: str) -> str | None:
    return None


@dataclass
class Clock:
    time: float = 1000.0

    def __call__(self) -> float:
        return self.time


@dataclass
class Bench:
    """A provider, the stand-in it asks, and the clock of its breaker."""

    service: RemoteProvider
    standin: StandIn
    database: Database
    clock: Clock

    async def get(self, href: str = HOME, allowed: Permit | None = None) -> Fetched:
        return await self.service.fetch(href, allowed or permit())

    async def usage(self) -> tuple[int, Decimal]:
        row = await self.database.fetchrow(
            "SELECT coalesce(sum(requests), 0)::int AS requests, coalesce(sum(cost), 0) AS cost"
            "  FROM messor.provider_usage WHERE provider = $1",
            self.service.name,
        )
        assert row is not None
        return row["requests"], row["cost"]


@asynccontextmanager
async def bench(
    kind: type[RemoteProvider],
    standin: StandIn,
    database: Database,
    check: Callable[[str], Any] = allow,
    **values: Any,
) -> AsyncIterator[Bench]:
    async with standin:
        now = Clock()
        given: dict[str, Any] = {
            "base_url": standin.base_url,
            "api_key": SecretStr(KEY),
            "cost": Decimal("0.001"),
            "timeout": 5.0,
            "grace": 5.0,
            **values,
        }
        service = kind(ServiceSettings(**given), database, check, breaker=Breaker(now=now))
        try:
            yield Bench(service, standin, database, now)
        finally:
            await service.close()


Make: TypeAlias = Callable[..., tuple[type[RemoteProvider], StandIn]]


def crawl4ai(**values: Any) -> tuple[type[RemoteProvider], StandIn]:
    return Crawl4AI, Crawl4AIStandIn(BROWSER, api_key=KEY, **values)


def firecrawl(**values: Any) -> tuple[type[RemoteProvider], StandIn]:
    return Firecrawl, FirecrawlStandIn(BROWSER, api_key=KEY, **values)


# Every service in every contract it may be asked in, and the stand-in that speaks it.
FORMS: dict[str, tuple[Make, dict[str, Any], str]] = {
    "crawl4ai current": (crawl4ai, {}, "current"),
    "crawl4ai spec": (crawl4ai, {"contract": "spec"}, "spec"),
    "crawl4ai found current": (crawl4ai, {}, "auto"),
    "crawl4ai found spec": (crawl4ai, {"contract": "spec"}, "auto"),
    "firecrawl current": (firecrawl, {}, "current"),
    "firecrawl spec": (firecrawl, {"versions": ("v1",)}, "spec"),
    "firecrawl found current": (firecrawl, {}, "auto"),
    "firecrawl found spec": (firecrawl, {"versions": ("v1",)}, "auto"),
}
# Those that tell the site's status.
TELLING = ("crawl4ai current", "firecrawl current", "firecrawl spec")
both = pytest.mark.parametrize("make", [crawl4ai, firecrawl])


def seeing(rendered: Rendered) -> Callable[[str], Any]:
    async def render(_: str) -> Rendered:
        return rendered

    return render


def saying(standin: StandIn, value: Any, status: int = 200) -> StandIn:
    """The stand-in, made to answer just this."""
    standin.failures = {Failure.INTERNAL: Said(status, value)}
    standin.failure = Failure.INTERNAL
    return standin
