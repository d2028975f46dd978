"""Products: what pages sell, by shop, brand, price and stock; one with its prices over time."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import evidence, price_chart
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
MOST_PRICES = 500  # that are drawn
SHOWN_PRICES = 50  # that are listed
PARTS = ("product_offer", "product_variant")
STATES = {"": "still there", "removed": "gone", "all": "both"}
LABELS = {
    "newest": "newest first",
    "changed": "last changed first",
    "price": "cheapest first",
    "price_falling": "dearest first",
    "rating": "best rated first",
}


async def show_all(call: ConsoleRequest) -> Response:
    given, wrong = _narrowed(call), None
    shelf = ProductSlice([], None)
    try:
        shelf = await product_queries.products(
            call.desk.database,
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
    if shelf.reached is not None:
        value, key = shelf.reached
        more = link(after=f"{key}_{value}")
    return await call.page(
        "products/list.html",
        status=422 if wrong else 200,
        rows=shelf.products,
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
    database = call.desk.database
    product = await product_queries.product(database, call.number("product_id"))
    prices = await product_queries.prices(database, product.id, limit=MOST_PRICES)
    parts = await queries.parts(database, product.page_id, PARTS)
    try:
        record = await queries.record(database, product.record_id)
    except NotFoundError:
        fields = []
    else:
        fields = evidence.shown(record.fields, record.page_id, record.snapshot_id)
    return await call.page(
        "products/product.html",
        product=product,
        prices=prices[:SHOWN_PRICES],
        chart=price_chart.draw(prices[::-1], datetime.now(UTC)),
        offers=[one for one in parts if one.kind == "product_offer"],
        variants=[one for one in parts if one.kind == "product_variant"],
        images=await product_queries.images(database, product.id),
        fields=fields,
        told=evidence.said,
        tone=evidence.tone,
    )


def _narrowed(call: ConsoleRequest) -> dict[str, str]:
    """What the address asks for; what it does not know is as if it was not there."""
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
        price_from=figure(given["price_from"], "Price from"),
        price_to=figure(given["price_to"], "Price to"),
        currency=given["currency"] or None,
        rating_from=figure(given["rating"], "Rating"),
        state=states[given["state"]],
    )


def figure(typed: str, label: str) -> Decimal | None:
    """A number that was typed; None for an empty field."""
    if not typed:
        return None
    try:
        number = Decimal(typed.replace(",", "."))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number < 10**15 or len(typed) > 20:
        raise UsageError(f"{label}: give a number such as 19.90, not {typed[:50]!r}.")
    return number


def _place(call: ConsoleRequest) -> Place | None:
    key, _, value = call.query("after").partition("_")
    return (value, int(key)) if key.isdecimal() and key.isascii() and len(key) < 19 else None


SCREENS = (
    get("/products", Act.READ, show_all),
    get("/products/{product_id:int}", Act.READ, show),
)
