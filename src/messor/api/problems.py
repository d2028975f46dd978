"""Problem details (RFC 9457): every API error in one format, with a stable code.

One table maps errors to statuses. Anything else is an internal error: the response contains only
the request ID, under which the log has the details.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import asyncpg
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from messor import errors
from messor.access import errors as access
from messor.core.full_disk import is_full
from messor.core.logs import room_logger
from messor.store.database import LOST_CONNECTION, TRY_AGAIN

logger = room_logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
_MAX_FAULTS = 50


class PreconditionError(errors.MessorError):
    """The resource has changed since the caller read it."""

    code = "precondition_failed"


class KeyReusedError(errors.MessorError):
    """An idempotency key already used for a different request."""

    code = "idempotency_key_reused"


class TooLargeError(errors.MessorError):
    code = "too_large"


# The closest base class in the MRO applies.
STATUSES: Mapping[type[Exception], int] = {
    errors.UsageError: 422,
    errors.PartiallyRefusedError: 422,
    errors.NotFoundError: 404,
    errors.CursorExpiredError: 410,
    errors.ConflictError: 409,
    errors.UnavailableError: 503,
    errors.NoPagesError: 502,
    errors.LeaseLostError: 409,
    access.UnauthenticatedError: 401,
    access.ForbiddenError: 403,
    access.ThrottledError: 429,
    PreconditionError: 412,
    KeyReusedError: 422,
    TooLargeError: 413,
}

# Codes of errors raised by the framework.
CODES: Mapping[int, str] = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid",
}


class FieldFault(BaseModel):
    """One invalid part of a request."""

    where: list[str | int] = Field(description="For example ['body', 'url'] or ['query', 'limit']")
    code: str
    message: str


class Problem(BaseModel):
    """An error response (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="Identifies the kind of problem")
    title: str
    status: int
    detail: str
    code: str = Field(description="Stable, machine-readable code")
    instance: str = Field(description="The requested path")
    request_id: str
    retryable: bool = Field(description="Whether the same request may succeed later")
    errors: list[FieldFault] | None = None
    evidence: dict[str, Any] | None = None


def status_of(error: Exception) -> int | None:
    """The HTTP status of an error; None for internal errors."""
    for kind in type(error).__mro__:
        if kind in STATUSES:
            return STATUSES[kind]
    return None


def install(app: FastAPI) -> None:
    """Register the exception handlers."""
    app.add_exception_handler(errors.MessorError, _on_messor_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http_error)
    for kind in (*TRY_AGAIN, *LOST_CONNECTION):
        app.add_exception_handler(kind, _on_database_away)
    app.add_exception_handler(asyncpg.DataError, _on_bad_data)
    app.add_exception_handler(asyncpg.IntegrityConstraintViolationError, _on_forbidden_row)


def problem(
    request: Request,
    status: int,
    code: str,
    detail: str,
    *,
    retryable: bool = False,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """Build a problem response."""
    body = {
        "type": f"urn:messor:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        "instance": request.url.path,
        "request_id": request_id(request),
        "retryable": retryable,
        **more,
    }
    return JSONResponse(body, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def request_id(request: Request) -> str:
    known: str = request.scope.get("messor.request_id", "-")
    return known


def unexpected(request: Request, error: Exception) -> Response:
    """An internal error: the caller gets the request ID, the log the details."""
    logger.error("Request %s failed", request_id(request), exc_info=error)
    detail = "Internal error; the log has the details under this request_id."
    return problem(request, 500, "internal", detail)


async def _on_messor_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, errors.MessorError)
    status = status_of(error)
    if status is None:
        return unexpected(request, error)
    headers: dict[str, str] = {}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="messor"'
    if isinstance(error, access.ThrottledError):
        headers["Retry-After"] = str(error.retry_after)
    elif status == 503:
        headers["Retry-After"] = str(RETRY_SECONDS)
    more: dict[str, Any] = {}
    evidence = getattr(request.state, "evidence", None)  # of a run that had started
    if evidence is not None:
        more["evidence"] = evidence
    return problem(
        request, status, error.code, str(error), retryable=error.retryable, headers=headers, **more
    )


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = _faults(error.errors())
    first = faults[0] if faults else None
    detail = f"{_place(first.where)}: {first.message}" if first else "The request is invalid."
    shown = [fault.model_dump() for fault in faults[:_MAX_FAULTS]]
    return problem(request, 422, "invalid", detail, errors=shown)


def _faults(found: Sequence[Any]) -> list[FieldFault]:
    """Validation errors without the input values, which may be misplaced secrets."""
    return [
        FieldFault(
            where=[part if isinstance(part, int) else _encodable(part) for part in one["loc"]],
            code=one["type"],
            message=_encodable(one["msg"]),
        )
        for one in found
    ]


def _encodable(text: Any) -> str:
    return str(text)[:300].encode("utf-8", "replace").decode()


def _place(where: Sequence[str | int]) -> str:
    return ".".join(map(str, where)) or "request"


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, "refused")
    detail = {
        404: "No such resource.",
        405: "Method not allowed; see the Allow header.",
        400: "The request is malformed.",
    }.get(error.status_code, str(error.detail))
    return problem(request, error.status_code, code, detail, headers=error.headers)


async def _on_database_away(request: Request, error: Exception) -> Response:
    busy = isinstance(error, TRY_AGAIN)
    code = "busy" if busy else "database_unavailable"
    detail = "The database is unreachable; retry in a moment."
    if busy:
        detail = (
            "Conflict with a concurrent request or crawl; nothing was changed. Retry the request."
        )
    elif is_full(error):
        detail = "The database's disk is full; nothing was changed. Free some space, then retry."
    logger.warning("Request %s failed with %s", request_id(request), type(error).__name__)
    headers = {"Retry-After": str(RETRY_SECONDS)}
    return problem(request, 503, code, detail, retryable=True, headers=headers)


async def _on_bad_data(request: Request, error: Exception) -> Response:
    logger.warning("Request %s contained bad data: %s", request_id(request), type(error).__name__)
    return problem(request, 422, "invalid", "The request contains a value that cannot be stored.")


async def _on_forbidden_row(request: Request, error: Exception) -> Response:
    """Fallback for unhandled constraint violations."""
    name = getattr(error, "constraint_name", None)
    logger.warning("Request %s violated constraint %s", request_id(request), name)
    return problem(request, 409, "conflict", "The change violates a database constraint.")
