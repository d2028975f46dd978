"""Product queries: filters, orders and a cursor over indexed columns, and single products.

Filters without an index are applied to a bounded slice of rows at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, get_args

import msgspec

from messor.content.kinds.priced import Availability
from messor.errors import NotFoundError, UsageError
from messor.records.queries import LARGEST, MAX_SCANNED, Source

AVAILABILITIES: tuple[str, ...] = get_args(Availability)
MOST_IMAGES = 100

_ROW = """q.id, q.product_name, q.price, q.currency, q.availability, q.brand, q.category, q.sku,
       q.gtin, q.rating, q.review_count, q.state, d.domain, q.url, q.record_id, q.page_id,
       q.snapshot_id, q.parser, q.parser_version, q.created_at, q.updated_at"""
PRODUCT = f"""
SELECT {_ROW}, q.description, q.metadata
  FROM messor.products q JOIN messor.domains d ON d.id = q.domain_id WHERE q.id = $1
"""
PRICES = """
SELECT seen_at, price, currency, availability, snapshot_id, cause
  FROM messor.product_prices
 WHERE product_id = $1 AND ($2::timestamptz IS NULL OR seen_at < $2) ORDER BY seen_at DESC LIMIT $3
"""
IMAGES = f"""
SELECT image_url, alt_text, image_type, position, width, height, file_size
  FROM messor.product_images WHERE product_id = $1 ORDER BY position, id LIMIT {MOST_IMAGES}
"""


class ProductOrder(NamedTuple):
    """A column that products are sorted by."""

    column: str
    is_falling: bool
    kind: str  # in SQL

    @property
    def sql(self) -> str:
        way = "DESC" if self.is_falling else "ASC"
        return f"q.{self.column} {way}, q.id {way}"

    def past(self, first: int) -> str:
        """Return the condition that a row follows a cursor, whose two parameters start at this
        number.
        """
        sign = "<" if self.is_falling else ">"
        return f"(q.{self.column}, q.id) {sign} (${first}::{self.kind}, ${first + 1}::bigint)"


# Products without the value are left out of lists sorted by it.
ORDERS = {
    "newest": ProductOrder("created_at", True, "timestamptz"),
    "changed": ProductOrder("updated_at", True, "timestamptz"),
    "price": ProductOrder("price", False, "numeric"),
    "price_falling": ProductOrder("price", True, "numeric"),
    "rating": ProductOrder("rating", True, "numeric"),
}

# Cursor: the sort column's value as text, and the product's id.
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class ProductFilter:
    """Filters of products; None means any. Brand and category are matched as written on pages."""

    domain: str | None = None
    brand: str | None = None
    category: str | None = None
    availability: str | None = None
    price_from: Decimal | None = None
    price_to: Decimal | None = None
    currency: str | None = None
    rating_from: Decimal | None = None
    state: str | None = "current"

    def __post_init__(self) -> None:
        low, high = self.price_from, self.price_to
        if low is not None and high is not None and low > high:
            raise UsageError(f"Minimum price {low} exceeds maximum {high}.")


@dataclass(frozen=True, slots=True)
class Product:
    """A product in a list."""

    id: int
    product_name: str | None
    price: Decimal | None
    currency: str | None
    availability: str | None
    brand: str | None
    category: str | None
    sku: str | None
    gtin: str | None
    rating: Decimal | None
    review_count: int | None
    state: str
    domain: str
    url: str
    record_id: int
    page_id: int
    snapshot_id: int
    parser: str
    parser_version: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class FullProduct(Product):
    """A product with its description and all other fields its page states."""

    description: str | None
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ObservedPrice:
    """The price and availability of a product from a moment on."""

    seen_at: datetime
    price: Decimal | None
    currency: str | None
    availability: str | None
    snapshot_id: int
    cause: str


@dataclass(frozen=True, slots=True)
class Image:
    """A product image as named by its page."""

    image_url: str
    alt_text: str | None
    image_type: str
    position: int
    width: int | None
    height: int | None
    file_size: int | None


@dataclass(frozen=True, slots=True)
class ProductSlice:
    """A page of products, and the cursor of the next one; None at the end."""

    products: list[Product]
    reached: Place | None


async def products(
    source: Source,
    wanted: ProductFilter,
    *,
    order: str = "newest",
    after: Place | None = None,
    limit: int = 50,
) -> ProductSlice:
    """Return products in an order; `after` is the cursor of the previous answer."""
    by = ORDERS[order]
    inner, outer, args, served = _filters(wanted, by, after)
    part = f"SELECT * FROM messor.products q WHERE {inner} ORDER BY {by.sql}"
    if outer:
        part += f" LIMIT {MAX_SCANNED}"
    sql = f"""
    SELECT {_ROW}
      FROM (SELECT * FROM ({part}) q WHERE {outer or "true"}
             ORDER BY {by.sql} LIMIT {limit + 1}) q
      JOIN messor.domains d ON d.id = q.domain_id ORDER BY {by.sql}"""
    rows = [Product(**row) for row in await source.fetch(sql, *args)]
    if len(rows) > limit:
        return ProductSlice(rows[:limit], _place(by, rows[limit - 1]))
    if not outer:
        return ProductSlice(rows, None)
    edge = f"""SELECT q.id, q.{by.column} AS value FROM messor.products q WHERE {inner}
                ORDER BY {by.sql} OFFSET {MAX_SCANNED - 1} LIMIT 1"""
    last = await source.fetchrow(edge, *args[:served])
    return ProductSlice(rows, None if last is None else (_text(last["value"]), last["id"]))


def _filters(
    wanted: ProductFilter, by: ProductOrder, after: Place | None
) -> tuple[str, str, list[Any], int]:
    """Return indexed conditions, the others, the values of both, and the number of values of the
    first.
    """
    args: list[Any] = []
    inner = [f"q.{by.column} IS NOT NULL"]
    outer: list[str] = []
    if after is not None:
        args += [_value(by, after[0]), after[1]]
        inner.append(by.past(1))
    served = (
        ("q.domain_id = (SELECT id FROM messor.domains WHERE domain = {}::text)", wanted.domain),
        ("q.brand = {0} AND left(q.brand, 200) = left({0}, 200)", wanted.brand),
        ("q.category = {0} AND left(q.category, 200) = left({0}, 200)", wanted.category),
        ("q.availability = {}", wanted.availability),
        ("q.price >= {}", wanted.price_from),
        ("q.price <= {}", wanted.price_to),
    )
    others = (
        ("q.state = {}", wanted.state),
        ("q.currency = {}", wanted.currency),
        ("q.rating >= {}", wanted.rating_from),
    )
    _add(served, inner, args)
    count = len(args)
    _add(others, outer, args)
    return " AND ".join(inner), " AND ".join(outer), args, count


def _add(conditions: Sequence[tuple[str, Any]], place: list[str], args: list[Any]) -> None:
    """Add the conditions that have a value, each with its parameter."""
    for condition, value in conditions:
        if value is not None:
            args.append(value)
            place.append(condition.format(f"${len(args)}"))


def _place(by: ProductOrder, product: Product) -> Place:
    return _text(getattr(product, by.column)), product.id


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _value(by: ProductOrder, text: str) -> Any:
    """Parse the value of a cursor, which may be forged."""
    try:
        return datetime.fromisoformat(text) if by.kind == "timestamptz" else Decimal(text)
    except (ValueError, InvalidOperation) as error:
        raise UsageError("The cursor is invalid; start the list from the beginning.") from error


async def product(source: Source, product_id: int) -> FullProduct:
    row = await source.fetchrow(PRODUCT, product_id) if 0 < product_id <= LARGEST else None
    if row is None:
        raise NotFoundError(f"There is no product {product_id}. Its page may have been purged.")
    return FullProduct(**{**row, "metadata": msgspec.json.decode(row["metadata"])})


async def prices(
    source: Source, product_id: int, *, before: datetime | None = None, limit: int = 500
) -> list[ObservedPrice]:
    """Return the price history of a product, newest first; one row per change."""
    rows = await source.fetch(PRICES, product_id, before, limit)
    return [ObservedPrice(**row) for row in rows]


async def images(source: Source, product_id: int) -> list[Image]:
    return [Image(**row) for row in await source.fetch(IMAGES, product_id)]
