"""Problem details (RFC 9457): every refusal of the API in one form, with a stable code.

One table says which error has which status. What is not in it is a fault of ours: its answer tells
an id and nothing else, and the log has the rest under the same id.
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
_SHOWN_FAULTS = 50


class PreconditionError(errors.MessorError):
    """What the caller saw is no longer so."""

    code = "precondition_failed"


class KeyReusedError(errors.MessorError):
    """An idempotency key that stands for another request."""

    code = "idempotency_key_reused"


class TooLargeError(errors.MessorError):
    code = "too_large"


# The nearest class on the way up counts.
STATUSES: Mapping[type[Exception], int] = {
    errors.UsageError: 422,
    errors.PartiallyRefusedError: 422,
    errors.NotFoundError: 404,
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

# Of refusals that come from the framework, without a class of ours.
CODES: Mapping[int, str] = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid",
}


class FieldFault(BaseModel):
    """One part of a request that was not understood."""

    where: list[str | int] = Field(description="Such as ['body', 'url'] or ['query', 'limit']")
    code: str
    message: str


class Problem(BaseModel):
    """Why a request was refused (RFC 9457)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="A name for this kind of problem")
    title: str
    status: int
    detail: str
    code: str = Field(description="Stable: programs may go by it")
    instance: str = Field(description="The path that was asked for")
    request_id: str
    retryable: bool = Field(description="Whether the same request may succeed later")
    errors: list[FieldFault] | None = None
    evidence: dict[str, Any] | None = None


def status_of(error: Exception) -> int | None:
    """The status of an error; None when it is a fault of ours."""
    for kind in type(error).__mro__:
        if kind in STATUSES:
            return STATUSES[kind]
    return None


def install(app: FastAPI) -> None:
    """Have every refusal answered as a problem."""
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
    """One refusal, as it is sent."""
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
    """A fault of ours: the caller learns its id, the log the rest."""
    logger.error("Request %s failed", request_id(request), exc_info=error)
    detail = "Something went wrong here. The log has it under this request's id."
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
    evidence = getattr(request.state, "evidence", None)  # of a run that had begun
    if evidence is not None:
        more["evidence"] = evidence
    return problem(
        request, status, error.code, str(error), retryable=error.retryable, headers=headers, **more
    )


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = _faults(error.errors())
    first = faults[0] if faults else None
    detail = f"{_place(first.where)}: {first.message}" if first else "The request is not valid."
    shown = [fault.model_dump() for fault in faults[:_SHOWN_FAULTS]]
    return problem(request, 422, "invalid", detail, errors=shown)


def _faults(found: Sequence[Any]) -> list[FieldFault]:
    """What was given is not told again: it may be a secret in the wrong place."""
    return [
        FieldFault(
            where=[part if isinstance(part, int) else _sound(part) for part in one["loc"]],
            code=one["type"],
            message=_sound(one["msg"]),
        )
        for one in found
    ]


def _sound(text: Any) -> str:
    return str(text)[:300].encode("utf-8", "replace").decode()


def _place(where: Sequence[str | int]) -> str:
    return ".".join(map(str, where)) or "request"


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, "refused")
    detail = {
        404: "There is nothing at this address.",
        405: "This method is not offered here; the header Allow says which are.",
        400: "The request could not be read.",
    }.get(error.status_code, str(error.detail))
    return problem(request, error.status_code, code, detail, headers=error.headers)


async def _on_database_away(request: Request, error: Exception) -> Response:
    busy = isinstance(error, TRY_AGAIN)
    code = "busy" if busy else "database_unavailable"
    detail = "The database does not answer. Send the request again in a moment."
    if busy:
        detail = (
            "This met another request or a crawl under way; nothing was changed. Send it again."
        )
    elif is_full(error):
        detail = (
            "The database's disk is full: nothing was changed. Send it again when there is room."
        )
    logger.warning("Request %s met %s", request_id(request), type(error).__name__)
    headers = {"Retry-After": str(RETRY_SECONDS)}
    return problem(request, 503, code, detail, retryable=True, headers=headers)


async def _on_bad_data(request: Request, error: Exception) -> Response:
    logger.warning("Request %s held %s", request_id(request), type(error).__name__)
    return problem(request, 422, "invalid", "The request holds a value that cannot be stored.")


async def _on_forbidden_row(request: Request, error: Exception) -> Response:
    """The last wall: a constraint that no service spoke of before."""
    name = getattr(error, "constraint_name", None)
    logger.warning("Request %s met the constraint %s", request_id(request), name)
    return problem(request, 409, "conflict", "A rule of the database forbids this.")
