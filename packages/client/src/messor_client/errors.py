"""Errors of the client: every problem that the API returns, and the ways not to reach it.

ClientError
├── UnreachableError            no response: connection, TLS, time-out
├── ExportFailedError           an export ended without a file
└── ApiError                    a problem (RFC 9457), with its `code`, `status` and `request_id`
    ├── InvalidRequestError     400, 413, 422
    ├── UnauthenticatedError    401
    ├── ForbiddenError          403
    ├── NotFoundError           404
    │   └── CursorExpiredError  410: read the lists anew
    ├── ConflictError           409
    │   ├── NeedsApprovalError  the domain must be approved first
    │   └── TrafficHaltedError  all traffic to sites is halted
    ├── ChangedError            412: the object has changed since it was read
    ├── RateLimitedError        429, after the retries
    ├── UnavailableError        503, after the retries
    └── ServerError             other 5xx
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    """Base class of all errors."""


class UnreachableError(ClientError):
    """No response came."""


class ExportFailedError(ClientError):
    """An export failed or was cancelled."""


class ApiError(ClientError):
    """The API refused; `str(error)` says what is wrong and what to do."""

    def __init__(
        self, status: int, problem: Mapping[str, Any], retry_after: float | None = None
    ) -> None:
        super().__init__(str(problem.get("detail") or f"The server returned {status}."))
        self.status = status
        self.code = str(problem.get("code", "unknown"))
        self.request_id = str(problem.get("request_id", "-"))
        self.retryable = bool(problem.get("retryable", False))
        self.errors: list[dict[str, Any]] = list(problem.get("errors") or ())
        self.evidence: dict[str, Any] | None = problem.get("evidence")
        self.retry_after = retry_after  # seconds


class InvalidRequestError(ApiError):
    pass


class UnauthenticatedError(ApiError):
    pass


class ForbiddenError(ApiError):
    pass


class NotFoundError(ApiError):
    pass


class CursorExpiredError(NotFoundError):
    pass


class ConflictError(ApiError):
    pass


class NeedsApprovalError(ConflictError):
    pass


class TrafficHaltedError(ConflictError):
    pass


class ChangedError(ApiError):
    pass


class RateLimitedError(ApiError):
    pass


class UnavailableError(ApiError):
    pass


class ServerError(ApiError):
    pass


_BY_CODE: Mapping[str, type[ApiError]] = {
    "cursor_expired": CursorExpiredError,
    "needs_approval": NeedsApprovalError,
    "traffic_halted": TrafficHaltedError,
}
_BY_STATUS: Mapping[int, type[ApiError]] = {
    400: InvalidRequestError,
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    412: ChangedError,
    413: InvalidRequestError,
    422: InvalidRequestError,
    429: RateLimitedError,
    503: UnavailableError,
}


def error_of(status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> ApiError:
    """The error of a response: by its code if that has a class, else by its status."""
    by_status = _BY_STATUS.get(status, ServerError if status >= 500 else ApiError)
    kind = _BY_CODE.get(str(problem.get("code")), by_status)
    return kind(status, problem, retry_after)
