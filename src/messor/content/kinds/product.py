"""The product that a page sells; `content.products` reads it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from messor.content.kinds.declaration import RecordKind, Rule
from messor.content.kinds.priced import PRICE_OR_NUMBER, RULES, Condition, Number, PricedFields
from messor.content.schemas.base import Amount, Stated, Text

KIND = "product"
Rating = Annotated[float, Field(ge=0, le=5)]


class ProductFields(PricedFields):
    """What a page sells; its offers and variants, when it has several, are records of their own."""

    product_name: Stated[Text] | None = None
    description: Stated[Text] | None = None
    list_price: Stated[Amount] | None = None
    rating: Stated[Rating] | None = None
    review_count: Stated[Annotated[int, Field(ge=0)]] | None = None
    brand: Stated[Text] | None = None
    category: Stated[Text] | None = None
    mpn: Stated[Number] | None = None
    color: Stated[Text] | None = None
    condition: Stated[Condition] | None = None
    seller: Stated[Text] | None = None


def _within(lowest: float, highest: float, noun: str) -> Rule:
    def rule(value: Any) -> str | None:
        good = isinstance(value, int | float) and lowest <= value <= highest
        return None if good else f"{noun} lies between {lowest:g} and {highest:g}."

    return rule


def _name(value: Any) -> str | None:
    good = isinstance(value, str) and any(map(str.isalnum, value))
    return None if good else "A name has letters or digits."


DECLARATION = RecordKind(
    KIND,
    ProductFields,
    identity=((),),  # its name and number may change and it stays the same
    subject="product_name",
    titles=("seller", "color", "url"),
    prompt="the one thing that the page sells",
    normalisers={
        "list_price": "money_amount",
        "availability": "availability",
        "sku": "sku",
        "gtin": "gtin",
        "rating": "rating",
        "review_count": "count",
        "brand": "brand",
        "condition": "condition",
    },
    is_eventful=True,
    rules={
        **RULES,
        "product_name": _name,
        "brand": _name,
        "rating": _within(0, 5, "A rating"),
        "review_count": _within(0, 1_000_000_000, "A number of reviews"),
    },
    is_checked_by_schema=False,
    needs=("product_name",),
    needs_any=PRICE_OR_NUMBER,
)
