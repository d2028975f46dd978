"""Result pages, and the visibility of domains and organisations."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import DatabaseDep
from messor.api.cursors import CursorParam, Listing, Pager, PageSize
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import NO_NUL, DomainName
from messor.api.models.discovery import Outcome, VerticalName
from messor.api.models.serps import (
    CompetitorOut,
    DomainVisibilityOut,
    MovedOut,
    RankLossOut,
    SeenOut,
    SeenResultOut,
    SerpOut,
    SpanOut,
    StandingOut,
    VisibilityOut,
    WholeSerpOut,
)
from messor.api.routes.domains import name_of
from messor.insight import ranks, trends, visibility
from messor.insight.trends import VisibilitySpan
from messor.insight.visibility import TimeSpan
from messor.scout import serp_queries
from messor.verticals import verticals

router = APIRouter(tags=["result pages"], route_class=GatedRoute)

SHOWN = 200
Days = Annotated[int, Query(ge=1, le=366, description="Length in days of the window ending now")]
Part = Annotated[str | None, Query(min_length=1, max_length=200, pattern=NO_NUL)]


@router.get("/verticals/{vertical}/serps")
@needs(Act.READ)
async def list_serps(
    vertical: VerticalName,
    database: DatabaseDep,
    *,
    outcome: Outcome | None = None,
    keyword_id: UUID | None = None,
    q: Part = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[SerpOut]:
    """List result pages and gaps, newest first."""
    applied = await verticals.get(database, vertical)
    pager = Pager("serps", vertical, outcome, keyword_id, q)
    rows = await serp_queries.pages(
        database,
        applied,
        outcome=outcome,
        keyword_id=keyword_id,
        containing=q.lower() if q else None,
        before=pager.read(cursor, tuple[datetime, UUID]),
        limit=limit + 1,
    )
    return Listing(
        items=[SerpOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: (row.captured_at, row.id)),
    )


@router.get("/serps/{serp_id}")
@needs(Act.READ)
async def show_serp(serp_id: UUID, database: DatabaseDep) -> WholeSerpOut:
    """Get a result page; a gap has a reason and no results."""
    found = await serp_queries.get(database, serp_id)
    seen = [] if found.is_gap else await serp_queries.results(database, serp_id)
    facts = {name: getattr(found, name) for name in WholeSerpOut.model_fields if name != "results"}
    return WholeSerpOut(**facts, results=[SeenResultOut.model_validate(one) for one in seen])


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
        domains=[SeenOut.model_validate(one) for one in domains[:SHOWN]],
        organisations=[SeenOut.model_validate(one) for one in owners[:SHOWN]],
        movers=[MovedOut(**asdict(one), change=one.change) for one in moved],
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
        standing=[StandingOut.model_validate(one) for one in standing],
        losses=[RankLossOut.model_validate(one) for one in losses],
        competitors=[CompetitorOut.model_validate(one) for one in beside],
    )


def _span(span: TimeSpan, one: VisibilitySpan | None) -> SpanOut:
    """One week; without a complete result page all values are null, not zero."""
    figures = asdict(one) if one is not None else dict.fromkeys(VisibilitySpan.__dataclass_fields__)
    return SpanOut(since=span.since, until=span.until, **figures)
