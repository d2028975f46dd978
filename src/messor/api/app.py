"""The API application: routes, error handling and middleware."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request

from messor import __version__
from messor.access.roles import Act
from messor.api import problems
from messor.api.context import ApiContext, ApiLimits
from messor.api.document import make_document
from messor.api.envelope import Envelope
from messor.api.gate import GatedRoute, needs
from messor.api.responses import MaskedResponse
from messor.api.routes import (
    analytics,
    candidates,
    changes,
    corrections,
    decisions,
    discovery,
    domains,
    entities,
    events,
    evidence,
    exports,
    health,
    ingestion,
    jobs,
    keywords,
    metrics,
    model_calls,
    owners,
    pages,
    parsers,
    people,
    persons,
    prices,
    products,
    proxies,
    records,
    relevance,
    retention,
    rights,
    rules,
    scores,
    search,
    search_index,
    serps,
    standing_exports,
    tasks,
    traffic,
    verticals,
    watches,
    webhooks,
)
from messor.fetch.proxies.seal import seal_for
from messor.ledger.alarms import AlarmBoard
from messor.settings import Settings
from messor.store.database import Database

PREFIX = "/api/v1"
SESSION_COOKIE = "messor_session"

# In route-matching order.
ROUTERS = (
    health.router,
    metrics.router,
    domains.router,
    domains.queue,
    decisions.router,
    tasks.router,
    pages.router,
    records.router,
    products.router,
    parsers.router,
    model_calls.router,
    search.router,
    search_index.router,
    analytics.router,
    entities.router,
    events.router,
    evidence.router,
    exports.router,
    standing_exports.router,
    changes.router,
    corrections.router,
    rights.router,
    prices.router,
    owners.router,
    rules.router,
    ingestion.router,
    jobs.router,
    traffic.router,
    proxies.router,
    webhooks.router,
    watches.router,
    people.router,
    persons.router,
    verticals.router,
    relevance.router,
    retention.router,
    keywords.router,
    serps.router,
    discovery.router,
    candidates.router,
    scores.router,
)

own = APIRouter(route_class=GatedRoute)


@own.get("/openapi.json", include_in_schema=False)
@needs(Act.READ)
async def show_document(request: Request) -> dict[str, Any]:
    """The OpenAPI document."""
    document: dict[str, Any] = request.app.openapi()
    return document


def make_api(
    settings: Settings,
    database: Database,
    *,
    limits: ApiLimits | None = None,
    session_cookie: str = SESSION_COOKIE,
    alarms: AlarmBoard | None = None,
) -> FastAPI:
    """Build the API over an open database.

    When mounted in another application, that one awaits `app.state.context.close()`; standalone,
    it closes itself at shutdown.
    """
    context = ApiContext(
        settings,
        database,
        limits or ApiLimits.of(settings),
        session_cookie,
        seal_for(settings),
        alarms=alarms,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await context.close()

    app = FastAPI(
        title="Messor",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=MaskedResponse,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.context = context
    problems.install(app)
    for router in (*ROUTERS, own):
        app.include_router(router, prefix=PREFIX)
    app.include_router(ingestion.orbit)
    app.add_middleware(Envelope, long_bodies=[PREFIX + tasks.UPLOAD])
    document: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not document:
            document.update(make_document(app, cookie=session_cookie))
        return document

    app.openapi = openapi  # type: ignore[method-assign]
    return app
