"""Responses sent before any application: a problem document for the API, plain text for people."""

from __future__ import annotations

from http import HTTPStatus

import msgspec
from starlette.responses import Response
from starlette.types import Scope


def refusal(
    scope: Scope, status: int, code: str, sentence: str, *, retry_after: int | None = None
) -> Response:
    """A refusal that says what to do, in the format its caller reads."""
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if retry_after is not None:
        headers["Retry-After"] = str(retry_after)
    if not scope.get("path", "").startswith("/api/"):
        return Response(f"{sentence}\n", status, headers, "text/plain; charset=utf-8")
    problem = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": sentence,
    }
    return Response(msgspec.json.encode(problem), status, headers, "application/problem+json")
