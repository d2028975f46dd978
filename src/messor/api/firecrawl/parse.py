"""Files: what a document or a saved page says, in the forms of a scrape."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from messor.access.roles import Act
from messor.api.firecrawl.answers import answer
from messor.api.firecrawl.options import ScrapeOptionsIn
from messor.api.firecrawl.route import FirecrawlRoute, ServicesDep
from messor.api.gate import needs
from messor.core.ids import new_id
from messor.errors import UsageError
from messor.scrape.documents import Shape
from messor.scrape.refusals import FormatUnavailableError, OptionRefusedError
from messor.scrape.uploads import EXTENSIONS, ParsedFile
from messor.store.listing import fault_of

router = APIRouter(route_class=FirecrawlRoute)

MOST_OPTIONS = 100_000  # bytes
PATH = "/v2/parse"


@router.post(PATH)
@needs(Act.INGEST_RUN, own_transactions=True)
async def parse(request: Request, services: ServicesDep) -> Response:
    """Read a file in the sandbox; nothing of it is kept."""
    try:
        async with request.form(max_files=1, max_fields=5, max_part_size=MOST_OPTIONS) as form:
            given, file = form.get("options"), form.get("file")
            if not isinstance(file, UploadFile):
                raise UsageError("Send multipart/form-data with the file in the field file.")
            name, content_type, body = file.filename, file.content_type, await file.read()
    except HTTPException as error:
        raise UsageError(f"Send multipart/form-data with a file: {error.detail}") from error
    options = _options(given)
    warnings, shape = options.check(), _shape(options)
    name = (name or "upload")[:300]
    if not body:
        raise UsageError(f"{name[:100]!r} is empty.")
    made = await services.files.read(body, name, content_type, shape)
    return answer({"success": True, "data": _document(made, name, warnings)})


def _options(given: Any) -> ScrapeOptionsIn:
    if given is None:
        return ScrapeOptionsIn.model_validate({})
    try:
        return ScrapeOptionsIn.model_validate(msgspec.json.decode(str(given)))
    except msgspec.DecodeError as error:
        raise UsageError(f"options is not JSON: {error}") from error
    except ValidationError as error:
        raise UsageError(f"options: {fault_of(error)}") from error


def _shape(options: ScrapeOptionsIn) -> Shape:
    shape = options.shape()
    if "changeTracking" in shape.formats:
        raise FormatUnavailableError("The format changeTracking: a file has no earlier version.")
    if options.lockdown or options.min_age is not None:
        raise OptionRefusedError("lockdown, minAge: files are not archived.")
    return shape


def _document(made: ParsedFile, name: str, warnings: list[str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "title": made.title,
        "sourceURL": name,
        "statusCode": 200,
        "contentType": made.content_type,
        "proxyUsed": "basic",
        "creditsUsed": 0,
        "scrapeId": str(new_id()),
    }
    if made.pages is not None:
        metadata |= {"numPages": made.pages, "totalPages": made.pages}
    told = [*warnings, *made.warnings]
    return {**made.parts, "metadata": metadata} | ({"warning": " ".join(told)} if told else {})


@router.get("/v2/parse/formats")
@needs(Act.READ)
async def list_formats() -> Response:
    """The files that are read."""
    formats = [
        {"format": str(name), "kind": "document", "extensions": list(endings),
         "mimeTypes": list(types), "available": True}
        for name, (endings, types) in EXTENSIONS.items()
    ]  # fmt: skip
    return answer({"success": True, "data": {"formats": formats}})
