"""The console application: screens, static files and error pages behind one guard."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from messor.access.login import LoginService
from messor.access.passwords import Passwords
from messor.analytics.answers import Analytics
from messor.console import jinja
from messor.console.api_reference import ApiReference
from messor.console.call import ConsoleRequest
from messor.console.context import ConsoleContext, ConsoleRates
from messor.console.guard import error_page, guarded
from messor.console.headers import SafeHeaders
from messor.console.live import LiveBoard
from messor.console.screens import Screen
from messor.console.views import (
    account,
    analytics,
    api_reference,
    audit_log,
    batches,
    candidates,
    changes,
    corrections,
    discovery,
    domain,
    domain_actions,
    domain_terms,
    domains,
    entities,
    evidence_bundles,
    exports,
    find,
    health,
    identity,
    imports,
    ingest,
    jobs,
    keyword_growth,
    keywords,
    login,
    members,
    model_calls,
    oidc,
    overview,
    owners,
    page,
    parsers,
    persons,
    prices,
    products,
    proxies,
    public_request,
    records,
    relevance,
    review,
    rights,
    schedule,
    scores,
    search,
    search_index,
    second_factor,
    serps,
    submit,
    tasks,
    traffic,
    verticals,
    views,
    watches,
    webhooks,
)
from messor.console.visibility_overview import VisibilityOverviews
from messor.errors import UnavailableError
from messor.fetch.proxies.seal import seal_for
from messor.fetch.services.identity_provider import IdentityProvider
from messor.insight.full_text import FullText
from messor.ledger.alarms import AlarmBoard
from messor.settings import Settings
from messor.store.database import Database

Handler = Callable[[Request, Exception], Awaitable[Response]]

STATIC = Path(__file__).parent / "static"

SCREENS: tuple[Screen, ...] = (
    *login.SCREENS,
    *oidc.SCREENS,
    *overview.SCREENS,
    *review.SCREENS,
    *rights.SCREENS,
    *prices.SCREENS,
    *owners.MEMBERS,
    *submit.SCREENS,
    *domains.SCREENS,
    *domain.SCREENS,
    *domain_actions.SCREENS,
    *domain_terms.SCREENS,
    *page.SCREENS,
    *find.SCREENS,
    *search.SCREENS,
    *search_index.SCREENS,
    *records.SCREENS,
    *corrections.SCREENS,
    *entities.SCREENS,
    *persons.SCREENS,
    *products.SCREENS,
    *parsers.SCREENS,
    *model_calls.SCREENS,
    *evidence_bundles.SCREENS,
    *exports.SCREENS,
    *ingest.SCREENS,
    *imports.SCREENS,
    *verticals.SCREENS,
    *relevance.SCREENS,
    *keywords.SCREENS,
    *keyword_growth.SCREENS,
    *keywords.ONE,
    *serps.SCREENS,
    *discovery.SCREENS,
    *candidates.SCREENS,
    *scores.SCREENS,
    *health.SCREENS,
    *tasks.SCREENS,
    *batches.SCREENS,
    *jobs.SCREENS,
    *schedule.SCREENS,
    *traffic.SCREENS,
    *proxies.SCREENS,
    *webhooks.SCREENS,
    *views.SCREENS,
    *members.SCREENS,
    *account.SCREENS,
    *second_factor.SCREENS,
    *audit_log.SCREENS,
    *changes.SCREENS,
    *analytics.SCREENS,
    *watches.SCREENS,
    *api_reference.SCREENS,
)


def make_console(
    settings: Settings,
    database: Database,
    passwords: Passwords,
    *,
    public_submission: bool = False,
    alarms: AlarmBoard | None = None,
    api_document: Callable[[], Mapping[str, Any]] | None = None,
) -> Starlette:
    """Build the console over an open database, to be mounted at `/`; the caller closes the database.

    `api_document` gives the description of the API that is served beside it.
    """
    seal = seal_for(settings)
    context = ConsoleContext(
        settings,
        database,
        LoginService(database, passwords, seal=seal),
        LiveBoard(database, alarms),
        jinja.environment(_version()),
        ConsoleRates(settings),
        public_submission,
        seal,
        VisibilityOverviews(database),
        FullText.of(settings, database),
        Analytics.of(settings),
        _identity_provider(settings),
        None if api_document is None else ApiReference(api_document),
    )
    screens = SCREENS + (public_request.SCREENS if public_submission else ())
    screens += identity.SCREENS + owners.SCREENS if settings.identity_url else ()
    routes: list[BaseRoute] = [
        Route(screen.path, guarded(screen, context), methods=[screen.method]) for screen in screens
    ]
    routes.append(Mount("/static", StaticFiles(directory=STATIC), name="static"))
    app = Starlette(
        routes=routes,
        middleware=[Middleware(SafeHeaders)],
        exception_handlers={HTTPException: _missing(context), Exception: _broken(context)},
    )
    app.state.background = context.background  # must be closed before the database
    app.state.full_text = context.full_text
    return app


def _identity_provider(settings: Settings) -> IdentityProvider | None:
    if not settings.oidc_issuer or not settings.oidc_client_id:
        return None
    secret = settings.oidc_client_secret
    return IdentityProvider(
        settings.oidc_issuer,
        settings.oidc_client_id,
        secret.get_secret_value() if secret else None,
    )


def _version() -> str:
    """A digest of the front-end files for cache busting; raises when they are not built."""
    if not (STATIC / "vendor" / "tabler.min.css").exists():
        raise UnavailableError(
            "The console's front-end files are missing; reinstall Messor with pip install -e ."
        )
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*.*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _missing(context: ConsoleContext) -> Handler:
    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        sentence = (
            "This page does not accept this request method."
            if error.status_code == 405
            else "Page not found."
        )
        return error_page(ConsoleRequest(request, context), error.status_code, sentence)

    return answer


def _broken(context: ConsoleContext) -> Handler:
    async def answer(request: Request, _: Exception) -> Response:
        sentence = "An internal error occurred. It was logged under the request ID below."
        return error_page(ConsoleRequest(request, context), 500, sentence)

    return answer
