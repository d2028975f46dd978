"""The gate every request passes: known, allowed, within limits, in one transaction, done once.

A route says with `needs` which act it is, or with `is_public` that it is for everybody; one that
says neither cannot be made. How many may ask how often is `access.ratelimits`'.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import asyncpg
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from messor.access import ratelimits
from messor.access.errors import UnauthenticatedError
from messor.access.principal import Principal, authorise
from messor.access.ratelimits import Limit
from messor.access.roles import Act
from messor.api import etags, idempotency
from messor.api.credentials import CSRF_HEADER, READS, identify, origin_of
from messor.api.house import ApiContext, house_of
from messor.api.idempotency import KeyedRequest
from messor.api.problems import Problem

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Handler = Callable[[Request], Coroutine[Any, Any, Response]]

_TERMS = "messor_terms"
TRIES = 3  # of a transaction that met another, such as a crawl's flush
MET_ANOTHER = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_ALWAYS = (400, 401, 403, 404, 422, 429, 500, 503)
_ON_CHANGE = (409, 412, 413)
_OF_EVERYBODY = (500,)


@dataclass(frozen=True, slots=True)
class RouteTerms:
    """What a route asks of its callers, and how it works."""

    act: Act | None  # None: everybody
    own_transactions: bool = False  # it works in several, and needs no connection
    tells_secret: bool = False  # its answer is shown once, and not kept
    precondition: bool = False  # it heeds If-Match


def needs(
    act: Act,
    *,
    own_transactions: bool = False,
    tells_secret: bool = False,
    precondition: bool = False,
) -> Callable[[Endpoint], Endpoint]:
    """Declare which act a route is."""
    return _declare(RouteTerms(act, own_transactions, tells_secret, precondition))


def is_public(endpoint: Endpoint) -> Endpoint:
    """Declare a route that is for everybody."""
    return _declare(RouteTerms(None, own_transactions=True))(endpoint)


def _declare(terms: RouteTerms) -> Callable[[Endpoint], Endpoint]:
    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _TERMS, terms)
        return endpoint

    return declare


def terms_of(endpoint: Callable[..., Any]) -> RouteTerms:
    terms = getattr(endpoint, _TERMS, None)
    if not isinstance(terms, RouteTerms):
        raise TypeError(f"{endpoint!r} does not declare its act: @needs(Act.…) or @is_public")
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

    def get_route_handler(self) -> Handler:
        inner, terms = super().get_route_handler(), terms_of(self.endpoint)

        async def handle(request: Request) -> Response:
            house = house_of(request)
            if terms.act is None:
                return await inner(request)  # nor counted: it must answer without the database
            principal = await _enter(house, request, terms.act)
            request.state.principal = principal
            if request.method in READS:
                return etags.conditional(request, await inner(request))
            return await _change(house, request, inner, terms, principal)

        return handle


async def _enter(house: ApiContext, request: Request, act: Act) -> Principal:
    """Who is known and may; strangers are counted by their address."""
    try:
        principal = await identify(house, request)
    except UnauthenticatedError:
        await _charge(house, request, _address_key(request), house.limits.unknown)
        raise
    try:
        await _charge(house, request, f"api:{principal.actor}", house.limits.known)
    except asyncpg.DiskFullError:
        if request.method not in READS:  # of members, these are answered uncounted
            raise
    return authorise(principal, act)


def _address_key(request: Request) -> str:
    return ratelimits.key_of_address("api", origin_of(request).address)


async def _charge(house: ApiContext, request: Request, key: str, limit: Limit) -> None:
    allowance = await ratelimits.take(house.database, key, limit)
    request.scope["messor.headers"] = {
        "RateLimit-Limit": str(allowance.limit),
        "RateLimit-Remaining": str(allowance.remaining),
        "RateLimit-Reset": str(allowance.reset_after),
    }
    allowance.require()


async def _change(
    house: ApiContext, request: Request, inner: Handler, terms: RouteTerms, principal: Principal
) -> Response:
    """One request, one transaction; with a key of the caller's, done once."""
    asked = KeyedRequest.of(request, principal.actor, await request.body())
    keep_body = not terms.tells_secret
    if terms.own_transactions:
        return await idempotency.beside(
            house.database, asked, lambda: inner(request), keep_body=keep_body
        )
    for attempt in range(TRIES):
        try:
            async with house.database.transaction() as connection:
                request.state.connection = connection
                return await idempotency.within(
                    connection, asked, lambda: inner(request), keep_body=keep_body
                )
        except MET_ANOTHER:  # it was rolled back whole
            if attempt == TRIES - 1:
                raise
    raise AssertionError("the last try answers or raises")


def _refusals(terms: RouteTerms, methods: set[str]) -> dict[int | str, dict[str, Any]]:
    """The problems a route may answer, for the document."""
    statuses = _OF_EVERYBODY if terms.act is None else _ALWAYS
    if terms.act is not None and not methods & READS:
        statuses = (*statuses, *_ON_CHANGE)
    refusals: dict[int | str, dict[str, Any]] = {
        status: {"model": Problem, "description": "A problem (RFC 9457)"} for status in statuses
    }
    if terms.act is not None and methods & READS:
        refusals[304] = {"description": "It is as the caller knows it (If-None-Match)"}
    return refusals


def _declared(terms: RouteTerms, methods: set[str]) -> dict[str, Any]:
    if terms.act is None:
        return {"security": [], "x-messor-act": "public"}
    parameters = []
    if not methods & READS:
        parameters.append(_header("Idempotency-Key", idempotency.ABOUT, r"^[!-~]{1,255}$"))
        parameters.append(_header(CSRF_HEADER, "Asked of callers with a session's cookie", None))
    if terms.precondition:
        parameters.append(_header("If-Match", "The ETag of what the caller saw", None))
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
