"""Single pages: scrape; a site's pages: map; and search."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from messor.access.principal import Principal
from messor.access.roles import Act
from messor.api.context import PrincipalDep
from messor.api.firecrawl.answers import answer, base_of
from messor.api.firecrawl.options import (
    MapIn,
    ScrapeIn,
    ScrapeOptionsIn,
    SearchIn,
    address,
)
from messor.api.firecrawl.route import FirecrawlRoute, ServicesDep
from messor.api.gate import needs
from messor.core.ids import new_id
from messor.errors import UsageError
from messor.insight.search import Hit
from messor.scrape.caller import Caller
from messor.scrape.documents import Shape
from messor.scrape.pages import TWO_DAYS
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
    found = await services.scraper.give(Caller(principal, on_behalf_of=given.on_behalf_of), wanted)
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
    body: dict[str, Any] = {"success": True, "data": data, "creditsUsed": len(web)}
    if given.ignored:
        body["warning"] = f"Ignored: {', '.join(given.ignored)}. What is archived was searched."
    return answer(body)


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
