"""Microdata and RDFa Lite: items with properties in attributes of the visible markup.

One walk over the marked-up elements reads both; they differ in their attribute names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import urljoin

from turbohtml import Document, Element

from messor.content.plain import one_space

MAX_ELEMENTS = 5_000
MAX_REFERENCES = 50
_MAX_DEPTH = 40

_URL_ATTRIBUTES = {
    "a": "href", "area": "href", "link": "href", "audio": "src", "embed": "src", "iframe": "src",
    "img": "src", "source": "src", "track": "src", "video": "src", "object": "data",
}  # fmt: skip
_VALUE_ATTRIBUTES = {"data": "value", "meter": "value", "meta": "content", "time": "datetime"}


@dataclass(frozen=True, slots=True)
class Syntax:
    """The attributes a syntax uses."""

    name: str
    scope: str
    type: str
    property: str
    id: str


MICRODATA = Syntax("microdata", "itemscope", "itemtype", "itemprop", "itemid")
RDFA = Syntax("rdfa", "typeof", "typeof", "property", "resource")


@dataclass(slots=True)
class Value:
    """A property's value; `attribute` is its source, None for the text."""

    element: Element
    attribute: str | None
    given: str = ""  # from the attribute

    @property
    def text(self) -> str:
        return self.given if self.attribute is not None else one_space(self.element.text)


@dataclass(slots=True)
class StructuredItem:
    """An item with properties, in page order."""

    types: list[str]
    id: str | None
    element: Element
    properties: dict[str, list[Value | StructuredItem]] = field(default_factory=dict)
    is_within: bool = False  # whether it is a property of another item

    def type_names(self) -> list[str]:
        """Return types without their vocabulary: `Product` for `http://schema.org/Product`."""
        return [name.rstrip("/").rpartition("/")[2].rpartition(":")[2] for name in self.types]


def marked_items(
    document: Document,
    base: str = "",
    syntax: Syntax = MICRODATA,
    scopes: list[Element] | None = None,
    named: list[Element] | None = None,
) -> list[StructuredItem]:
    """Return all items of a page in page order, including nested ones.

    Their elements, and all elements with a property, may be passed in.
    """
    scopes = (document.select(f"[{syntax.scope}]") if scopes is None else scopes)[:MAX_ELEMENTS]
    if not scopes:
        return []
    items = [_item(element, syntax) for element in scopes]
    by_element = dict(zip(scopes, items, strict=True))
    if named is None:
        named = document.select(f"[{syntax.scope}] [{syntax.property}]")
    within = ((element, scope) for element in named if (scope := _scope(element, syntax)))
    for element, scope in islice(within, MAX_ELEMENTS):
        owner = by_element.get(scope)
        if owner is not None:
            _add(owner, element, by_element, base=base, syntax=syntax)
    if syntax is MICRODATA:
        _follow_references(document, by_element, base)
    return items


def all_items(items: list[StructuredItem]) -> list[StructuredItem]:
    """Return the distinct items including nested ones, outer ones first."""
    found: dict[int, StructuredItem] = {}
    pending = list(reversed(items))
    while pending:
        item = pending.pop()
        if id(item) in found:
            continue
        found[id(item)] = item
        inner = [
            v
            for values in item.properties.values()
            for v in values
            if isinstance(v, StructuredItem)
        ]
        pending.extend(reversed(inner))
    return list(found.values())


def _item(element: Element, syntax: Syntax) -> StructuredItem:
    types = (element.attr(syntax.type) or "").split()
    return StructuredItem(types, element.attr(syntax.id) or None, element)


def _scope(element: Element, syntax: Syntax) -> Element | None:
    """Return the element of the innermost item around an element."""
    parent = element.parent
    return parent.closest(f"[{syntax.scope}]") if isinstance(parent, Element) else None


def _add(
    owner: StructuredItem,
    element: Element,
    by_element: dict[Element, StructuredItem],
    *,
    base: str,
    syntax: Syntax,
) -> None:
    inner = by_element.get(element)
    if inner is owner:
        return
    value: Value | StructuredItem = _value(element, base) if inner is None else inner
    if inner is not None:
        inner.is_within = True
    for name in (element.attr(syntax.property) or "").split():
        owner.properties.setdefault(_plain_name(name), []).append(value)


def _plain_name(name: str) -> str:
    prefix, _, rest = name.partition(":")
    return rest if prefix.lower() in ("schema", "gr", "v") and rest else name


def _value(element: Element, base: str) -> Value:
    tag = element.tag
    for attribute in ("content", _VALUE_ATTRIBUTES.get(tag)):
        given = element.attr(attribute) if attribute else None
        if given is not None and (given or tag == "meta"):
            return Value(element, attribute, given.strip())
    attribute = _URL_ATTRIBUTES.get(tag)
    given = element.attr(attribute) if attribute else None
    if given is not None:
        return Value(element, attribute, _joined(base, given.strip()))
    return Value(element, None)


def _joined(base: str, url: str) -> str:
    try:
        return urljoin(base, url) if base else url
    except ValueError:
        return url


def _follow_references(
    document: Document, by_element: dict[Element, StructuredItem], base: str
) -> None:
    """Add the properties itemref points at: a bounded number, and none inside another item."""
    referring = [item for item in by_element.values() if item.element.attr("itemref")]
    for item in referring[:MAX_REFERENCES]:
        for name in (item.element.attr("itemref") or "").split()[:MAX_REFERENCES]:
            target = document.find(id=name) if name else None
            if target is None or item.element in (target, *target.ancestors):
                continue
            for element in _marked(target, by_element):
                _add(item, element, by_element, base=base, syntax=MICRODATA)


def _marked(root: Element, by_element: dict[Element, StructuredItem]) -> Iterator[Element]:
    """Yield the root and descendants with a property that are in no item in between."""
    if root.attr("itemprop"):
        yield root
        if root in by_element:
            return
    for element in root.select("[itemprop]")[:MAX_ELEMENTS]:
        nearest = next((a for a in element.ancestors if a == root or a in by_element), None)
        if nearest == root:
            yield element
