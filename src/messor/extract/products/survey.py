"""One walk over a page: its lines, its heading, and the elements that look like a product's parts.

A page is not rendered here; what stands where is guessed from names of classes and from the order
of the source. What the parts say is left to the readers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from turbohtml import Element, Text

from messor.extract.page import Page
from messor.extract.products.likeness import likeness, words_of
from messor.extract.products.words import (
    BRAND_NAMES,
    BUTTON_NAMES,
    ELSEWHERE,
    NUMBER_NAMES,
    OFF_STAGE,
    OLD_PRICE,
    OTHERS,
    PRICE_NAMES,
    STOCK_NAMES,
    mentions,
)

MAX_LINES = 20_000
MAX_LINE = 300
MAX_ELEMENTS = 20_000
MAX_HEADINGS = 60
MAX_PARTS = 400
MAX_NAMES = 400
# Lines behind the heading that speak of the product itself.
WINDOW = 80
BEFORE = 10

_UNSEEN = frozenset(("script", "style", "noscript", "template", "option", "textarea", "iframe"))
_MARKS = ("itemprop", "data-testid", "data-test", "data-qa-qualifier", "data-auto-id")
_MARKED = ",".join(f"[{mark}]" for mark in _MARKS)
_KINDS = (
    ("p", PRICE_NAMES), ("s", STOCK_NAMES), ("n", NUMBER_NAMES), ("t", ("breadcrumb",)),
    ("b", BUTTON_NAMES), ("m", BRAND_NAMES),
)  # fmt: skip


class Line(NamedTuple):
    """A short piece of visible text."""

    text: str
    node: Text


@dataclass(slots=True)
class Survey:
    """What a walk over the page found."""

    page: Page
    texts: list[str] = field(default_factory=list)  # of its lines
    nodes: list[Text] = field(default_factory=list)  # that hold them
    prices: list[Element] = field(default_factory=list)  # elements named as prices
    stocks: list[Element] = field(default_factory=list)  # as notes on stock
    numbers: list[Element] = field(default_factory=list)  # as article numbers
    trails: list[Element] = field(default_factory=list)  # as breadcrumbs
    brands: list[Element] = field(default_factory=list)
    buttons: list[Element] = field(default_factory=list)
    heading: Element | None = None  # the one that names what the page is about
    at: int = -1  # where it stands in the source
    way: frozenset[Element] = frozenset()  # its ancestors
    title: frozenset[str] = frozenset()  # its words
    first: int = 0  # its line

    def before(self) -> list[Line]:
        """The few lines before the heading."""
        return self._lines(max(0, self.first - BEFORE), self.first)

    def window(self) -> list[Line]:
        """The lines behind the heading, up to where other products are spoken of."""
        lines = self._lines(self.first + 1, self.first + 1 + WINDOW)
        for number, line in enumerate(lines):
            if len(line.text) < 60 and _heads_others(line.text):
                return lines[:number]
        return lines

    def _lines(self, begin: int, end: int) -> list[Line]:
        pairs = zip(self.texts[begin:end], self.nodes[begin:end], strict=True)
        return [Line(text, node) for text, node in pairs]


@lru_cache(maxsize=8192)
def _heads_others(text: str) -> bool:
    """Whether a line heads a list of other products; remembered, for a site's pages repeat it."""
    return mentions(text.lower(), OTHERS)


def survey(page: Page, titles: list[str]) -> Survey:
    """Walk over a page whose titles are given."""
    found = Survey(page)
    at_line = _read_lines(found)
    _sort_elements(found)
    found.heading = _best_heading(list(at_line), titles)
    if found.heading is not None:
        found.at = page.start(found.heading)
        found.way = frozenset(a for a in found.heading.ancestors if isinstance(a, Element))
        found.title = words_of(found.heading.text)
        found.first = at_line[found.heading]
    return found


def _read_lines(found: Survey) -> dict[Element, int]:
    """Gather the short texts; answers the headings and at which line each begins."""
    body = found.page.document.find("body")
    headings: dict[Element, int] = {}
    unseen = False
    texts, nodes = found.texts, found.nodes
    for node in body.descendants if body is not None else ():
        if type(node) is Text:
            data = node.data
            if not unseen and len(data) <= MAX_LINE and not data.isspace():
                texts.append(data.strip())
                nodes.append(node)
                if len(texts) >= MAX_LINES:
                    break
        elif type(node) is Element:
            tag = node.tag
            unseen = tag in _UNSEEN
            if tag in ("h1", "h2") and len(headings) < MAX_HEADINGS:
                headings[node] = len(texts)
    return headings


def _sort_elements(found: Survey) -> None:
    """Gather the elements whose names say what they hold."""
    document = found.page.document
    found.buttons = document.select("button,input")[:MAX_PARTS]
    links: list[Element] = []
    parts = {
        "p": found.prices, "s": found.stocks, "n": found.numbers, "t": found.trails,
        "m": found.brands, "b": links,
    }  # fmt: skip
    for element in document.select("[class],[id]")[:MAX_ELEMENTS]:
        own, given = element.attr("id"), element.attr("class")
        for kind in part_of(f"{given or ''} {own}" if own else given or ""):
            _take(parts[kind], element, kind)
    for element in document.select(_MARKED)[:MAX_ELEMENTS]:
        for kind in part_of(" ".join(element.attr(mark) or "" for mark in _MARKS)):
            _take(parts[kind], element, kind)
    found.buttons += links


def _take(parts: list[Element], element: Element, kind: str) -> None:
    if len(parts) < MAX_PARTS and (kind != "b" or element.tag == "a"):
        parts.append(element)


def names_of(element: Element) -> str:
    """An element's class and id."""
    given, own = element.attr("class"), element.attr("id")
    return f"{given or ''} {own or ''}" if given or own else ""


@lru_cache(maxsize=8192)
def part_of(names: str) -> str:
    """What names are those of: (p)rice, (s)tock, article (n)umber, breadcrumb (t)rail, (b)utton, (m)aker."""
    low = names[:MAX_NAMES].lower()
    kinds = ""
    for kind, words in _KINDS:
        if mentions(low, words):
            kinds += kind
    return kinds


@lru_cache(maxsize=8192)
def judged(names: str) -> tuple[bool, bool, bool]:
    """Whether names speak of other products, of an old price, of hidden things."""
    names = names[:MAX_NAMES]
    return (
        ELSEWHERE.search(names) is not None,
        OLD_PRICE.search(names) is not None,
        OFF_STAGE.search(names) is not None,
    )


def kin_of(element: Element, limit: int) -> list[Element]:
    """An element and its nearest ancestors."""
    found = [element]
    for ancestor in element.ancestors:
        if not isinstance(ancestor, Element) or len(found) >= limit:
            break
        found.append(ancestor)
    return found


def is_elsewhere(found: Survey, kin: list[Element]) -> bool:
    """Whether an element, given with its ancestors, is part of something else on the page."""
    for node in kin:
        if node in found.way:
            return False
        if node.tag in ("nav", "footer", "aside") or judged(names_of(node))[0]:
            return True
    return False


def is_off_stage(found: Survey, kin: list[Element]) -> bool:
    """Whether an element, given with its ancestors, is hidden or part of something else."""
    for node in kin:
        if node in found.way:
            return False
        elsewhere, _, hidden = judged(names_of(node))
        if elsewhere or hidden or node.attr("hidden") is not None:
            return True
        style = node.attr("style")
        if style and "display:none" in style.replace(" ", ""):
            return True
    return False


def path_of(element: Element) -> str:
    """A few words that lead people to an element."""
    names = (element.attr("class") or element.attr("id") or "").split()[:2]
    return ".".join([element.tag, *names])


def _best_heading(headings: list[Element], titles: list[str]) -> Element | None:
    """The heading most like the page's titles; one of the second rank has to be much more so."""
    names = [words_of(title) for title in titles if title]

    def score(heading: Element) -> float:
        own = words_of(heading.text)
        alike = (likeness(own, name) * min(1.0, len(own & name) / 2) for name in names)
        return max(alike, default=0.0) + (0.4 if heading.tag == "h1" else 0.0)

    return max((heading for heading in headings if heading.text.strip()), key=score, default=None)
