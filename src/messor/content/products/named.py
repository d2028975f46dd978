"""Elements of a page whose class or id names a part of a product."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import repeat

from turbohtml import Document, Element

from messor.content.products.repeated_classes import repeated_classes_of
from messor.content.products.text_cache import TextCache, kinds_in
from messor.content.products.words import (
    BRAND_NAMES,
    BUTTON_NAMES,
    NUMBER_NAMES,
    PRICE_NAMES,
    STOCK_NAMES,
    mentions,
)
from messor.core.lazy import lazy

MAX_ELEMENTS = 20_000
LONG = MAX_ELEMENTS * len("<p id=a>")  # source characters of that many elements with a class or id
MAX_PARTS = 400
MAX_NAMES = 400

_MARKS = ("itemprop", "data-testid", "data-test", "data-qa-qualifier", "data-auto-id")
# One combined selector is faster than one per attribute.
_MARKED = f":is({','.join(f'[{mark}]' for mark in _MARKS)})"
_FIELDS = frozenset(("button", "input"))
_MANY = 64  # elements per page from which learning classes pays off
_OFTEN = 4  # average repetitions of each
_KINDS = (
    ("p", PRICE_NAMES), ("s", STOCK_NAMES), ("n", NUMBER_NAMES), ("t", ("breadcrumb",)),
    ("b", BUTTON_NAMES), ("m", BRAND_NAMES),
)  # fmt: skip


class Parts:
    """Elements by the product part they are named after, in page order.

    Prices may be left out. For a known site, its repeated classes are skipped. A page whose source
    is not `long` has no more elements than the limit, so they are not counted.
    """

    def __init__(
        self, document: Document, site: str = "", *, prices: bool = True, long: bool = True
    ) -> None:
        self._document = document
        repeated = repeated_classes_of(site, prices=prices)
        elements: list[Element] = []
        if long or repeated is None or not repeated.others:
            elements = document.select("[class],[id]")[:MAX_ELEMENTS]
            if not _MANY < len(elements) < MAX_ELEMENTS:
                repeated = None
        if repeated is not None and repeated.others:
            elements = document.select(repeated.others)
        self._elements = elements
        # One call for all: a page has hundreds.
        self._classes = list(map(Element.attr, elements, repeat("class")))
        noted = document.select("button,input,[id]")  # in one walk
        ids = {element: own for element in noted if (own := element.attr("id"))}
        names = {*self._classes, *ids.values()}
        self._kinds_by_name = _NAMES.lookup({name for name in names if name is not None})
        if repeated is not None and len(elements) > _OFTEN * len(names):
            repeated.learn(self._classes, self._kinds_by_name)
        self._ids = {element: own for element, own in ids.items() if own in self._kinds_by_name}
        self._marked = _marked(document)
        self._has_prices = prices
        self.stocks: list[Element] = []  # stock notes
        self.numbers: list[Element] = []  # article numbers
        self.trails: list[Element] = []  # breadcrumbs
        self.brands: list[Element] = []
        # Also links with such names.
        self.buttons = [element for element in noted if element.tag in _FIELDS][:MAX_PARTS]
        links: list[Element] = []
        self._take(s=self.stocks, n=self.numbers, t=self.trails, m=self.brands, b=links)
        self.buttons += links

    @lazy
    def prices(self) -> list[Element]:
        """There may be hundreds, and they are not needed if a price is published."""
        if not self._has_prices:
            return Parts(self._document).prices
        found: list[Element] = []
        self._take(p=found)
        return found

    def _take(self, **lists: list[Element]) -> None:
        """Append the elements of some kinds to their lists."""
        for element, kinds in (*self._named(lists.keys()), *self._marked):
            for kind in kinds:
                taken = lists.get(kind)
                if taken is None or len(taken) >= MAX_PARTS:
                    continue
                if kind != "b" or element.tag == "a":
                    taken.append(element)

    def _named(self, kinds: AbstractSet[str]) -> list[tuple[Element, str]]:
        """Return elements whose class or id has one of these kinds, with all their kinds."""
        matching: dict[str | None, str] = {
            name: found
            for name, found in self._kinds_by_name.items()
            if not kinds.isdisjoint(found)
        }
        pairs = zip(self._elements, self._classes, strict=True)
        ids = {element: own for element, own in self._ids.items() if own in matching}
        if not ids:
            return [(element, matching[given]) for element, given in pairs if given in matching]
        return [
            (element, self._both(given or "", ids[element]) if element in ids else matching[given])
            for element, given in pairs
            if element in ids or given in matching
        ]

    def _both(self, given: str, own: str) -> str:
        """Return the kinds of a class and an id; no word spans both."""
        if len(given) + len(own) >= MAX_NAMES:
            return part_of(f"{given} {own}")
        return "".join({*self._kinds_by_name.get(given, ""), *self._kinds_by_name[own]})


def _classify(names: Collection[str]) -> dict[str, str]:
    """Return the kinds of each name."""
    kinds = kinds_in([name[:MAX_NAMES].lower() for name in names], _KINDS)
    return {name: found for name, found in zip(names, kinds, strict=True) if found}


_NAMES = TextCache(_classify)


def _marked(document: Document) -> list[tuple[Element, str]]:
    """Return elements with machine-readable attributes, and their kinds."""
    found = []
    for element in document.select(_MARKED)[:MAX_ELEMENTS]:
        kinds = part_of(" ".join([element.attr(mark) or "" for mark in _MARKS]))
        if kinds:
            found.append((element, kinds))
    return found


def part_of(names: str) -> str:
    """Return the kinds of names: (p)rice, (s)tock, article (n)umber, breadcrumb (t)rail, (b)utton,
    (m)aker.
    """
    return _part_of(names[:MAX_NAMES])


@lru_cache(maxsize=8192)
def _part_of(names: str) -> str:
    low = names.lower()
    kinds = ""
    for kind, words in _KINDS:
        if mentions(low, words):
            kinds += kind
    return kinds
