"""Products: the filtered list, and one product with its prices over time."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import charts, evidence
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.screens import get
from messor.console.views import records
from messor.errors import NotFoundError, UsageError
from messor.records import product_queries, queries
from messor.records.product_queries import (
    AVAILABILITIES,
    ORDERS,
    Place,
    ProductFilter,
    ProductSlice,
)

PER_PAGE = 50
MAX_PRICES = 500  # in the chart
SHOWN_PRICES = 50  # in the table
PARTS = ("product_offer", "product_variant")
STATES = {"": "Current", "removed": "Removed", "all": "Current and removed"}
LABELS = {
    "newest": "Newest first",
    "changed": "Recently changed first",
    "price": "Lowest price first",
    "price_falling": "Highest price first",
    "rating": "Best rating first",
}


async def show_all(call: ConsoleRequest) -> Response:
    given, wrong = _filters(call), None
    found = ProductSlice([], None)
    try:
        found = await product_queries.products(
            call.context.database,
            _wanted(given),
            order=given["order"] or "newest",
            after=_place(call),
            limit=PER_PAGE,
        )
    except UsageError as error:
        wrong = str(error)

    def link(**changes: str) -> str:
        return with_query("/products", **{**given, **changes})

    more = None
    if found.reached is not None:
        value, key = found.reached
        more = link(after=f"{key}_{value}")
    return await call.page(
        "products/list.html",
        status=422 if wrong else 200,
        rows=found.products,
        more=more,
        first=link() if call.query("after") else None,
        wrong=wrong,
        given=given,
        link=link,
        availabilities=AVAILABILITIES,
        orders=LABELS,
        states=STATES,
    )


async def show(call: ConsoleRequest) -> Response:
    database = call.context.database
    product = await product_queries.product(database, call.number("product_id"))
    prices = await product_queries.prices(database, product.id, limit=MAX_PRICES)
    parts = await queries.parts(database, product.page_id, PARTS)
    try:
        record = await queries.record(database, product.record_id)
    except NotFoundError:
        fields = []
    else:
        fields = evidence.display_fields(record)
    return await call.page(
        "products/product.html",
        product=product,
        prices=prices[:SHOWN_PRICES],
        chart=charts.prices(prices[::-1], datetime.now(UTC)),
        offers=[one for one in parts if one.kind == "product_offer"],
        variants=[one for one in parts if one.kind == "product_variant"],
        images=await product_queries.images(database, product.id),
        fields=fields,
        as_text=evidence.as_text,
        tone=evidence.tone,
    )


def _filters(call: ConsoleRequest) -> dict[str, str]:
    """Filters from the query string; unknown values are ignored."""
    given = {
        name: call.query(name).strip()[:500]
        for name in ("brand", "category", "price_from", "price_to", "rating")
    }
    choices: dict[str, Any] = {"availability": AVAILABILITIES, "state": STATES, "order": ORDERS}
    for name, known in choices.items():
        given[name] = call.query(name) if call.query(name) in known else ""
    given["domain"] = records.domain(call)
    given["currency"] = call.query("currency").strip().upper()[:3]
    return given


def _wanted(given: dict[str, str]) -> ProductFilter:
    states: dict[str, str | None] = {"": "current", "removed": "removed", "all": None}
    return ProductFilter(
        domain=given["domain"] or None,
        brand=given["brand"] or None,
        category=given["category"] or None,
        availability=given["availability"] or None,
        price_from=figure(given["price_from"], "Minimum price"),
        price_to=figure(given["price_to"], "Maximum price"),
        currency=given["currency"] or None,
        rating_from=figure(given["rating"], "Minimum rating"),
        state=states[given["state"]],
    )


def figure(typed: str, label: str) -> Decimal | None:
    """Parse a decimal number; None for an empty field."""
    if not typed:
        return None
    try:
        number = Decimal(typed.replace(",", "."))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number < 10**15 or len(typed) > 20:
        raise UsageError(f"{label}: {typed[:50]!r} is not a number such as 19.90.")
    return number


def _place(call: ConsoleRequest) -> Place | None:
    key, _, value = call.query("after").partition("_")
    return (value, int(key)) if key.isdecimal() and key.isascii() and len(key) < 19 else None


SCREENS = (
    get("/products", Act.READ, show_all),
    get("/products/{product_id:int}", Act.READ, show),
)
