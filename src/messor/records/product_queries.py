"""Queries of products: the list for every interface, single products, and their price history.

Filters without an index are applied to a bounded number of rows at a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from messor.content.kinds.priced import Availability
from messor.errors import NotFoundError
from messor.records import queries
from messor.records.queries import (
    LARGEST,
    MAX_SCANNED,
    Cause,
    ListedRecord,
    RecordState,
    in_state,
)
from messor.store.listing import DomainText, Filters, Listing, Order, Source, both_ways, where

MAX_IMAGES = 100
MAX_AMOUNT = 10**12

_ROW = """q.id, q.product_name, q.price, q.currency, q.availability, q.brand, q.category, q.sku,
       q.gtin, q.rating, q.review_count, q.state, d.domain, q.url, q.record_id, q.page_id,
       q.snapshot_id, q.parser, q.parser_version, q.created_at, q.updated_at, q.confidence,
       q.listing_page_id"""
_DOMAIN = "JOIN messor.domains d ON d.id = q.domain_id"
PRODUCT = (
    f"SELECT {_ROW}, q.description, q.metadata FROM messor.products q {_DOMAIN} WHERE q.id = $1"
)
_IMAGE = """i.id, i.image_url, i.alt_text, i.image_type, i.position, i.width, i.height, i.file_size,
       i.image_path, i.media_type, i.refusal"""
IMAGES = f"""
SELECT {_IMAGE} FROM messor.product_images i WHERE i.product_id = $1
 ORDER BY i.position, i.id LIMIT {MAX_IMAGES}
"""
KEPT_IMAGE = f"""
SELECT {_IMAGE}, i.moved_to, encode(i.content_hash, 'hex') AS content_hash,
       g.name AS segment, s.segment_offset, s.segment_length
  FROM messor.product_images i
  LEFT JOIN messor.crawl_tasks t ON t.page_id = i.image_page_id
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id AND s.raw_hash = i.content_hash
  LEFT JOIN messor.segments g ON g.id = s.segment_id
 WHERE i.id = $1
"""


def _finite(value: Decimal | None) -> float | None:
    """A number for JSON, which knows no infinity."""
    made = None if value is None else float(value)
    return made if made is None or math.isfinite(made) else None


Figure = Annotated[
    Annotated[Decimal, Field(allow_inf_nan=True)] | None,
    PlainSerializer(_finite, return_type=float | None, when_used="json"),
]
# As people type them: a comma may separate decimals, currencies may be in lower case.
Amount = Annotated[
    Decimal,
    BeforeValidator(lambda given: given.replace(",", ".") if isinstance(given, str) else given),
]
CurrencyCode = Annotated[
    str,
    BeforeValidator(lambda given: given.upper() if isinstance(given, str) else given),
    Field(pattern=r"^[A-Z]{3}$"),
]


class ProductFilter(Filters):
    """Filters of products."""

    q: str | None = where(
        "strpos(lower(q.product_name), lower({})) > 0", "Part of the name", max_length=500
    )
    domain: DomainText | None = where(
        "q.domain_id = (SELECT id FROM messor.domains WHERE domain = {}::text)",
        "Domain",
        indexed=True,
    )
    availability: Availability | None = where("q.availability = {}", "Availability", indexed=True)
    brand: str | None = where(
        "q.brand = {} AND left(q.brand, 200) = left({}, 200)",
        "Brand, exactly as on the page",
        indexed=True,
        min_length=1,
        max_length=1_000,
    )
    category: str | None = where(
        "q.category = {} AND left(q.category, 200) = left({}, 200)",
        "Category, exactly as on the page",
        indexed=True,
        min_length=1,
        max_length=1_000,
    )
    min_price: Amount | None = where(
        "q.price >= {}", "Minimum price", indexed=True, ge=0, le=MAX_AMOUNT
    )
    max_price: Amount | None = where(
        "q.price <= {}", "Maximum price", indexed=True, ge=0, le=MAX_AMOUNT
    )
    currency: CurrencyCode | None = where("q.currency = {}", "Currency, such as EUR")
    min_rating: Amount | None = where("q.rating >= {}", "Minimum rating", ge=0, le=5)
    min_confidence: float | None = where(
        "q.confidence >= {}::real", "Minimum confidence", ge=0, le=1
    )
    state: Literal["current", "removed", "all"] = in_state("q")

    @model_validator(mode="after")
    def _range(self) -> Self:
        low, high = self.min_price, self.max_price
        if low is not None and high is not None and low > high:
            raise ValueError(f"Minimum price {low} exceeds maximum {high}")
        return self


class PriceFilter(Filters):
    """Filters of observed prices."""

    product_id: int | None = where("h.product_id = {}", "Product", ge=1, le=LARGEST)


@dataclass(frozen=True, slots=True)
class Product:
    """A product as currently stated by its page; missing values are None."""

    id: int
    product_name: str | None
    price: Figure
    currency: str | None
    availability: str | None
    brand: str | None
    category: str | None
    sku: str | None
    gtin: str | None
    rating: Figure
    review_count: int | None
    state: RecordState
    domain: str
    url: str
    record_id: int
    page_id: int
    snapshot_id: int
    parser: str
    parser_version: str
    created_at: datetime
    updated_at: datetime
    confidence: float
    listing_page_id: int | None  # the page that lists it, until its own page is read


@dataclass(frozen=True, slots=True)
class Image:
    """A product image as named by its page; downloaded ones have a size and a path."""

    id: int
    image_url: str
    alt_text: str | None
    image_type: Literal["primary", "gallery", "thumbnail"]
    position: int
    width: int | None
    height: int | None
    file_size: int | None
    image_path: str | None
    media_type: str | None
    refusal: str | None


@dataclass(frozen=True, slots=True)
class KeptImage(Image):
    """An image with its location in the archive, if it is there."""

    moved_to: str | None
    content_hash: str | None
    segment: str | None
    segment_offset: int | None
    segment_length: int | None


@dataclass(frozen=True, slots=True)
class FullProduct(Product):
    """A product with its images, offers, variants and all other fields its page states."""

    description: str | None
    metadata: dict[str, Any]
    images: list[Image]
    offers: list[ListedRecord]
    variants: list[ListedRecord]


@dataclass(frozen=True, slots=True)
class ObservedPrice:
    """The price and availability of a product from a moment on."""

    seen_at: datetime
    price: Figure
    currency: str | None
    availability: str | None
    snapshot_id: int
    cause: Cause


PRODUCTS = Listing(
    name="products",
    item=Product,
    filters=ProductFilter,
    table="messor.products",
    alias="q",
    columns=_ROW,
    joins=_DOMAIN,
    scan=MAX_SCANNED,
    # Products without a price or rating are left out of lists ordered by it.
    orders={
        "-created_at": Order("q.created_at", "timestamptz", "Newest first", descending=True),
        "-updated_at": Order(
            "q.updated_at", "timestamptz", "Recently changed first", descending=True
        ),
        **both_ways(
            "price", "q.price", "numeric", "Lowest price first", "Highest price first",
            only="q.price IS NOT NULL",
        ),
        "product_name": Order(
            "left(q.product_name, 200)", "text", "By name", only="q.product_name IS NOT NULL"
        ),
        "-rating": Order(
            "q.rating", "numeric", "Best rating first", descending=True,
            only="q.rating IS NOT NULL",
        ),
    },
)  # fmt: skip

PRODUCT_PRICES = Listing(
    name="product prices",
    item=ObservedPrice,
    filters=PriceFilter,
    table="messor.product_prices",
    alias="h",
    columns="h.seen_at, h.price, h.currency, h.availability, h.snapshot_id, h.cause",
    key="seen_at",
    key_type="timestamptz",
    orders={"-seen_at": Order("h.seen_at", "timestamptz", "Newest first", descending=True)},
)


async def product(source: Source, product_id: int) -> FullProduct:
    row = await source.fetchrow(PRODUCT, product_id) if 0 < product_id <= LARGEST else None
    if row is None:
        raise NotFoundError(f"There is no product {product_id}. Its page may have been purged.")
    found: Mapping[str, Any] = {**row, "metadata": msgspec.json.decode(row["metadata"])}
    parts = await queries.parts(source, row["page_id"], ("product_offer", "product_variant"))
    return FullProduct(
        **found,
        images=[Image(**image) for image in await source.fetch(IMAGES, product_id)],
        offers=[one for one in parts if one.kind == "product_offer"],
        variants=[one for one in parts if one.kind == "product_variant"],
    )


async def image(source: Source, image_id: int) -> KeptImage:
    row = await source.fetchrow(KEPT_IMAGE, image_id)
    if row is None:
        raise NotFoundError(f"There is no image {image_id}.")
    return KeptImage(**row)
