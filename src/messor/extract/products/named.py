"""The elements of a page whose names say that they hold a part of a product."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from itertools import accumulate, chain

from turbohtml import Document, Element

from messor.extract.products.words import (
    BRAND_NAMES,
    BUTTON_NAMES,
    NUMBER_NAMES,
    PRICE_NAMES,
    STOCK_NAMES,
    mentions,
)

MAX_ELEMENTS = 20_000
MAX_PARTS = 400
MAX_NAMES = 400

_MARKS = ("itemprop", "data-testid", "data-test", "data-qa-qualifier", "data-auto-id")
_MARKED = ",".join(f"[{mark}]" for mark in _MARKS)
_KINDS = (
    ("p", PRICE_NAMES), ("s", STOCK_NAMES), ("n", NUMBER_NAMES), ("t", ("breadcrumb",)),
    ("b", BUTTON_NAMES), ("m", BRAND_NAMES),
)  # fmt: skip
_MAX_KNOWN = 16_384


class _Memory:
    """Names that were looked at, and what those tell that tell anything: a site's pages repeat them."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.told: dict[str, str] = {}


_MEMORY = _Memory()


class Parts:
    """Elements by what they are named as, each in the order of the page."""

    def __init__(self, document: Document) -> None:
        self._elements = document.select("[class],[id]")[:MAX_ELEMENTS]
        self._classes = [element.attr("class") or "" for element in self._elements]
        ids = {element: element.attr("id") or "" for element in document.select("[id]")}
        self._telling = _telling({*self._classes, *ids.values()})
        self._ids = {element: own for element, own in ids.items() if own in self._telling}
        self._marked = _marked(document)
        self.stocks: list[Element] = []  # notes on stock
        self.numbers: list[Element] = []  # article numbers
        self.trails: list[Element] = []  # breadcrumbs
        self.brands: list[Element] = []
        self.buttons = document.select("button,input")[:MAX_PARTS]  # and links named so
        links: list[Element] = []
        self._take(s=self.stocks, n=self.numbers, t=self.trails, m=self.brands, b=links)
        self.buttons += links

    @cached_property
    def prices(self) -> list[Element]:
        """There may be hundreds, and where a price is published nobody asks for them."""
        found: list[Element] = []
        self._take(p=found)
        return found

    def _take(self, **lists: list[Element]) -> None:
        """Put the elements of some kinds into their lists."""
        for element, kinds in chain(self._named(lists.keys()), self._marked):
            for kind in kinds:
                taken = lists.get(kind)
                if taken is None or len(taken) >= MAX_PARTS:
                    continue
                if kind != "b" or element.tag == "a":
                    taken.append(element)

    def _named(self, kinds: AbstractSet[str]) -> Iterator[tuple[Element, str]]:
        """Elements whose class or id tells one of these kinds, with all that they tell."""
        told = {name: tells for name, tells in self._telling.items() if not kinds.isdisjoint(tells)}
        pairs = zip(self._elements, self._classes, strict=True)
        ids = {element: own for element, own in self._ids.items() if own in told}
        if not ids:
            for element, given in pairs:
                if given in told:
                    yield element, told[given]
            return
        for element, given in pairs:
            if element in ids:
                yield element, part_of(f"{given} {ids[element]}")
            elif given in told:
                yield element, told[given]


def _telling(names: set[str]) -> dict[str, str]:
    """The names that tell something, and what; a page has far fewer names than elements."""
    known, told = _MEMORY.known, _MEMORY.told
    fresh = list(names.difference(known))
    if len(known) + len(fresh) > _MAX_KNOWN:  # others may be reading the old ones
        known, told = _MEMORY.known, _MEMORY.told = set(), {}
        fresh = list(names)
    if fresh:
        told.update(_told(fresh))
        known.update(fresh)
    return {name: told[name] for name in names if name in told}


def _told(names: list[str]) -> dict[str, str]:
    """What each of many names tells; a word is looked for in all of them at a time."""
    lows = [name[:MAX_NAMES].lower() for name in names]
    joined = "\n".join(lows)
    ends = list(accumulate(len(low) + 1 for low in lows))
    kinds = [""] * len(names)
    for kind, words in _KINDS:
        places: set[int] = set()
        for word in words:
            at = joined.find(word)
            while at >= 0:
                place = bisect_right(ends, at)
                places.add(place)
                at = joined.find(word, ends[place])
        for place in places:
            kinds[place] += kind
    return {name: tells for name, tells in zip(names, kinds, strict=True) if tells}


def _marked(document: Document) -> list[tuple[Element, str]]:
    """Elements with attributes that machines know them by, and what these tell."""
    found = []
    for element in document.select(_MARKED)[:MAX_ELEMENTS]:
        kinds = part_of(" ".join([element.attr(mark) or "" for mark in _MARKS]))
        if kinds:
            found.append((element, kinds))
    return found


@lru_cache(maxsize=8192)
def part_of(names: str) -> str:
    """What names are those of: (p)rice, (s)tock, article (n)umber, breadcrumb (t)rail, (b)utton, (m)aker."""
    low = names[:MAX_NAMES].lower()
    kinds = ""
    for kind, words in _KINDS:
        if mentions(low, words):
            kinds += kind
    return kinds
