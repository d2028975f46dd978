"""Full-text search over pages and records, with facets and highlighted matches."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import FullTextDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import Cursor
from messor.api.models.base import NO_NUL
from messor.api.models.extraction import FacetsOut, FoundOut, HitOut
from messor.api.routes.domains import name_of
from messor.insight.full_text import FullText
from messor.insight.search import MOST, SearchFilters

router = APIRouter(prefix="/search", tags=["search"], route_class=GatedRoute)

Question = Annotated[
    str,
    Query(
        min_length=1,
        max_length=500,
        pattern=NO_NUL,
        description='Words, "a phrase", -excluded, this OR that, prefix*',
    ),
]
Few = Annotated[int, Query(ge=1, le=MOST, description="Maximum items per response")]
Word = Annotated[str, Query(min_length=1, max_length=300, pattern=NO_NUL)]
Several = Annotated[list[Word] | None, Query(max_length=50, description="Match any of these")]
Amount = Annotated[float | None, Query(ge=0, le=1e12, allow_inf_nan=False)]


@router.get("")
@needs(Act.READ)
async def search(
    q: Question,
    full_text: FullTextDep,
    *,
    kind: Several = None,
    domain: Several = None,
    brand: Several = None,
    category: Several = None,
    availability: Several = None,
    min_price: Amount = None,
    max_price: Amount = None,
    currency: Annotated[str | None, Query(pattern=r"^[A-Z]{3}$")] = None,
    min_rating: Annotated[float | None, Query(ge=0, le=5)] = None,
    min_confidence: Annotated[float | None, Query(ge=0, le=1, description="Of records")] = None,
    facets: Annotated[bool, Query(description="Include counts per facet")] = False,
    cursor: Cursor = None,
    limit: Few = 20,
) -> FoundOut:
    """Search pages and records, best first, with matches marked."""
    filters = SearchFilters(
        tuple(kind or ()),
        tuple(name_of(each) for each in domain or ()),
        tuple(brand or ()),
        tuple(category or ()),
        tuple(availability or ()),
        exact(min_price),
        exact(max_price),
        currency,
        exact(min_rating),
        exact(min_confidence),
    )
    return await answer(full_text, q, filters, with_facets=facets, cursor=cursor, limit=limit)


async def answer(
    full_text: FullText,
    question: str,
    filters: SearchFilters,
    *,
    with_facets: bool,
    cursor: str | None,
    limit: int,
) -> FoundOut:
    """One page of search results."""
    found = await full_text.search(question, filters, after=cursor, limit=limit)
    counted = await full_text.facets(question, filters) if with_facets else None
    return FoundOut(
        items=[HitOut.model_validate(hit) for hit in found.hits],
        next=found.next,
        answered_by=found.answered_by,
        notice=found.notice,
        facets=None if counted is None else FacetsOut.model_validate(counted),
    )


def exact(number: float | None) -> Decimal | None:
    """A decimal without binary rounding."""
    return None if number is None else Decimal(str(number))
