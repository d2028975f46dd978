"""Decides whether a page is about one product, with confidence."""

from __future__ import annotations

from messor.content.evidence import EvidencedField
from messor.content.page import ParsedPage
from messor.content.products.cards import Card
from messor.content.products.headings import likeness, words_of
from messor.content.products.normalise import shown_amount
from messor.content.products.survey import Survey, is_elsewhere, kin_of, path_of
from messor.content.products.things import PRODUCT_TYPES, Meta, PublishedThing, offers_of
from messor.content.products.words import CART_WORDS
from messor.content.structured.json_ld import nodes, types_of

# A page with less confidence is not a product page.
MIN_CONFIDENCE = 0.5

OFFERED = 0.95  # confidence in a published product with the page's heading and an offer

# Confidence added by a cart on the page.
_SHOP = 0.2
# Maximum confidence of visible evidence.
_MAX_VISIBLE = 0.9
# Number of alike prices from which a page is a list.
_LISTED = 7
# An article number with this confidence is visible and in the URL.
_SURE = 0.9
# Number of products from which a page may be a list.
_FEW = 2
_AMOUNTS = 3  # prices in a plain list
_LONG = 4  # characters of a number that is not in a URL by chance
_CLEAR = 0.45  # confidence of a price near the heading
_NEAR = 9  # ancestors of a card whose names are judged
_STATED = ("json_ld", "microdata", "rdfa", "meta")
_STATE_MARKS = ('"price', "'price", "&quot;price", 'Price"')
_PRODUCT_KINDS = ("product", "og:product", "product.item")


def may_sell(things: list[PublishedThing], metas: list[Meta], found: Survey) -> bool:
    """Whether the page has any sign of a shop; most pages have none and end here."""
    return bool(
        things
        or any(meta.name.startswith(("product:", "og:price")) for meta in metas)
        or _is_shop(found)
        or any(mark in found.page.html for mark in _STATE_MARKS)
        or found.parts.prices
        or len(found.texts.amounts) >= _AMOUNTS
    )


def product_confidence(
    published: float, metas: list[Meta], found: Survey, fields: dict[str, EvidencedField]
) -> float:
    """Return the confidence (0 to 1) that the page is about one product; `published` is that of
    structured data.
    """
    sure = max(published, _declared(metas, fields))
    if sure >= _MAX_VISIBLE:
        return sure
    seen = _seen(found, fields)
    if (
        MIN_CONFIDENCE - _SHOP <= seen < MIN_CONFIDENCE
        and sure < MIN_CONFIDENCE + _SHOP
        and _is_shop(found)
    ):
        seen += _SHOP
    if is_article(metas):
        seen -= 0.2
    return max(sure, seen)


def is_article(metas: list[Meta]) -> bool:
    """Whether a page calls itself an article."""
    return any(meta.name == "og:type" and meta.content.lower() == "article" for meta in metas)


def is_published_article(page: ParsedPage) -> bool:
    """Whether a page publishes an article."""
    found = [node for script in page.scripts for value in script.values for node in nodes(value)]
    return any(name.endswith(("Article", "Posting")) for node in found for name in types_of(node))


def is_list(found: Survey, others: list[PublishedThing], fields: dict[str, EvidencedField]) -> bool:
    """Whether a page that shows several products has none of its own.

    Its own has a price or number in structured data, a number in the URL, or outside the cards both
    a price and a way to buy. `others` are published products that the heading does not name.
    """
    if _has_own_number(found, fields, _STATED):
        return False
    named = {words_of(thing.text("name")) for thing in others[:30]}
    cards = len(main_cards(found))
    if len(named) < _FEW and cards < _FEW:
        return False
    if cards <= _LISTED and _has_own_number(found, fields, ("state",)):
        return False  # the state of a list is often that of its first product
    price, stock = fields.get("price"), fields.get("availability")
    if price is not None and price.value in _prices_of(others):
        return True
    is_bought = stock is not None and stock.evidence.source == "button"
    is_noted = stock is not None and stock.evidence.source in ("line", "text")
    if price is None or price.evidence.source not in ("text", "line"):
        return True
    return not (is_bought or (is_noted and price.confidence >= _CLEAR))


def main_cards(found: Survey) -> list[Card]:
    """Return the cards that are not among other products at a page's margin."""
    limit = found.others_at
    return [
        card
        for card in found.cards
        if not is_elsewhere(found, kin_of(card.element, _NEAR))
        and (limit is None or found.page.start(card.element) < limit)
    ]


def _has_own_number(
    found: Survey, fields: dict[str, EvidencedField], sources: tuple[str, ...]
) -> bool:
    stated = [fields[name] for name in ("price", "sku", "gtin", "mpn") if name in fields]
    if any(field.evidence.source in sources for field in stated):
        return True
    sku = fields.get("sku")
    is_shown = sku is not None and sku.evidence.source != "address" and len(sku.value) >= _LONG
    return is_shown and sku is not None and sku.value.lower() in found.page.url.lower()


def _prices_of(things: list[PublishedThing]) -> set[float | int | None]:
    offers = [offer for thing in things[:30] for offer in offers_of(thing)]
    return {shown_amount(offer.text("price", "lowPrice")) for offer in offers}


def published_confidence(things: list[PublishedThing], found: Survey) -> float:
    """Return the confidence that the first published product is the page's.

    High if it has the page's heading, lower if it is one of many.
    """
    if not things:
        return 0.0
    main = things[0]
    name = words_of(main.text("name"))
    offered = any(offer.is_priced for offer in offers_of(main))
    alike = likeness(name, found.title) if found.title and name else 0.4
    names = {words_of(thing.text("name")) for thing in things[:30]}
    if len(names) > _FEW:  # a heading such as "Digital cameras" names none of many
        alike = min(alike, len(name & found.title) / max(1, len(name)))
    if alike >= 0.5:
        return OFFERED if offered else 0.75
    alone = len(names) == 1 and not PRODUCT_TYPES.isdisjoint(main.types)
    return 0.85 if offered and alone else 0.4


def _declared(metas: list[Meta], fields: dict[str, EvidencedField]) -> float:
    """Confidence from meta tags."""
    kinds = {meta.content.lower() for meta in metas if meta.name == "og:type"}
    priced = any(meta.name in ("product:price:amount", "og:price:amount") for meta in metas)
    if priced:
        return 0.9
    return 0.8 if "price" in fields and not kinds.isdisjoint(_PRODUCT_KINDS) else 0.0


def _seen(found: Survey, fields: dict[str, EvidencedField]) -> float:
    """Confidence from visible content: a price near the heading, a way to buy, an article number."""
    price, stock, sku = fields.get("price"), fields.get("availability"), fields.get("sku")
    score = 0.0
    if price is not None:
        score += min(0.45, price.confidence * 0.7)
    if stock is not None and stock.evidence.normaliser != "offered":
        score += 0.15 if stock.evidence.source == "line" else 0.25
    if sku is not None:
        score += 0.25 if sku.evidence.source != "address" and sku.confidence >= 0.6 else 0.1
    named = sku is not None and sku.confidence >= _SURE
    if price is not None and not named and _is_one_of_many(found, price):
        score -= 0.45
    score += 0.2 if "gtin" in fields else 0.0
    score += 0.1 if "brand" in fields else 0.0
    score += 0.1 if "rating" in fields else 0.0
    score += 0.05 if "category" in fields else 0.0
    return round(min(_MAX_VISIBLE, score), 3)


def _is_one_of_many(found: Survey, price: EvidencedField) -> bool:
    """Whether the price is one of a list."""
    if price.evidence.source != "text":
        return False
    alike = sum(path_of(element) == price.evidence.path for element in found.parts.prices)
    return alike > _LISTED


def _is_shop(found: Survey) -> bool:
    """Whether the page mentions a cart."""
    return found.texts.mention(CART_WORDS)
