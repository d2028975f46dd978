"""Single pages: scrape and extract; a site's pages: map; and search."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import Response

from messor.access.principal import Principal
from messor.access.roles import Act
from messor.api.context import PrincipalDep
from messor.api.firecrawl.answers import answer, base_of
from messor.api.firecrawl.options import (
    ExtractIn,
    MapIn,
    ScrapeIn,
    ScrapeOptionsIn,
    SearchIn,
    address,
)
from messor.api.firecrawl.route import FirecrawlRoute, ServicesDep
from messor.api.gate import needs
from messor.core.ids import new_id
from messor.errors import NotFoundError, UsageError
from messor.insight.search import Hit
from messor.scrape.documents import Shape
from messor.scrape.pages import TWO_DAYS, WantedPage
from messor.scrape.refusals import FormatUnavailableError, ScrapeRefusedError
from messor.scrape.services import ScrapeServices
from messor.scrape.shown import shown
from messor.scrape.site_map import MapWish

router = APIRouter(route_class=FirecrawlRoute)
NEWS = ("news", "images")


@router.post("/v2/scrape")
@needs(Act.INGEST_RUN, own_transactions=True)
async def scrape(
    given: ScrapeIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """One page: from the archive if it is recent enough there, else by a worker."""
    return await _scrape(given, request, services, principal, max_age=TWO_DAYS)


@router.post("/v1/scrape")
@needs(Act.INGEST_RUN, own_transactions=True)
async def scrape_v1(
    given: ScrapeIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """The same, as version 1 has it: fetched unless an age is given."""
    return await _scrape(given, request, services, principal, max_age=0.0)


async def _scrape(
    given: ScrapeIn,
    request: Request,
    services: ScrapeServices,
    principal: Principal,
    *,
    max_age: float,
) -> Response:
    warnings, shape = given.check(), given.shape()
    wanted = given.wanted(max_age=max_age)
    caller = await services.caller(principal, given.on_behalf_of)
    found = await services.scraper.give(caller, wanted)
    made = await services.maker.make(found.page, shape)
    body = shown(
        made,
        base_of(request),
        asked=given.url,
        cached=found.is_cached,
        scrape_id=str(found.job_id or new_id()),
        warnings=warnings,
    )
    return answer({"success": True, "data": body})


@router.post("/v2/map")
@needs(Act.INGEST_RUN, own_transactions=True)
async def map_site(given: MapIn, services: ServicesDep, principal: PrincipalDep) -> Response:
    """The known pages of a site."""
    return answer({"success": True, "links": await _map(given, services, principal)})


@router.post("/v1/map")
@needs(Act.INGEST_RUN, own_transactions=True)
async def map_site_v1(given: MapIn, services: ServicesDep, principal: PrincipalDep) -> Response:
    """The same, as version 1 has it: URLs alone."""
    links = await _map(given, services, principal)
    return answer({"success": True, "links": [link["url"] for link in links]})


async def _map(
    given: MapIn, services: ScrapeServices, principal: Principal
) -> list[dict[str, str]]:
    if given.sitemap not in (None, "include", "skip", "only"):
        raise UsageError("sitemap is include, skip or only.")
    wish = MapWish(
        given.search or None,
        given.include_subdomains is not False,
        bool(given.ignore_query_parameters),
        given.sitemap or "include",
        given.limit or 5_000,
    )
    on_behalf_of = given.audit_metadata.username if given.audit_metadata else None
    caller = await services.caller(principal, on_behalf_of)
    found = await services.map(caller, address(given.url), wish)
    return [
        {"url": page.url}
        | ({"title": page.title} if page.title else {})
        | ({"description": page.description} if page.description else {})
        for page in found
    ]


@router.post("/v2/search")
@needs(Act.READ, own_transactions=True)
async def search(
    given: SearchIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Search in what is archived; the web itself is searched by discovery sessions."""
    web = await _search(given, request, services, principal)
    data: dict[str, Any] = {"web": web}
    for source in given.sources or ():
        name = source if isinstance(source, str) else str(source.get("type"))
        if name in NEWS:
            data[name] = []
    return answer({"success": True, "data": data, "creditsUsed": len(web)})


@router.post("/v1/search")
@needs(Act.READ, own_transactions=True)
async def search_v1(
    given: SearchIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """The same, as version 1 has it: a list."""
    return answer({"success": True, "data": await _search(given, request, services, principal)})


async def _search(
    given: SearchIn, request: Request, services: ScrapeServices, principal: Principal
) -> list[dict[str, Any]]:
    caller = await services.caller(principal)
    hits = await services.search(caller, given.query, given.limit or 5)
    shape = _asked_shape(given.scrape_options)
    if shape is None:
        return [_hit(hit, at) for at, hit in enumerate(hits, 1)]
    made = await services.of_snapshots(caller, [hit.snapshot_id for hit in hits], shape)
    base = base_of(request)
    return [
        _hit(hit, at) | shown(made[hit.snapshot_id], base, cached=True)
        for at, hit in enumerate(hits, 1)
        if hit.snapshot_id in made
    ]


def _asked_shape(options: ScrapeOptionsIn | None) -> Shape | None:
    if options is None or not options.formats:
        return None
    options.check()
    return options.shape()


def _hit(hit: Hit, position: int) -> dict[str, Any]:
    description = " … ".join(fragment.text for fragment in hit.fragments)
    return {
        "url": hit.url,
        "title": hit.title or hit.url,
        "description": description,
        "position": position,
    }


@router.post("/v2/extract")
@needs(Act.INGEST_RUN, own_transactions=True)
async def extract(given: ExtractIn, services: ServicesDep, principal: PrincipalDep) -> Response:
    """Values of pages by a schema, from the records that they state; done when it answers."""
    return await _extract(given, services, principal)


@router.post("/v1/extract")
@needs(Act.INGEST_RUN, own_transactions=True)
async def extract_v1(given: ExtractIn, services: ServicesDep, principal: PrincipalDep) -> Response:
    """The same for version 1."""
    return await _extract(given, services, principal)


async def _extract(given: ExtractIn, services: ScrapeServices, principal: Principal) -> Response:
    if given.schema_ is None:
        raise FormatUnavailableError(
            "extract with a prompt alone needs a model; give a schema, which is filled from what "
            "the pages state."
        )
    caller = await services.caller(principal)
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
    if not values and refused:
        raise FormatUnavailableError(" ".join(refused))
    body: dict[str, Any] = {
        "success": True,
        "id": str(new_id()),
        "status": "completed",
        "data": values,
        "sources": sources,
        "expiresAt": None,
    }
    if refused:
        body["warning"] = " ".join(refused)
    return answer(body)


@router.get("/v2/extract/{job_id}")
@needs(Act.READ)
async def show_extract(job_id: UUID) -> Response:
    """Extractions are answered at once, so none is ever pending."""
    raise NotFoundError(f"The extraction {job_id} was answered when it was asked for.")
