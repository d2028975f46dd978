"""One of the products a page lists, as its card shows it; `content.products` reads it.

The product itself is at the card's link, and complete once that page is read.
"""

from __future__ import annotations

from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.priced import PRICE_OR_NUMBER, RULES, Number, PricedFields
from messor.content.schemas.base import Stated, Text


class ListedProductFields(PricedFields):
    """One of the products a page lists; its `url` is where it is sold."""

    product_name: Stated[Text]
    brand: Stated[Text] | None = None
    mpn: Stated[Number] | None = None


DECLARATION = RecordKind(
    "listed_product",
    ListedProductFields,
    identity=(("url",), ("sku",), ("gtin",), ("product_name", "price"), ("product_name",)),
    subject="product_name",
    titles=("url",),
    is_part=True,
    rules=RULES,
    is_checked_by_schema=False,
    needs=("product_name",),
    needs_any=PRICE_OR_NUMBER,
)
