"""Elements of a page whose class or id names a part of a product."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import repeat

from turbohtml import Document, Element

from messor.content.memory import Bounded, Memory
from messor.content.products.words import (
    BRAND_NAMES,
    BUTTON_NAMES,
    NUMBER_NAMES,
    PRICE_NAMES,
    STOCK_NAMES,
    kinds_in,
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
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_ -]{0,59}")  # needs no escaping in a selector
_LONGEST_SITE = 100
_MAX_CLASSES = 6  # per site; each one makes the selector slower
_SHARE = 16  # a class must be on at least 1 in 16 of a page's elements
_TRIES = 4  # pages of a site to learn from


class RepeatedClasses:
    """Classes that recur on the elements of a site's pages and carry no information.

    A list of a hundred products has three hundred elements of three classes. Excluding them in the
    selector is far cheaper than checking the class of each.
    """

    __slots__ = ("_classes", "_tries", "_unwanted", "others")

    def __init__(self, unwanted: str) -> None:
        self.others = ""  # selects elements with another class, and all with an id
        self._unwanted = frozenset(unwanted)  # kinds that do not prevent exclusion
        self._classes: list[str] = []
        self._tries = 0

    def learn(self, classes: Sequence[str | None], kinds: Mapping[str, str]) -> None:
        """Learn from the classes of a page's elements; `kinds` maps informative classes."""
        if self._tries >= _TRIES or len(self._classes) >= _MAX_CLASSES:
            return
        self._tries += 1
        minimum = len(classes) / _SHARE
        for name, times in Counter(classes).most_common(_MAX_CLASSES - len(self._classes)):
            if name is None or times < minimum or not _PLAIN.fullmatch(name):
                continue
            if self._unwanted.issuperset(kinds.get(name, "")):
                self._classes.append(name)
        if self._classes:
            left_out = ",".join([f'[class="{name}"]' for name in self._classes])
            self.others = f"[class]:not({left_out}),[id]"


class KnownSites(Bounded[tuple[str, bool], RepeatedClasses]):
    """The repeated classes of sites; without `prices`, price classes are excluded too."""

    limit = 512

    def of(self, site: str, *, prices: bool) -> RepeatedClasses | None:
        if not site or len(site) > _LONGEST_SITE:
            return None
        known = self.get((site, prices))
        if known is None:
            known = RepeatedClasses("" if prices else "p")
            self.keep((site, prices), known)
        return known


class Parts:
    """Elements by the product part they are named after, in page order.

    Prices may be left out. For a known site, its repeated classes are skipped. A page whose source
    is not `long` has no more elements than the limit, so they are not counted.
    """

    def __init__(
        self,
        document: Document,
        memory: Memory,
        site: str = "",
        *,
        prices: bool = True,
        long: bool = True,
    ) -> None:
        self._document = document
        self._memory = memory
        repeated = memory.part(KnownSites).of(site, prices=prices)
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
        self._kinds_by_name = memory.texts(_classify).lookup(
            {name for name in names if name is not None}
        )
        if repeated is not None and len(elements) > _OFTEN * len(names):
            repeated.learn(self._classes, self._kinds_by_name)
        self._ids = {element: own for element, own in ids.items() if own in self._kinds_by_name}
        self._marked = self._read_marked()
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
            return Parts(self._document, self._memory).prices
        found: list[Element] = []
        self._take(p=found)
        return found

    def _read_marked(self) -> list[tuple[Element, str]]:
        """Return elements with machine-readable attributes, and their kinds."""
        known = self._memory.memo(part_of)
        found = []
        for element in self._document.select(_MARKED)[:MAX_ELEMENTS]:
            kinds = known[" ".join([element.attr(mark) or "" for mark in _MARKS])]
            if kinds:
                found.append((element, kinds))
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


def part_of(names: str) -> str:
    """Return the kinds of names: (p)rice, (s)tock, article (n)umber, breadcrumb (t)rail, (b)utton,
    (m)aker.
    """
    low = names[:MAX_NAMES].lower()
    kinds = ""
    for kind, words in _KINDS:
        if mentions(low, words):
            kinds += kind
    return kinds
