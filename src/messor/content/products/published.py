"""Interprets a product's published properties, including meta tags.

`things` reads them from JSON-LD, microdata or RDFa.
"""

from __future__ import annotations

import re
from itertools import islice

from messor.content.evidence import EvidencedField
from messor.content.money import NO_DECIMALS, THREE_DECIMALS
from messor.content.products.normalise import MAX_RATING, currency, machine_amount, scaled_rating
from messor.content.products.pool import CandidatePool
from messor.content.products.things import Meta, PublishedThing, offers_of

# Comparison prices, and their weight as the selling price.
_COMPARED = ("listprice", "strikethroughprice", "msrp", "srp")
_COMPARED_SHARE = 0.7
# Unit prices and member prices.
_PARTIAL = ("referenceQuantity", "validForMemberTier")
_PARTIAL_SHARE = 0.8
# Thousands if written by people, three decimals if written by programs.
_EITHER = re.compile(r"(?<![\d.,])[1-9]\d{0,2}\.\d{3}(?![\d.,])")
_AS_DECIMALS, _AS_THOUSANDS = 0.83, 0.78
# Characters the parser may have substituted.
_ESCAPED = re.compile("[&\ufffd]")
# A rating's value and best value, in either order, as near to each other as they are.
_RATED = re.compile(
    r"(?:ratingValue.{1,600}?bestRating|bestRating.{1,600}?ratingValue)\D{1,40}\d[\d.,]*", re.DOTALL
)
_MAX_RATED = 20
_GTINS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "ean13", "isbn", "upc")
# Product fields, the properties that state them, best first, and their weights.
_PROPERTIES: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("product_name", ("name",), 1.0), ("description", ("description",), 1.0),
    ("brand", ("brand", "manufacturer"), 1.0), ("category", ("category",), 1.0),
    ("sku", ("sku",), 1.0), ("sku", ("productID", "productId", "identifier"), 0.8),
    ("mpn", ("mpn", "model"), 1.0), ("sku", ("mpn",), 0.6), ("url", ("url",), 1.0),
    ("color", ("color",), 1.0), ("condition", ("itemCondition",), 1.0),
)  # fmt: skip
_THINGS = frozenset(("brand", "category"))  # fields whose value may be a named item


def read_offer_price(
    pool: CandidatePool, priced: PublishedThing, confidence: float
) -> EvidencedField | None:
    """Add the price and currency of an offer or price specification to the pool."""
    source, path = priced.source, priced.path
    code = priced.text("priceCurrency")
    price = priced.text("price", "lowPrice", "minPrice")
    made = None
    if price:
        name, share = _meant(priced)
        kind = "machine_amount" if source == "json_ld" else _amount_kind(price)
        way = f"{path}.price"
        if name == "list_price":
            pool.add(name, source, price, confidence, path=way, normaliser=kind)
        if kind == "machine_amount":
            made = add_price(pool, source, price, confidence * share, path=way, code=code)
        else:
            made = pool.add("price", source, price, confidence * share, path=way, normaliser=kind)
    if code:
        pool.add("currency", source, code, confidence, path=f"{path}.priceCurrency")
    return made


def add_price(
    pool: CandidatePool, source: str, quote: str, confidence: float, *, path: str, code: str = ""
) -> EvidencedField | None:
    """Add a machine-written price to the pool; returns its most likely reading.

    A price such as 18.990 is ambiguous unless its currency decides; then the visible price does.
    """
    if not _EITHER.search(quote):
        return pool.add("price", source, quote, confidence, path=path)
    named = currency(code.rpartition(":")[2].strip(" \"'")) if code else None
    if named in THREE_DECIMALS:
        return pool.add("price", source, quote, confidence, path=path)
    if named in NO_DECIMALS:
        return pool.add("price", source, quote, confidence, path=path, normaliser="amount")
    made = pool.add("price", source, quote, confidence * _AS_DECIMALS, path=path)
    pool.add("price", source, quote, confidence * _AS_THOUSANDS, path=path, normaliser="amount")
    return made


def _meant(priced: PublishedThing) -> tuple[str, float]:
    """Return whether a price is the selling price or a list price, and its weight."""
    kind = priced.text("priceType").rstrip("\"'/ ").lower()
    if kind.endswith(_COMPARED):
        return "list_price", _COMPARED_SHARE
    if any(term in priced.stated for term in _PARTIAL):
        return "price", _PARTIAL_SHARE
    return "price", 1.0


def _amount_kind(quote: str) -> str:
    return (
        "shown_amount"
        if "<" in quote or not quote.strip().replace(".", "").isdigit()
        else "machine_amount"
    )


def read_thing(pool: CandidatePool, thing: PublishedThing, confidence: float) -> None:
    """Add a published product's properties to the pool."""
    source, path = thing.source, thing.path

    def add(name: str, quote: str, share: float = 1.0) -> None:
        if quote:
            pool.add(name, source, quote, confidence * share, path=f"{path}.{name}")

    for name, terms, share in _PROPERTIES:
        quote = thing.name_of(*terms) if name in _THINGS else thing.text(*terms)
        if quote:
            add(name, quote, share)
    for name in filter(thing.stated.__contains__, _GTINS):  # rare
        add("gtin", thing.text(name))
    number = thing.text("productID", "sku")
    if len(number) > 11 and sum(map(str.isdigit, number)) > 11:
        add("gtin", number, 0.8)
    _read_images(pool, thing, confidence)
    for rated in thing.things("aggregateRating"):
        _read_rating(pool, rated, confidence)
        add("review_count", rated.text("reviewCount", "ratingCount"))
    _read_offers(pool, thing, confidence)


def _read_images(pool: CandidatePool, thing: PublishedThing, confidence: float) -> None:
    """Add a product's images with their thumbnails; the product's own thumbnail is the first one's."""
    first: EvidencedField | None = None
    for image in thing.get("image")[:20]:
        quote = image if isinstance(image, str) else image.text("url", "contentUrl")
        path = f"{thing.path}.image"
        made = pool.add("image", thing.source, quote, confidence, path=path)
        first = first or made
        if not isinstance(image, str):
            pool.add_thumbnail(made, thing.source, _thumbnail(image), f"{path}.thumbnail")
    if first is not None:
        pool.add_thumbnail(first, thing.source, _thumbnail(thing), f"{thing.path}.thumbnail")


def _thumbnail(thing: PublishedThing) -> str:
    """Return the quote of a thing's thumbnail, a URL or an image."""
    if "thumbnail" not in thing.stated and "thumbnailUrl" not in thing.stated:
        return ""
    inner = next((each.text("url", "contentUrl") for each in thing.things("thumbnail")), "")
    return thing.text("thumbnailUrl", "thumbnail") or inner


def _read_rating(pool: CandidatePool, rated: PublishedThing, confidence: float) -> None:
    """Add a rating; one with another best rating than 5 is quoted together with it."""
    value, best = rated.text("ratingValue"), rated.text("bestRating")
    path = f"{rated.path}.ratingValue"
    most = machine_amount(best.rpartition(":")[2].strip(" \"'")) if best else None
    if most is None or most == MAX_RATING:
        pool.add("rating", rated.source, value, confidence, path=path)
        return
    given = machine_amount(value.rpartition(":")[2].strip(" \"'"))
    if given is None or most <= 0:
        return
    for match in islice(_RATED.finditer(pool.page.html), _MAX_RATED):
        quote = match[0]
        if scaled_rating(quote) == round(given / most * MAX_RATING, 2):
            pool.add(
                "rating", rated.source, quote, confidence, path=path, normaliser="scaled_rating"
            )
            return


def _read_offers(pool: CandidatePool, thing: PublishedThing, confidence: float) -> None:
    main_price: EvidencedField | None = None
    for place, offer in enumerate(offers_of(thing)):
        sureness = confidence * (0.97 if place else 1.0)
        price = read_offer(pool, offer, sureness)
        main_price = main_price or price
        # An offer with another price says nothing about the product's own offer.
        if price is None or main_price is None or price.value == main_price.value:
            read_offering(pool, offer, sureness)


def read_offer(
    pool: CandidatePool, offer: PublishedThing, confidence: float
) -> EvidencedField | None:
    """Add an offer's price, currency and stock to the pool; returns the price."""
    price = read_offer_price(pool, offer, confidence)
    for each in offer.things("priceSpecification"):
        specified = read_offer_price(pool, each, confidence)
        price = price or specified
    _add_terms(pool, offer, confidence, _TERMS)
    return price


def read_offering(pool: CandidatePool, offer: PublishedThing, confidence: float) -> None:
    """Add the seller and condition of an offer to the pool."""
    _add_terms(pool, offer, confidence, _OFFERING)


def _add_terms(
    pool: CandidatePool,
    offer: PublishedThing,
    confidence: float,
    terms: tuple[tuple[str, str, float], ...],
) -> None:
    for name, term, share in terms:
        if term in offer.stated:  # rare
            quote = offer.name_of(term) if name == "seller" else offer.text(term)
            path = f"{offer.path}.{term}"
            pool.add(name, offer.source, quote, confidence * share, path=path)


# Offer fields, the properties that state them, and their weights.
_TERMS = (
    ("availability", "availability", 1.0), ("sku", "sku", 0.9),
    *(("gtin", name, 0.9) for name in _GTINS),
)  # fmt: skip
_OFFERING = (("seller", "seller", 1.0), ("condition", "itemCondition", 1.0))


_METAS = {
    "product:price:amount": ("price", 0.8), "og:price:amount": ("price", 0.8), "og:price": ("price", 0.6),
    "product:price:currency": ("currency", 0.8), "og:price:currency": ("currency", 0.8),
    "product:sale_price:amount": ("price", 0.85), "product:sale_price:currency": ("currency", 0.85),
    "product:availability": ("availability", 0.8), "og:availability": ("availability", 0.8),
    "product:retailer_item_id": ("sku", 0.8), "product:retailer_part_no": ("sku", 0.7), "product:sku": ("sku", 0.8),
    "product:item_id": ("sku", 0.7), "sku": ("sku", 0.6), "productid": ("sku", 0.6), "product:product_link": ("url", 0.5),
    "product:brand": ("brand", 0.8), "og:brand": ("brand", 0.8), "brand": ("brand", 0.6),
    "product:category": ("category", 0.6), "product:ean": ("gtin", 0.8), "product:gtin": ("gtin", 0.8),
    "product:upc": ("gtin", 0.8), "product:isbn": ("gtin", 0.8), "og:upc": ("gtin", 0.8), "product:mfr_part_no": ("mpn", 0.7),
    "product:condition": ("condition", 0.6), "product:color": ("color", 0.6), "og:image": ("image", 0.6),
    "og:description": ("description", 0.5), "description": ("description", 0.4), "og:title": ("product_name", 0.5),
    "price": ("price", 0.5), "pricecurrency": ("currency", 0.5),
}  # fmt: skip


def read_meta_fields(pool: CandidatePool, metas: list[Meta]) -> None:
    """Add what meta tags say about the product to the pool."""
    for meta in metas:
        known = _METAS.get(meta.name)
        if known is None or (known[1] > 0.5 and meta.element.attr("itemprop")):
            continue
        name, confidence = known
        content = meta.content
        # Without escapes, the source need not be consulted.
        if not content or not content.isprintable() or _ESCAPED.search(content):
            content = pool.page.attribute(meta.element, "content")
        if name == "price":
            add_price(pool, "meta", content, confidence, path=meta.name)
        else:
            pool.add(name, "meta", content, confidence, path=meta.name)
