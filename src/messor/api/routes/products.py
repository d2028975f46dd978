"""Products: filtered list, search, details and price history."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import DatabaseDep, FullTextDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import Cursor, ListRequest, list_request
from messor.api.models.base import NO_NUL, BigId
from messor.api.models.extraction import FoundOut
from messor.api.routes.domains import name_of
from messor.api.routes.search import Few, Question, answer, exact
from messor.api.routes.tasks import DomainFilter
from messor.insight.search import SearchFilters
from messor.records import product_queries
from messor.records.price_queries import (
    PRICE_CHANGES,
    ListedPriceChange,
    PriceChangeFilter,
)
from messor.records.product_queries import (
    PRODUCT_PRICES,
    PRODUCTS,
    FullProduct,
    ObservedPrice,
    PriceFilter,
    Product,
    ProductFilter,
)
from messor.store.listing import ListPage

router = APIRouter(prefix="/products", tags=["products"], route_class=GatedRoute)

Words = Annotated[str | None, Query(min_length=1, max_length=1_000, pattern=NO_NUL)]
Stock = Annotated[str | None, Query(min_length=1, max_length=50, pattern=NO_NUL)]
Currency = Annotated[str | None, Query(pattern=r"^[A-Z]{3}$", description="For example EUR")]
Amount = Annotated[float | None, Query(ge=0, le=1e12, allow_inf_nan=False)]
Stars = Annotated[float | None, Query(ge=0, le=5)]


@router.get("")
@needs(Act.READ)
async def list_products(
    database: DatabaseDep,
    asked: Annotated[ListRequest[Product, ProductFilter], list_request(PRODUCTS)],
) -> ListPage[Product]:
    """List products, filtered and ordered; a page may be short although more follow.

    Ordering by price or rating lists only products that state it.
    """
    return await asked.read(database)


@router.get("/search")
@needs(Act.READ)
async def search_products(
    q: Question,
    full_text: FullTextDep,
    *,
    domain: DomainFilter = None,
    brand: Words = None,
    category: Words = None,
    availability: Stock = None,
    min_price: Amount = None,
    max_price: Amount = None,
    currency: Currency = None,
    min_rating: Stars = None,
    min_confidence: Annotated[float | None, Query(ge=0, le=1)] = None,
    facets: Annotated[bool, Query(description="Include counts per facet")] = False,
    cursor: Cursor = None,
    limit: Few = 20,
) -> FoundOut:
    """Search products by name and description, best first."""
    filters = SearchFilters(
        ("product",),
        (name_of(domain),) if domain else (),
        (brand,) if brand else (),
        (category,) if category else (),
        (availability,) if availability else (),
        exact(min_price),
        exact(max_price),
        currency,
        exact(min_rating),
        exact(min_confidence),
    )
    return await answer(full_text, q, filters, with_facets=facets, cursor=cursor, limit=limit)


@router.get("/price-changes")
@needs(Act.READ)
async def list_price_changes(
    database: DatabaseDep,
    asked: Annotated[
        ListRequest[ListedPriceChange, PriceChangeFilter], list_request(PRICE_CHANGES)
    ],
) -> ListPage[ListedPriceChange]:
    """List prices that fell or rose, newest first; a page may be short although more follow."""
    return await asked.read(database)


@router.get("/{product_id}")
@needs(Act.READ)
async def show_product(product_id: BigId, database: DatabaseDep) -> FullProduct:
    """Get a product with images, offers and variants; its record has the evidence."""
    return await product_queries.product(database, product_id)


@router.get("/{product_id}/prices")
@needs(Act.READ)
async def list_prices(
    product_id: BigId,
    database: DatabaseDep,
    asked: Annotated[
        ListRequest[ObservedPrice, PriceFilter],
        list_request(PRODUCT_PRICES, without=("product_id",)),
    ],
) -> ListPage[ObservedPrice]:
    """List the price history, newest first: one row per change of price or availability."""
    await product_queries.product(database, product_id)
    return await asked.read(database, product_id=product_id)
