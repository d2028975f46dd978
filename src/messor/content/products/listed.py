"""Products that a page lists: one record per card, each with its own name, price and link.

Structured data first, where it states several products by name and URL; else what the cards show.
"""

from __future__ import annotations

from turbohtml import Element

from messor.content.amounts import MONEY
from messor.content.evidence import EvidencedField, make_field
from messor.content.kinds.priced import PRICE_OR_NUMBER
from messor.content.page import ParsedPage
from messor.content.plain import one_space
from messor.content.products.cards import MAX_CARDS, MIN_CARDS, Card, is_price
from messor.content.products.choose import agreed
from messor.content.products.pool import CandidatePool
from messor.content.products.published import read_thing
from messor.content.products.survey import Survey, kin_of, path_of
from messor.content.products.things import PublishedThing

KIND = "listed_product"

Fields = dict[str, EvidencedField]

_PUBLISHED = (
    "product_name", "price", "currency", "availability", "brand", "sku", "gtin", "mpn", "url",
)  # fmt: skip
_STRUCK = frozenset(("del", "s", "strike"))
_SHOWN = 0.7  # confidence of a name and price in a card
_STATED = 0.85
_WITHOUT_LINK = 0.6


def read_listed(
    page: ParsedPage, things: list[PublishedThing], found: Survey
) -> list[tuple[float, Fields]]:
    """Return the products a page lists, each with its confidence; empty if there are not several."""
    stated = _stated(page, things)
    shown = [made for card in found.cards if (made := _shown(page, card, found)) is not None]
    best = stated if len(stated) >= max(MIN_CARDS, len(shown)) else shown
    return best if len(best) >= MIN_CARDS else []


def _stated(page: ParsedPage, things: list[PublishedThing]) -> list[tuple[float, Fields]]:
    """Return the products in structured data that have a name, a URL, and a price or number."""
    found: dict[str, Fields] = {}
    for thing in things[:MAX_CARDS]:
        pool = CandidatePool(page)
        read_thing(pool, thing, _STATED)
        for offer in thing.things("offers"):
            pool.add("url", offer.source, offer.text("url"), _STATED, path="Offer.url")
        made = {name: best for name in _PUBLISHED if (best := agreed(pool.found[name])) is not None}
        if "url" in made and is_product(made):
            found.setdefault(made["url"].value, made)
    return [(_STATED, fields) for fields in found.values()]


def is_product(fields: Fields) -> bool:
    """Whether fields make a product: a name, and a price or a number."""
    return "product_name" in fields and not fields.keys().isdisjoint(PRICE_OR_NUMBER)


def _shown(page: ParsedPage, card: Card, found: Survey) -> tuple[float, Fields] | None:
    """Return what a card shows; None without a price."""
    element, attribute = card.name
    quote = page.attribute(element, attribute) if attribute else page.inner(element)
    name = make_field("html", "text", quote, confidence=_SHOWN, path=path_of(element))
    priced = _price(page, card, found)
    if name is None or priced is None:
        return None
    fields = {"product_name": name, "price": priced}
    evidence = priced.evidence
    code = make_field("html", "currency", evidence.quote, confidence=_SHOWN, path=evidence.path)
    if code is not None:
        fields["currency"] = code
    link = None
    if card.link is not None:
        href = page.attribute(card.link, "href")
        link = make_field("html", "url", href, confidence=_SHOWN, path="a@href")
    if link is not None:
        fields["url"] = link
    return (_SHOWN if link is not None else _WITHOUT_LINK), fields


def _price(page: ParsedPage, card: Card, found: Survey) -> EvidencedField | None:
    """Return a card's price: the first that is neither struck out nor named an old one."""
    ranked = sorted(card.prices, key=lambda element: _doubt(element, found))
    for element in ranked:
        quote = page.inner(element)
        made = make_field("html", "shown_amount", quote, confidence=_SHOWN, path=path_of(element))
        if made is not None and made.value > 0:
            return made
    return None


def _doubt(element: Element, found: Survey) -> int:
    """Return how unlikely an element shows the price paid."""
    near = kin_of(element, 3)
    is_old = any(node.tag in _STRUCK for node in near) or any(
        found.verdict(node)[1] for node in near[:2]
    )
    text = one_space(element.text)
    amounts = len(MONEY.findall(text))
    return 4 * is_old + 2 * (amounts > 1) + (amounts == 0) + (not is_price(text))
