"""Result pages, and the visibility of domains and organisations."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import DatabaseDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import DomainName
from messor.api.models.discovery import VerticalName
from messor.api.models.serps import DomainVisibilityOut, SpanOut, VisibilityOut
from messor.api.routes.domains import name_of
from messor.insight import ranks, trends, visibility
from messor.insight.trends import VisibilitySpan
from messor.insight.visibility import TimeSpan
from messor.scout import serp_queries
from messor.scout.serp_queries import SERPS, Serp, SerpDetails, SerpFilter
from messor.store.listing import ListPage
from messor.verticals import verticals

router = APIRouter(tags=["result pages"], route_class=GatedRoute)

SHOWN = 200
Days = Annotated[int, Query(ge=1, le=366, description="Length in days of the window ending now")]


@router.get("/serps")
@needs(Act.READ)
async def list_serps(
    database: DatabaseDep, asked: Annotated[ListRequest[Serp, SerpFilter], list_request(SERPS)]
) -> ListPage[Serp]:
    """List result pages and gaps, filtered and ordered."""
    return await asked.read(database)


@router.get("/serps/{serp_id}")
@needs(Act.READ)
async def show_serp(serp_id: UUID, database: DatabaseDep) -> SerpDetails:
    """Get a result page; a gap has a reason and no results."""
    return await serp_queries.get(database, serp_id)


@router.get("/verticals/{vertical}/visibility")
@needs(Act.READ)
async def show_visibility(
    vertical: VerticalName, database: DatabaseDep, days: Days = 7
) -> VisibilityOut:
    """Visibility of domains, with the largest gains and losses since the previous window."""
    async with database.transaction() as connection:
        applied = await verticals.get(connection, vertical)
        window = await visibility.last_window(connection, timedelta(days=days))
        pages = await serp_queries.tally(connection, applied, window.since, window.until)
        domains = await visibility.of_domains(connection, applied, window)
        owners = await visibility.of_organisations(connection, applied, window)
        moved = await visibility.movers(connection, applied, window)
    return VisibilityOut(
        since=window.since,
        until=window.until,
        pages=pages,
        domains=domains[:SHOWN],
        organisations=owners[:SHOWN],
        movers=moved,
    )


@router.get("/verticals/{vertical}/visibility/{domain}")
@needs(Act.READ)
async def show_domain_visibility(
    vertical: VerticalName, domain: DomainName, database: DatabaseDep, days: Days = 28
) -> DomainVisibilityOut:
    """Get a domain: weekly visibility, ranks, losses with the ranked page, and competitors."""
    name = name_of(domain)
    async with database.transaction() as connection:
        applied = await verticals.get(connection, vertical)
        window = await visibility.last_window(connection, timedelta(days=days))
        weeks = trends.spans(window.until)
        stood = await trends.places(connection, applied, weeks, name)
        standing = await trends.standing(connection, applied, window, name, SHOWN)
        losses = await ranks.losses(connection, applied, window, name)
        beside = await visibility.competitors(connection, applied, window, [name])
    return DomainVisibilityOut(
        domain=name,
        since=window.since,
        until=window.until,
        weeks=[_span(span, one) for span, one in zip(weeks, stood, strict=True)],
        standing=standing,
        losses=losses,
        competitors=beside,
    )


def _span(span: TimeSpan, one: VisibilitySpan | None) -> SpanOut:
    """One week; without a complete result page all values are null, not zero."""
    figures = asdict(one) if one is not None else dict.fromkeys(VisibilitySpan.__dataclass_fields__)
    return SpanOut(since=span.since, until=span.until, **figures)
