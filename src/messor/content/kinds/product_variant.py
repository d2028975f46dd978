"""One size, colour or other variant of a page's product; `content.products` reads it."""

from __future__ import annotations

from messor.content.kinds.declaration import RecordKind
from messor.content.kinds.priced import RULES, Number, PricedFields
from messor.content.schemas.base import Stated, Text


class ProductVariantFields(PricedFields):
    """One size, colour or other variant of the page's product."""

    product_name: Stated[Text] | None = None
    mpn: Stated[Number] | None = None
    color: Stated[Text] | None = None
    size: Stated[Text] | None = None


DECLARATION = RecordKind(
    "product_variant",
    ProductVariantFields,
    identity=(
        ("sku",),
        ("gtin",),
        ("product_name", "color", "size"),
        ("color", "size"),
        ("size",),
        ("color",),
        ("product_name",),
    ),
    titles=("product_name", "size", "color", "url"),
    is_part=True,
    rules=RULES,
    is_checked_by_schema=False,
)
