"""The OpenAPI 3.1 document: what FastAPI makes of the routes, with our ways in and our problems."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from messor.api.envelope import REQUEST_ID
from messor.api.problems import MEDIA_TYPE

ABOUT = """Messor's API. Send an API key as `Authorization: Bearer messor_…`, or a session's cookie
with the header `X-CSRF-Token` on every change. Lists go on with `cursor`; a POST with an
`Idempotency-Key` is done once; every refusal is a problem (RFC 9457) with a stable `code`."""

_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_HEADERS = {
    REQUEST_ID: {"schema": {"type": "string"}, "description": "The log has it under this id"},
    "RateLimit-Limit": {"schema": {"type": "string"}, "description": "Requests in a window"},
    "RateLimit-Remaining": {"schema": {"type": "string"}, "description": "Of these, still free"},
    "RateLimit-Reset": {"schema": {"type": "string"}, "description": "Seconds until all are free"},
}


def make_document(app: FastAPI, *, cookie: str) -> dict[str, Any]:
    """The document; made once, for it does not change."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version="3.1.0",
        description=ABOUT,
        routes=app.routes,
    )
    document["components"]["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "An API key"},
        "session": {"type": "apiKey", "in": "cookie", "name": cookie},
    }
    for operations in document["paths"].values():
        for operation in operations.values():
            _mend(operation)
    document["components"]["schemas"].pop("HTTPValidationError", None)
    document["components"]["schemas"].pop("ValidationError", None)
    return document


def _mend(operation: dict[str, Any]) -> None:
    """Problems have a media type of their own, and every answer some headers."""
    for response in operation["responses"].values():
        content = response.get("content", {})
        for media_type, shown in list(content.items()):
            if shown.get("schema") == _PROBLEM and media_type != MEDIA_TYPE:
                content[MEDIA_TYPE] = content.pop(media_type)
        is_counted = operation.get("x-messor-act") != "public"
        names = _HEADERS if is_counted else (REQUEST_ID,)
        response["headers"] = {name: _HEADERS[name] for name in names}
