"""Prices and stock of products, offers and variants: their fields, and which values are plausible."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import StringConstraints

from messor.content.kinds.declaration import Rule
from messor.content.schemas.base import Amount, Currency, FieldsModel, Link, Stated

MAX_PRICE = 100_000_000
Availability = Literal["in_stock", "out_of_stock", "preorder", "backorder", "discontinued"]
Condition = Literal["new", "used", "refurbished", "damaged"]
Gtin = Annotated[str, StringConstraints(pattern=r"^(\d{8}|\d{9}[\dX]|\d{12,14})$")]
Number = Annotated[str, StringConstraints(min_length=1, max_length=100)]
STATES = frozenset(
    (
        "in_stock", "out_of_stock", "preorder", "pre_order", "backorder", "discontinued",
        "limited", "in_store_only", "online_only", "sold_out",
    )
)  # fmt: skip
# A product has a price or a number; a page with neither sells nothing that could be told apart.
PRICE_OR_NUMBER = ("price", "sku", "gtin", "mpn")
_CURRENCY = re.compile(r"[A-Z]{3}")


class PricedFields(FieldsModel):
    price: Stated[Amount] | None = None
    currency: Stated[Currency] | None = None
    availability: Stated[Availability] | None = None
    sku: Stated[Number] | None = None
    gtin: Stated[Gtin] | None = None
    url: Stated[Link] | None = None


def _price(value: Any) -> str | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        return "A price has to be a number."
    if value < 0:
        return "A price is not below zero."
    return f"A price of {value:g} is beyond belief." if value > MAX_PRICE else None


def _currency(value: Any) -> str | None:
    good = isinstance(value, str) and _CURRENCY.fullmatch(value)
    return None if good else "A currency has three capital letters."


def _availability(value: Any) -> str | None:
    return None if value in STATES else "This state of stock is not known."


RULES: Mapping[str, Rule] = {
    "price": _price,
    "list_price": _price,
    "currency": _currency,
    "availability": _availability,
}
