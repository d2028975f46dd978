"""Products as a page publishes them for machines: JSON-LD, microdata, RDFa and meta tags.

The three kinds of items become one shape, a `Thing`, so that what a product's properties mean is
said once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import Any

from messor.extract.page import Page
from messor.extract.products.pool import Pool, quote_json
from messor.extract.structured.items import (
    MICRODATA,
    RDFA,
    Item,
    Syntax,
    Value,
    all_items,
)
from messor.extract.structured.json_ld import nodes, types_of
from messor.extract.structured.meta import Meta

# Other things, such as books or events, are products when they are offered for money.
PRODUCT_TYPES = frozenset(
    (
        "Product", "product", "ProductGroup", "IndividualProduct", "ProductModel", "SomeProducts",
        "Vehicle", "Car", "Motorcycle",
    )
)  # fmt: skip
# What the parser may have made of something else.
_ESCAPED = re.compile("[&\ufffd]")
_GTINS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "ean13", "isbn", "upc")
# A product's fields, the terms that state them, the best first, and how much they count.
_PROPERTIES: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("product_name", ("name",), 1.0), ("description", ("description",), 1.0),
    ("brand", ("brand", "manufacturer"), 1.0), ("category", ("category",), 1.0),
    ("sku", ("sku",), 1.0), ("sku", ("productID", "productId", "identifier"), 0.8),
    ("mpn", ("mpn", "model"), 1.0), ("sku", ("mpn",), 0.6), ("url", ("url",), 1.0),
)  # fmt: skip
_THINGS = frozenset(("brand", "category"))  # that things with a name may stand for


@dataclass(slots=True)
class Thing:
    """A published item: `get` answers a property's values, each a Thing or a quote.

    Where a quote stands in the source is looked up once for each property that is asked for.
    """

    types: list[str]
    source: str
    path: str
    stated: Container[str]  # the properties it has
    _read: Callable[[str], list[Thing | str]]
    _known: dict[str, list[Thing | str]] = field(default_factory=dict)

    def get(self, name: str) -> list[Thing | str]:
        if name not in self.stated:
            return []
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._read(name)
        return known

    def text(self, *names: str) -> str:
        """The first quote of the first property that has one."""
        for name in names:
            if name in self.stated:  # few are, and this is asked often
                for value in self.get(name):
                    if isinstance(value, str) and value:
                        return value
        return ""

    def things(self, *names: str) -> list[Thing]:
        return [v for name in names for v in self.get(name) if isinstance(v, Thing)]

    def name_of(self, *names: str) -> str:
        """A quote, or the name of the thing that stands in its place."""
        for name in names:
            for value in self.get(name):
                quote = value if isinstance(value, str) else value.text("name", "@id")
                if quote:
                    return quote
        return ""


def published_things(page: Page) -> list[Thing]:
    """All products a page publishes, JSON-LD first."""
    found = [thing for thing in _json_things(page) if _is_product(thing)]
    for syntax in (MICRODATA, RDFA):
        items = [item for item in page.items(syntax) if not item.is_within]
        for item in all_items(items) if items else ():
            types = item.type_names()
            if "offers" not in item.properties and PRODUCT_TYPES.isdisjoint(types):
                continue
            thing = _from_item(page, item, syntax)
            if _is_product(thing):
                found.append(thing)
    return found


def _is_product(thing: Thing) -> bool:
    if not PRODUCT_TYPES.isdisjoint(thing.types):
        return True
    priced = any(offer.get("price") or offer.get("lowPrice") for offer in thing.things("offers"))
    return priced and bool(thing.text("name"))


def _json_things(page: Page) -> Iterator[Thing]:
    for script in page.scripts:
        source = ""
        for value in script.values:
            for node in nodes(value):
                types = types_of(node)
                if "offers" in node or not PRODUCT_TYPES.isdisjoint(types):
                    source = source or script.written(page.source) or page.inner(script.element)
                    yield _from_json(node, source, types)


def _from_json(node: dict[str, Any], source: str, types: list[str]) -> Thing:
    def read(name: str) -> list[Thing | str]:
        given = node[name]
        values = given if isinstance(given, list) else [given]
        found: list[Thing | str] = []
        for value in values[:200]:
            if isinstance(value, dict):
                found.append(_from_json(value, source, types_of(value)))
            elif isinstance(value, str) and value.strip():
                quote = quote_json(source, name, value)
                if quote:
                    found.append(quote)
        return found

    return Thing(types, "json_ld", "/".join(types), node, read)


def _from_item(page: Page, item: Item, syntax: Syntax) -> Thing:
    def read(name: str) -> list[Thing | str]:
        found: list[Thing | str] = []
        for value in item.properties[name][:200]:
            if isinstance(value, Item):
                found.append(_from_item(page, value, syntax))
            else:
                quote = _quote(page, value)
                if quote:
                    found.append(quote)
        return found

    types = item.type_names()
    return Thing(types, syntax.name, "/".join(types), item.properties, read)


def _quote(page: Page, value: Value) -> str:
    if value.attribute is not None:
        return page.attribute(value.element, value.attribute)
    return page.inner(value.element)


def offers_of(thing: Thing) -> list[Thing]:
    """The offers of a product, those within an aggregate offer after it."""
    found: list[Thing] = []
    for offer in thing.things("offers", "offer"):
        found.append(offer)
        found.extend(offer.things("offers"))
    return found


def read_thing(pool: Pool, thing: Thing, confidence: float) -> None:
    """Take a published product's properties into the pool."""
    source, path = thing.source, thing.path

    def add(name: str, quote: str, share: float = 1.0) -> None:
        if quote:
            pool.add(name, source, quote, confidence * share, path=f"{path}.{name}")

    for name, terms, share in _PROPERTIES:
        quote = thing.name_of(*terms) if name in _THINGS else thing.text(*terms)
        if quote:
            add(name, quote, share)
    for name in filter(thing.stated.__contains__, _GTINS):  # hardly any is
        add("gtin", thing.text(name))
    number = thing.text("productID", "sku")
    if len(number) > 11 and sum(map(str.isdigit, number)) > 11:
        add("gtin", number, 0.8)
    for image in thing.get("image")[:20]:
        add("image", image if isinstance(image, str) else image.text("url", "contentUrl"))
    for rated in thing.things("aggregateRating"):
        add("rating", rated.text("ratingValue"))
        add("review_count", rated.text("reviewCount", "ratingCount"))
    for place, offer in enumerate(offers_of(thing)):
        read_offer(pool, offer, confidence * (0.97 if place else 1.0))


def read_offer(pool: Pool, offer: Thing, confidence: float) -> None:
    """Take an offer's price, currency and stock into the pool."""
    source, path = offer.source, offer.path

    def add(
        name: str, quote: str, term: str, share: float = 1.0, normaliser: str | None = None
    ) -> None:
        if quote:
            way = f"{path}.{term}"
            pool.add(name, source, quote, confidence * share, path=way, normaliser=normaliser)

    for priced in (offer, *offer.things("priceSpecification")):
        price = priced.text("price", "lowPrice", "minPrice")
        kind = "machine_amount" if source == "json_ld" else _amount_kind(price)
        add("price", price, "price", normaliser=kind)
        add("currency", priced.text("priceCurrency"), "priceCurrency")
    for name, term, share in _TERMS:
        if term in offer.stated:  # few are
            by_name = name == "seller"
            add(name, offer.name_of(term) if by_name else offer.text(term), term, share)


# An offer's fields, the terms that state them, and how much they count.
_TERMS = (
    ("availability", "availability", 1.0), ("sku", "sku", 0.9),
    *(("gtin", name, 0.9) for name in _GTINS),
    ("seller", "seller", 1.0), ("condition", "itemCondition", 1.0),
)  # fmt: skip


def _amount_kind(quote: str) -> str:
    return (
        "shown_amount"
        if "<" in quote or not quote.strip().replace(".", "").isdigit()
        else "machine_amount"
    )


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


def read_meta_fields(pool: Pool, metas: list[Meta]) -> None:
    """Take what meta tags say of the product into the pool."""
    for meta in metas:
        known = _METAS.get(meta.name)
        if known is None or (known[1] > 0.5 and meta.element.attr("itemprop")):
            continue
        name, confidence = known
        content = meta.content
        # Where nothing is or was escaped, the source need not be asked how it is written.
        if not content or not content.isprintable() or _ESCAPED.search(content):
            content = pool.page.attribute(meta.element, "content")
        pool.add(name, "meta", content, confidence, path=meta.name)
