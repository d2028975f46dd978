"""One seller's or one kind of offer of a page's product; `content.products` reads it."""

from __future__ import annotations

from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.priced import RULES, Condition, PricedFields
from messor.content.schemas.base import Stated, Text


class ProductOfferFields(PricedFields):
    """One seller's or one kind of offer of the page's product."""

    seller: Stated[Text] | None = None
    condition: Stated[Condition] | None = None


DECLARATION = RecordKind(
    "product_offer",
    ProductOfferFields,
    identity=(("sku", "seller"), ("sku",), ("seller",), ("url",), ("condition",)),
    titles=("seller", "url"),
    is_part=True,
    rules=RULES,
    is_checked_by_schema=False,
)
