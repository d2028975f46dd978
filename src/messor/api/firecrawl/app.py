"""The application: Firecrawl's paths over the shared context of the API."""

from __future__ import annotations

from fastapi import FastAPI

from messor.api.context import ApiContext
from messor.api.envelope import Envelope
from messor.api.firecrawl import answers, crawls, extracts, live, monitors, parse, scrapes, team
from messor.api.firecrawl.route import KeyHeader
from messor.scrape.services import ScrapeServices

PREFIXES = ("/v1", "/v2")
ROUTERS = (
    scrapes.router,
    crawls.router,
    extracts.router,
    live.router,
    monitors.router,
    parse.router,
    team.router,
)
LONG = ("/v2/batch/scrape", "/v1/batch/scrape", "/v2/parse")


def make_firecrawl(context: ApiContext, services: ScrapeServices) -> FastAPI:
    """Build it over the API's context, which its owner closes."""
    app = FastAPI(
        title="Messor, as Firecrawl's clients know it",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.context = context
    app.state.scrape = services
    answers.install(app)
    for router in ROUTERS:
        app.include_router(router)
    app.add_middleware(KeyHeader)
    app.add_middleware(Envelope, long_bodies=LONG)
    return app


def is_firecrawl(path: str) -> bool:
    """Whether a path is one of this API."""
    return path.startswith(tuple(f"{prefix}/" for prefix in PREFIXES))
