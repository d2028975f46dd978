"""Products: filtered list, search, details and price history."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import DatabaseDep
from messor.api.cursors import CursorParam, Listing, Pager, PageSize, PositiveInt
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import NO_NUL, BigId
from messor.api.models.extraction import (
    FoundOut,
    ImageOut,
    PriceOut,
    ProductOut,
    RecordOut,
    WholeProductOut,
)
from messor.api.routes.domains import name_of
from messor.api.routes.records import Standing
from messor.api.routes.search import Few, Question, answer, exact
from messor.api.routes.tasks import DomainFilter
from messor.insight.search import Filters
from messor.records import product_queries, queries
from messor.records.product_queries import ProductFilter

router = APIRouter(prefix="/products", tags=["products"], route_class=GatedRoute)

Words = Annotated[str | None, Query(min_length=1, max_length=1_000, pattern=NO_NUL)]
Stock = Annotated[str | None, Query(min_length=1, max_length=50, pattern=NO_NUL)]
Currency = Annotated[str | None, Query(pattern=r"^[A-Z]{3}$", description="For example EUR")]
Amount = Annotated[float | None, Query(ge=0, le=1e12, allow_inf_nan=False)]
Stars = Annotated[float | None, Query(ge=0, le=5)]
Order = Literal["newest", "changed", "price", "price_falling", "rating"]


@router.get("")
@needs(Act.READ)
async def list_products(
    database: DatabaseDep,
    *,
    domain: DomainFilter = None,
    brand: Annotated[Words, Query(description="Exact, as written on the page")] = None,
    category: Annotated[Words, Query(description="Exact, as written on the page")] = None,
    availability: Annotated[Stock, Query(description="in_stock, out_of_stock …")] = None,
    price_from: Amount = None,
    price_to: Amount = None,
    currency: Currency = None,
    rating_from: Stars = None,
    state: Standing = "current",
    sort: Annotated[
        Order, Query(description="Ordering by a value lists only products that state it")
    ] = "newest",
    cursor: CursorParam = None,
    limit: PageSize = 20,
) -> Listing[ProductOut]:
    """List products, filtered and ordered; a page may be short although more follow."""
    wanted = ProductFilter(
        name_of(domain) if domain else None,
        brand,
        category,
        availability,
        exact(price_from),
        exact(price_to),
        currency,
        exact(rating_from),
        None if state == "all" else state,
    )
    pager = Pager("products", wanted, sort)
    after = pager.read(cursor, tuple[str, PositiveInt])
    found = await product_queries.products(database, wanted, order=sort, after=after, limit=limit)
    return Listing(
        items=[ProductOut.model_validate(row) for row in found.products],
        next=None if found.reached is None else pager.write(found.reached),
    )


@router.get("/search")
@needs(Act.READ)
async def search_products(
    q: Question,
    database: DatabaseDep,
    *,
    domain: DomainFilter = None,
    brand: Words = None,
    category: Words = None,
    availability: Stock = None,
    price_from: Amount = None,
    price_to: Amount = None,
    currency: Currency = None,
    rating_from: Stars = None,
    facets: Annotated[bool, Query(description="Include counts per facet")] = False,
    cursor: CursorParam = None,
    limit: Few = 20,
) -> FoundOut:
    """Search products by name and description, best first."""
    filters = Filters(
        ("product",),
        (name_of(domain),) if domain else (),
        (brand,) if brand else (),
        (category,) if category else (),
        (availability,) if availability else (),
        exact(price_from),
        exact(price_to),
        currency,
        exact(rating_from),
    )
    return await answer(database, q, filters, with_facets=facets, cursor=cursor, limit=limit)


@router.get("/{product_id}")
@needs(Act.READ)
async def show_product(product_id: BigId, database: DatabaseDep) -> WholeProductOut:
    """Get a product with images, offers and variants; its record has the evidence."""
    found = await product_queries.product(database, product_id)
    parts = await queries.parts(database, found.page_id, ("product_offer", "product_variant"))
    images = await product_queries.images(database, found.id)
    values = {name: getattr(found, name) for name in ProductOut.model_fields}
    return WholeProductOut(
        **values,
        description=found.description,
        metadata=found.metadata,
        images=[ImageOut.model_validate(one) for one in images],
        offers=[RecordOut.model_validate(one) for one in parts if one.kind == "product_offer"],
        variants=[RecordOut.model_validate(one) for one in parts if one.kind == "product_variant"],
    )


@router.get("/{product_id}/prices")
@needs(Act.READ)
async def list_prices(
    product_id: BigId, database: DatabaseDep, *, cursor: CursorParam = None, limit: PageSize = 50
) -> Listing[PriceOut]:
    """List the price history, newest first: one row per change of price or availability."""
    await product_queries.product(database, product_id)
    pager = Pager("prices", product_id)
    before = pager.read(cursor, datetime)
    rows = await product_queries.prices(database, product_id, before=before, limit=limit + 1)
    return Listing(
        items=[PriceOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: row.seen_at),
    )
