"""Values of pages by a schema, from the records that the pages state; done when it answers."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from messor.access.principal import Principal
from messor.access.roles import Act
from messor.api.context import PrincipalDep
from messor.api.firecrawl.answers import answer
from messor.api.firecrawl.hooks import sealed_hook
from messor.api.firecrawl.options import ExtractIn, address
from messor.api.firecrawl.route import FirecrawlRoute, ServicesDep
from messor.api.gate import needs
from messor.scrape import jobs
from messor.scrape.caller import Caller
from messor.scrape.documents import Shape
from messor.scrape.pages import WantedPage
from messor.scrape.refusals import FormatUnavailableError, ScrapeRefusedError
from messor.scrape.services import ScrapeServices

router = APIRouter(route_class=FirecrawlRoute)


@router.post("/v2/extract")
@needs(Act.INGEST_RUN, own_transactions=True)
async def extract(
    given: ExtractIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Values of pages by a schema."""
    return await _extract(given, request, services, principal)


@router.post("/v1/extract")
@needs(Act.INGEST_RUN, own_transactions=True)
async def extract_v1(
    given: ExtractIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """The same for version 1."""
    return await _extract(given, request, services, principal)


async def _extract(
    given: ExtractIn, request: Request, services: ScrapeServices, principal: Principal
) -> Response:
    if given.schema_ is None:
        raise FormatUnavailableError(
            "extract with a prompt alone needs a model; give a schema, which is filled from what "
            "the pages state."
        )
    caller = await services.caller(principal)
    hook = await sealed_hook(given.webhook, request, principal)
    result, refused = await _values(given, services, caller)
    if not result["data"] and refused:
        raise FormatUnavailableError(" ".join(refused))
    if refused:
        result["warning"] = " ".join(refused)
    first = address(given.urls[0].removesuffix("/*"))
    job_id = await jobs.keep_extraction(services.database, caller, first, result, hook)
    return answer({"success": True, "id": str(job_id), "status": "completed", **result})


async def _values(
    given: ExtractIn, services: ScrapeServices, caller: Caller
) -> tuple[dict[str, Any], list[str]]:
    """What the pages state, from where, and why some state nothing."""
    shape = Shape(("json",), schema=given.schema_)
    values: dict[str, Any] = {}
    sources: dict[str, list[str]] = {}
    refused: list[str] = []
    for written in given.urls:
        url = address(written.removesuffix("/*"))
        try:
            found = await services.scraper.give(caller, WantedPage(url))
            made = await services.maker.make(found.page, shape)
        except ScrapeRefusedError as error:
            refused.append(f"{url.href}: {error.code}: {error}")
            continue
        for name, value in made.parts["json"].items():
            values.setdefault(name, value)
            sources.setdefault(name, []).append(found.page.url)
    return {"data": values, "sources": sources}, refused


@router.get("/v2/extract/{job_id}")
@needs(Act.READ)
async def show_extract(job_id: UUID, services: ServicesDep, principal: PrincipalDep) -> Response:
    """What was extracted; it was done when it was answered."""
    return await _show(job_id, services, principal)


@router.get("/v1/extract/{job_id}")
@needs(Act.READ)
async def show_extract_v1(job_id: UUID, services: ServicesDep, principal: PrincipalDep) -> Response:
    """The same for version 1."""
    return await _show(job_id, services, principal)


async def _show(job_id: UUID, services: ScrapeServices, principal: Principal) -> Response:
    caller = await services.caller(principal)
    job = await jobs.owned(services.database, caller, job_id, "extract")
    result = await jobs.extraction(services.database, job)
    expires = job.expires_at.isoformat()
    return answer({"success": True, "id": str(job.id), "status": "completed", **result,
                   "expiresAt": expires})  # fmt: skip
