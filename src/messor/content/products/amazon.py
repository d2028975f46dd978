"""Amazon shops: where they put product data, in all their languages.

Starts from the generic parser's record and overrides it with values from these places.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from turbohtml import Element

from messor.content.evidence import EvidencedField
from messor.content.page import ParsedPage
from messor.content.products.choose import agreed
from messor.content.products.generic import KINDS, read_products
from messor.content.products.listed import KIND as LISTED
from messor.content.products.pool import CandidatePool
from messor.content.records import Record

PARSER = "amazon"
VERSION = "1"

_CONFIDENCE = 0.95
_HOST = re.compile(r"(?:^|\.)amazon\.(?:com?\.)?[a-z]{2,3}$")
_PRODUCT_PATH = re.compile(r"/(?:dp|gp/product|gp/aw/d)/([A-Z0-9]{10})(?:[/?]|$)")
# Field, selector, normaliser; earlier selectors are more reliable.
_PLACES = (
    ("product_name", "#productTitle", None),
    ("price", "#corePrice_feature_div .a-offscreen", "shown_amount"),
    ("price", "#corePriceDisplay_desktop_feature_div .a-price .a-offscreen", "shown_amount"),
    ("price", "#price_inside_buybox", "shown_amount"),
    ("price", "#priceblock_ourprice", "shown_amount"),
    ("price", "#priceblock_dealprice", "shown_amount"),
    ("price", "#priceblock_saleprice", "shown_amount"),
    ("price", "#newBuyBoxPrice", "shown_amount"),
    ("price", "#kindle-price", "shown_amount"),
    ("list_price", "#listPrice, .priceBlockStrikePriceString", "shown_amount"),
    ("availability", "#availability", None),
    ("availability", "#outOfStock", None),
    ("brand", "#bylineInfo", None),
    ("rating", "#acrPopover .a-icon-alt", None),
    ("review_count", "#acrCustomerReviewText", None),
    ("category", "#wayfinding-breadcrumbs_feature_div ul", "trail"),
    ("description", "#feature-bullets", None),
    ("description", "#productDescription", None),
)
# The ids the selectors start with; one walk finds those a page has.
_IDS = {selector: selector[1:].split()[0] for _, selector, _ in _PLACES if "," not in selector}
_ANY_ID = ",".join(f"#{own}" for own in dict.fromkeys(_IDS.values()))


def is_amazon(url: str) -> bool:
    """Whether a URL is that of a product in an Amazon shop."""
    if _asin(url) is None:  # cheap check that rules out nearly all shops
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return _HOST.search(parts.hostname or "") is not None


def read_amazon(page: ParsedPage) -> list[Record]:
    """Read the page's product with the generic parser, corrected from Amazon's own places."""
    pool = CandidatePool(page)
    there = {(element.attr("id") or "").lower() for element in page.document.select(_ANY_ID)}
    for number, (name, selector, normaliser) in enumerate(_PLACES):
        if selector in _IDS and _IDS[selector].lower() not in there:
            continue
        element = page.document.select_one(selector)
        if isinstance(element, Element):
            confidence = _CONFIDENCE - 0.002 * number
            quote = page.inner(element)
            pool.add(name, "text", quote, confidence, path=selector, normaliser=normaliser)
    _read_asin(pool)
    own = {name: best for name in pool.found if (best := agreed(pool.found[name])) is not None}
    return _merged(read_products(page, kinds=KINDS - {LISTED}), own)


def _asin(url: str) -> str | None:
    match = _PRODUCT_PATH.search(url)
    return match[1] if match is not None else None


def _read_asin(pool: CandidatePool) -> None:
    element = pool.page.document.select_one("input#ASIN")
    if isinstance(element, Element):
        quote = pool.page.attribute(element, "value")
        pool.add("sku", "attribute", quote, _CONFIDENCE, path="input#ASIN")
    asin = _asin(pool.page.url)
    if asin is not None and asin in pool.page.html:
        pool.add("sku", "address", asin, _CONFIDENCE - 0.1, path="address")


def _merged(generic: list[Record], own: dict[str, EvidencedField]) -> list[Record]:
    if not own:
        return generic
    is_product = bool(generic) and generic[0].kind == "product"
    held = dict(generic[0].fields) if is_product else {}
    if "price" not in own and own.get("availability") is not None:
        _forget_foreign_price(held, own["availability"])
    fields = {**held, **own}
    return [Record("product", _CONFIDENCE, PARSER, VERSION, fields), *generic[is_product:]]


def _forget_foreign_price(fields: dict[str, EvidencedField], stock: EvidencedField) -> None:
    """Drop the price of an unavailable product: a price found is another seller's."""
    if stock.value == "out_of_stock":
        fields.pop("price", None)
        fields.pop("currency", None)
