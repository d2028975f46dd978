"""Queries of price changes: what became cheaper or dearer, by how much, newest first.

A change is between two prices that the same page stated in the same currency; prices that another
parser read or a person corrected are no changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from messor.records.product_queries import CurrencyCode, Figure
from messor.records.queries import MAX_SCANNED
from messor.store.listing import Age, DomainText, Filters, Listing, Order, where

IMPLAUSIBLE = 10  # times: until a second look confirms it, such a jump is more likely an error

# The price before, stated by the same page in the same currency.
_BEFORE = """(SELECT b.price FROM messor.product_prices b
   WHERE b.product_id = h.product_id AND b.seen_at < h.seen_at AND b.price IS NOT NULL
     AND b.currency IS NOT DISTINCT FROM h.currency
   ORDER BY b.seen_at DESC LIMIT 1)"""
_OF_PRODUCT = "(SELECT {column} FROM messor.products x WHERE x.id = h.product_id)"


class PriceChangeFilter(Filters):
    """Filters of price changes."""

    since: Age | None = where(
        "h.seen_at >= (SELECT messor.clock()) - {}::interval", "Within, such as 7d", indexed=True
    )
    direction: Literal["fell", "rose"] | None = where(
        {"fell": f"h.price < {_BEFORE}", "rose": f"h.price > {_BEFORE}"}, "Direction"
    )
    min_percent: float | None = where(
        f"abs(h.price / nullif({_BEFORE}, 0) - 1) * 100 >= {{}}::float8::numeric",
        "At least so many percent",
        ge=0,
        le=1_000_000,
    )
    domain: DomainText | None = where(
        f"""{_OF_PRODUCT.format(column="x.domain_id")}
            = (SELECT id FROM messor.domains WHERE domain = {{}}::text)""",
        "Shop",
    )
    category: str | None = where(
        f"{_OF_PRODUCT.format(column='x.category')} = {{}}",
        "Category, exactly as on the page",
        min_length=1,
        max_length=1_000,
    )
    currency: CurrencyCode | None = where("h.currency = {}", "Currency, such as EUR")


@dataclass(frozen=True, slots=True)
class ListedPriceChange:
    """A price, and the one before it."""

    product_id: int
    product_name: str | None
    domain: str
    category: str | None
    seen_at: datetime
    before: Figure
    price: Figure
    currency: str | None
    percent: float | None  # of the price before; None if that was zero
    is_implausible: bool
    availability: str | None
    page_id: int
    snapshot_id: int


def _change(row: Any) -> ListedPriceChange:
    before, price = Decimal(row["before"]), Decimal(row["price"])
    share = float(price / before - 1) * 100 if before else None
    low, high = sorted((before, price))
    return ListedPriceChange(
        **row,
        percent=None if share is None else round(share, 2),
        is_implausible=low == 0 or high / low >= IMPLAUSIBLE,
    )


PRICE_CHANGES = Listing(
    name="price changes",
    item=ListedPriceChange,
    filters=PriceChangeFilter,
    table="messor.product_prices",
    alias="h",
    only=f"h.cause = 'page' AND h.price IS NOT NULL AND h.price <> {_BEFORE}",
    columns=f"""h.product_id, q.product_name, d.domain, q.category, h.seen_at, {_BEFORE} AS before, h.price,
                h.currency, h.availability, h.page_id, h.snapshot_id""",
    joins="""JOIN messor.products q ON q.id = h.product_id
             JOIN messor.domains d ON d.id = q.domain_id""",
    key="product_id",
    scan=MAX_SCANNED,
    make=_change,
    orders={"-seen_at": Order("h.seen_at", "timestamptz", "Newest first", descending=True)},
)
