"""Answers and errors in Firecrawl's form."""

from __future__ import annotations

from typing import Any

import asyncpg
import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from messor import errors
from messor.access.errors import ThrottledError
from messor.api import problems
from messor.api.context import context_of
from messor.core.masking import mask
from messor.runtime.server.hosts import link_base
from messor.scrape.refusals import ApprovalNeededError, ScrapeRefusedError, StillWaitingError
from messor.store.database import LOST_CONNECTION, TRY_AGAIN

_encode = msgspec.json.Encoder().encode

CODES = {401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 409: "CONFLICT",
         422: "BAD_REQUEST", 429: "RATE_LIMITED", 503: "UNAVAILABLE"}  # fmt: skip


def answer(body: dict[str, Any], status: int = 200, **headers: str) -> Response:
    return Response(_encode(body), status, media_type="application/json", headers=headers)


def base_of(request: Request) -> str:
    """The base of absolute links, as the caller reaches this server."""
    return link_base(context_of(request).settings, request)


def install(app: FastAPI) -> None:
    """Register the exception handlers."""
    app.add_exception_handler(errors.MessorError, _on_messor_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http_error)
    for kind in (*TRY_AGAIN, *LOST_CONNECTION):
        app.add_exception_handler(kind, _on_database_away)
    app.add_exception_handler(asyncpg.DataError, _on_bad_data)


def failed(
    status: int,
    code: str,
    error: str,
    details: dict[str, Any] | None = None,
    *,
    retry_after: int | None = None,
) -> Response:
    body: dict[str, Any] = {"success": False, "error": mask(error), "code": code}
    if details is not None:
        body["details"] = details
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return answer(body, status, **headers)


async def _on_messor_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.MessorError)
    if isinstance(error, StillWaitingError):
        details = {"state": "processing_continues", "retryAfterSeconds": error.retry_after}
        return failed(error.status, error.code, str(error), details, retry_after=error.retry_after)
    if isinstance(error, ApprovalNeededError):
        link = f"{base_of(request)}/review/{error.domain}"
        details = {"state": "approval_needed", "domain": error.domain, "link": link}
        return failed(error.status, error.code, f"{error} It is decided at {link}", details)
    if isinstance(error, ScrapeRefusedError):
        return failed(error.status, error.code, str(error))
    if isinstance(error, ThrottledError):
        return failed(429, "RATE_LIMITED", str(error), retry_after=error.retry_after)
    status = problems.status_of(error)
    if status is None:
        return problems.unexpected(request, error)
    if status == 422:
        status = 400
    return failed(status, CODES.get(status, error.code.upper()), str(error))


async def _on_invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [
        {"path": [str(part)[:100] for part in one["loc"][1:]], "message": str(one["msg"])[:300]}
        for one in error.errors()[:20]
    ]
    first = faults[0] if faults else {"path": [], "message": "invalid"}
    place = ".".join(first["path"]) or "body"
    body = {
        "success": False,
        "code": "BAD_REQUEST",
        "error": f"{place}: {first['message']}",
        "details": faults,
    }
    return answer(body, 400)


async def _on_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = {
        404: "Messor does not offer this path of Firecrawl's API.",
        405: "Method not allowed.",
    }.get(error.status_code, str(error.detail))
    return failed(error.status_code, CODES.get(error.status_code, "REFUSED"), told)


async def _on_database_away(_: Request, error: Exception) -> Response:
    busy = isinstance(error, TRY_AGAIN)
    told = "The database is busy; retry in a moment." if busy else "The database is unreachable."
    return failed(503, "UNAVAILABLE", told, retry_after=5)


async def _on_bad_data(_: Request, __: Exception) -> Response:
    return failed(400, "BAD_REQUEST", "The request contains a value that cannot be stored.")
