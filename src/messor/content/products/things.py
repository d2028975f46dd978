"""Published products: JSON-LD, microdata and RDFa in one shape, a `PublishedThing`; and meta tags.

`published` interprets their properties.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turbohtml import Document, Element

from messor.content.page import ParsedPage
from messor.content.products.pool import quote_json
from messor.content.structured.items import (
    MICRODATA,
    RDFA,
    StructuredItem,
    Syntax,
    Value,
    all_items,
)
from messor.content.structured.json_ld import JsonLdScript, nodes, types_of

# Other items, such as books or events, are products if offered for money.
PRODUCT_TYPES = frozenset(
    (
        "Product", "product", "ProductGroup", "IndividualProduct", "ProductModel", "SomeProducts",
        "Vehicle", "Car", "Motorcycle",
    )
)  # fmt: skip
MAX_METAS = 1_000
_ZERO = re.compile(r"\D*0+(?:[.,]0+)?\D*")
_REFERRING = frozenset(("@id", "@type"))  # the only keys of a reference node


@dataclass(slots=True)
class PublishedThing:
    """A published item: `get` returns a property's values, each a PublishedThing or a quote.

    The source position of a quote is looked up once per requested property.
    """

    types: list[str]
    source: str
    path: str
    stated: Container[str]  # names of its properties
    _read: Callable[[str], list[PublishedThing | str]]
    _known: dict[str, list[PublishedThing | str]] = field(default_factory=dict)

    def get(self, name: str) -> list[PublishedThing | str]:
        if name not in self.stated:
            return []
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._read(name)
        return known

    def text(self, *names: str) -> str:
        """Return the first quote of the first property that has one."""
        for name in names:
            if name in self.stated:  # rare, and called often
                for value in self.get(name):
                    if isinstance(value, str) and value:
                        return value
        return ""

    def things(self, *names: str) -> list[PublishedThing]:
        return [v for name in names for v in self.get(name) if isinstance(v, PublishedThing)]

    def name_of(self, *names: str) -> str:
        """Return a quote, or the name of the item in its place."""
        for name in names:
            for value in self.get(name):
                quote = value if isinstance(value, str) else value.text("name")
                if quote:
                    return quote
        return ""

    @property
    def is_priced(self) -> bool:
        """Whether an offer has a price, directly or in a price specification."""
        terms = ("price", "lowPrice")
        if any(self.get(term) for term in terms):
            return True
        return any(each.text(*terms, "minPrice") for each in self.things("priceSpecification"))

    @property
    def is_free(self) -> bool:
        """Whether an offer is free, as those of many events are."""
        return _ZERO.fullmatch(self.text("price", "lowPrice")) is not None


class _Graph:
    """The nodes of a page's JSON-LD by id, indexed on the first reference."""

    def __init__(self, page: ParsedPage) -> None:
        self._page = page
        self._known: dict[str, tuple[dict[str, Any], JsonLdScript]] | None = None

    def meant(self, node: dict[str, Any], source: str) -> tuple[dict[str, Any], str]:
        """Return a node, or the one it refers to, and its source."""
        name = node.get("@id")
        if not isinstance(name, str) or not node.keys() <= _REFERRING:
            return node, source
        found = self._nodes.get(name)
        return (node, source) if found is None else (found[0], self.source(found[1]))

    def source(self, script: JsonLdScript) -> str:
        return script.written(self._page.source) or self._page.inner(script.element)

    @property
    def _nodes(self) -> dict[str, tuple[dict[str, Any], JsonLdScript]]:
        if self._known is None:
            self._known = {}
            for script in self._page.scripts:
                for node in (each for value in script.values for each in nodes(value)):
                    if isinstance(node.get("@id"), str) and not node.keys() <= _REFERRING:
                        self._known.setdefault(node["@id"], (node, script))
        return self._known


def published_things(page: ParsedPage) -> list[PublishedThing]:
    """Return all products a page publishes, JSON-LD first."""
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


def _is_product(thing: PublishedThing) -> bool:
    if not PRODUCT_TYPES.isdisjoint(thing.types):
        return True
    priced = any(offer.is_priced and not offer.is_free for offer in thing.things("offers"))
    return priced and bool(thing.text("name"))


def _json_things(page: ParsedPage) -> Iterator[PublishedThing]:
    graph = _Graph(page)
    for script in page.scripts:
        source = ""
        for value in script.values:
            for node in nodes(value):
                types = types_of(node)
                if "offers" in node or not PRODUCT_TYPES.isdisjoint(types):
                    source = source or graph.source(script)
                    yield _from_json(node, source, types, graph)


def _from_json(
    node: dict[str, Any], source: str, types: list[str], graph: _Graph
) -> PublishedThing:
    def read(name: str) -> list[PublishedThing | str]:
        given = node[name]
        values = given if isinstance(given, list) else [given]
        found: list[PublishedThing | str] = []
        for each in values[:200]:
            stands = isinstance(each, dict) and "@value" in each  # for a literal
            key, value = ("@value", each["@value"]) if stands else (name, each)
            if isinstance(value, dict):
                meant, place = graph.meant(value, source)
                found.append(_from_json(meant, place, types_of(meant), graph))
            elif isinstance(value, str) and value.strip():
                quote = quote_json(source, key, value)
                if quote:
                    found.append(quote)
        return found

    return PublishedThing(types, "json_ld", "/".join(types), node, read)


def _from_item(page: ParsedPage, item: StructuredItem, syntax: Syntax) -> PublishedThing:
    def read(name: str) -> list[PublishedThing | str]:
        found: list[PublishedThing | str] = []
        for value in item.properties[name][:200]:
            if isinstance(value, StructuredItem):
                found.append(_from_item(page, value, syntax))
            else:
                quote = _quote(page, value)
                if quote:
                    found.append(quote)
        return found

    types = item.type_names()
    return PublishedThing(types, syntax.name, "/".join(types), item.properties, read)


def _quote(page: ParsedPage, value: Value) -> str:
    if value.attribute is not None:
        return page.attribute(value.element, value.attribute)
    return page.inner(value.element)


def offers_of(thing: PublishedThing) -> list[PublishedThing]:
    """Return the offers of a product; those within an aggregate offer follow it."""
    found: list[PublishedThing] = []
    for offer in thing.things("offers", "offer"):
        found.append(offer)
        found.extend(offer.things("offers"))
    return found


class Meta(NamedTuple):
    """One meta tag with a name and content."""

    name: str
    content: str
    element: Element


def read_metas(document: Document) -> list[Meta]:
    """Return the meta tags with content by lower-case property, name or itemprop."""
    found: list[Meta] = []
    for element in document.select("meta[content]")[:MAX_METAS]:
        name = element.attr("property") or element.attr("name") or element.attr("itemprop")
        if name:
            content = (element.attr("content") or "").strip()
            found.append(Meta(name.strip().lower(), content, element))
    return found
