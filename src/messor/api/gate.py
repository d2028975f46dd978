"""The gate of every route: authentication, permission, rate limit, transaction and idempotency.

A route declares its permission with `needs`, or `is_public`; a route that declares neither cannot
be created. Rate limiting itself is in `access.ratelimits`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import asyncpg
from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.requests import HTTPConnection
from starlette.responses import Response

from messor.access import ratelimits
from messor.access.errors import UnauthenticatedError
from messor.access.principal import Principal, authorise
from messor.access.ratelimits import Limit
from messor.access.roles import Act
from messor.api import etags, idempotency
from messor.api.context import ApiContext, context_of
from messor.api.credentials import CSRF_HEADER, READS, identify, origin_of
from messor.api.idempotency import KeyedRequest
from messor.api.problems import Problem
from messor.errors import UsageError

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Handler = Callable[[Request], Coroutine[Any, Any, Response]]

_TERMS = "messor_terms"
MAX_ATTEMPTS = 3  # of a transaction that conflicts with another, such as a flush
TRANSIENT_CONFLICTS = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_ALWAYS = (400, 401, 403, 404, 422, 429, 500, 503)
_ON_CHANGE = (409, 412, 413)
_PUBLIC = (500,)


@dataclass(frozen=True, slots=True)
class RouteTerms:
    """Requirements and behaviour of a route."""

    act: Act | None  # None: public
    own_transactions: bool = False  # manages its own transactions and needs no connection
    returns_secret: bool = False  # its response is not stored for replay
    precondition: bool = False  # honours If-Match
    needs_setup: bool = False  # conflicts while something is not set up, although it only reads


def needs(
    act: Act,
    *,
    own_transactions: bool = False,
    returns_secret: bool = False,
    precondition: bool = False,
    needs_setup: bool = False,
) -> Callable[[Endpoint], Endpoint]:
    """Declare the permission a route requires."""
    return _declare(RouteTerms(act, own_transactions, returns_secret, precondition, needs_setup))


def is_public(endpoint: Endpoint) -> Endpoint:
    """Declare a public route."""
    return _declare(RouteTerms(None, own_transactions=True))(endpoint)


def _declare(terms: RouteTerms) -> Callable[[Endpoint], Endpoint]:
    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _TERMS, terms)
        return endpoint

    return declare


def terms_of(endpoint: Callable[..., Any]) -> RouteTerms:
    terms = getattr(endpoint, _TERMS, None)
    if not isinstance(terms, RouteTerms):
        raise TypeError(
            f"{endpoint!r} must declare its permission with @needs(Act.…) or @is_public"
        )
    return terms


class GatedRoute(APIRoute):
    """A route behind the gate."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **how: Any) -> None:
        terms = terms_of(endpoint)
        methods = {method.upper() for method in how.get("methods") or ["GET"]}
        given = how.get("responses") or {}
        how["responses"] = {**_refusals(terms, methods), **given}
        how["openapi_extra"] = {**_declared(terms, methods), **(how.get("openapi_extra") or {})}
        super().__init__(path, endpoint, **how)
        self._known = frozenset(_query_parameters(self.dependant))

    def get_route_handler(self) -> Handler:
        inner, terms = super().get_route_handler(), terms_of(self.endpoint)

        async def handle(request: Request) -> Response:
            context = context_of(request)
            if terms.act is None:
                return await inner(request)  # not rate-limited: it must work without the database
            principal = await _admit(context, request, terms.act)
            request.state.principal = principal
            self._refuse_unknown(request)
            if request.method in READS:
                return etags.conditional(request, await inner(request))
            return await _change(context, request, inner, terms, principal)

        return handle

    def _refuse_unknown(self, request: Request) -> None:
        """A misspelt filter must not silently match everything."""
        unknown = sorted(request.query_params.keys() - self._known)
        if unknown:
            known = ", ".join(sorted(self._known)) or "none"
            raise UsageError(f"Unknown query parameter {unknown[0][:100]!r}; allowed: {known}.")


def _query_parameters(dependant: Dependant) -> Iterator[str]:
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_parameters(inner)


async def _admit(context: ApiContext, request: Request, act: Act) -> Principal:
    """Authenticate, rate-limit and authorise; unauthenticated requests are limited by IP address."""
    try:
        principal = await identify(context, request)
    except UnauthenticatedError:
        await charge(context, request, _address_key(request), context.limits.unknown)
        raise
    try:
        await charge(context, request, f"api:{principal.actor}", context.limits.known)
    except asyncpg.DiskFullError:
        if request.method not in READS:  # members may still read, uncounted
            raise
    return authorise(principal, act)


def _address_key(request: Request) -> str:
    return ratelimits.key_of_address("api", origin_of(request).address)


async def charge(context: ApiContext, request: HTTPConnection, key: str, limit: Limit) -> None:
    """Count a request against a limit, and note for its answer what is left."""
    allowance = await ratelimits.take(context.database, key, limit)
    request.scope["messor.headers"] = {
        "RateLimit-Limit": str(allowance.limit),
        "RateLimit-Remaining": str(allowance.remaining),
        "RateLimit-Reset": str(allowance.reset_after),
    }
    allowance.require()


async def _change(
    context: ApiContext, request: Request, inner: Handler, terms: RouteTerms, principal: Principal
) -> Response:
    """Run a change in one transaction; with an idempotency key, only once."""
    keyed = KeyedRequest.of(request, principal.actor, await request.body())
    keep_body = not terms.returns_secret
    if terms.own_transactions:
        return await idempotency.beside(
            context.database, keyed, lambda: inner(request), keep_body=keep_body
        )
    for attempt in range(MAX_ATTEMPTS):
        try:
            async with context.database.transaction() as connection:
                request.state.connection = connection
                return await idempotency.within(
                    connection, keyed, lambda: inner(request), keep_body=keep_body
                )
        except TRANSIENT_CONFLICTS:  # rolled back completely
            if attempt == MAX_ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


def _refusals(terms: RouteTerms, methods: set[str]) -> dict[int | str, dict[str, Any]]:
    """The problem responses of a route, for the OpenAPI document."""
    statuses = _PUBLIC if terms.act is None else _ALWAYS
    if terms.act is not None and not methods & READS:
        statuses = (*statuses, *_ON_CHANGE)
    elif terms.needs_setup:
        statuses = (*statuses, 409)
    refusals: dict[int | str, dict[str, Any]] = {
        status: {"model": Problem, "description": "A problem (RFC 9457)"} for status in statuses
    }
    if terms.act is not None and methods & READS:
        refusals[304] = {"description": "Not modified (If-None-Match)"}
    return refusals


def _declared(terms: RouteTerms, methods: set[str]) -> dict[str, Any]:
    if terms.act is None:
        return {"security": [], "x-messor-act": "public"}
    parameters = []
    if not methods & READS:
        parameters.append(_header("Idempotency-Key", idempotency.ABOUT, r"^[!-~]{1,255}$"))
        parameters.append(_header(CSRF_HEADER, "Required with a session cookie", None))
    if terms.precondition:
        parameters.append(_header("If-Match", "ETag of the version the caller has read", None))
    declared: dict[str, Any] = {
        "security": [{"key": []}, {"session": []}],
        "x-messor-act": terms.act.value,
    }
    if parameters:
        declared["parameters"] = parameters
    return declared


def _header(name: str, about: str, pattern: str | None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if pattern is not None:
        schema["pattern"] = pattern
    return {"name": name, "in": "header", "required": False, "description": about, "schema": schema}
