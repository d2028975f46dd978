"""Lazily computed features of a product page: its heading, lines and parts.

The page is not rendered; positions are inferred from class names and source order.
"""

from __future__ import annotations

from itertools import takewhile

from turbohtml import Element, Node

from messor.content.page import ParsedPage
from messor.content.products.cards import Card, find_cards
from messor.content.products.headings import Named, heading_of
from messor.content.products.line_types import (
    OTHER,
    STOCK,
    all_line_types,
    labels_and_reviews,
    stock_notes_and_others,
)
from messor.content.products.named import LONG, Parts
from messor.content.products.texts import Line, Texts
from messor.content.products.words import ELSEWHERE, OFF_STAGE, OLD_PRICE
from messor.core.lazy import lazy

MAX_NAMES = 400
# Lines after the heading that concern the product itself.
WINDOW = 80
# Lines from the heading on, read in steps: nothing after the last note is needed.
_STEPS = (10, 40, 1 + WINDOW)
_SMALL = 300  # texts
BEFORE = 15

_HEADS = frozenset(("h2", "h3", "h4", "h5", "h6"))
_NOT_MAIN = frozenset(("nav", "footer", "aside"))


class Survey:
    """The survey of a page with given titles."""

    def __init__(self, page: ParsedPage, titles: list[str]) -> None:
        self.page = page
        self.texts = Texts(page.document.find("body"))
        self.wants_prices = True  # of visible texts
        self.has_cards = False  # whether visible values may belong to other products
        self._titles = titles
        self._judged = page.memory.memo(judged)
        self._verdicts: dict[Element, tuple[bool, bool, bool]] = {}
        # Computed on demand, or together.
        self._labelled: dict[str, str] | None = None
        self._noted_texts: dict[str, str] | None = None

    @property
    def _site(self) -> str:
        return self.page.url.partition("//")[2].partition("/")[0]

    @lazy
    def parts(self) -> Parts:
        """The elements named as parts of a product."""
        page = self.page
        is_long = len(page.source.text) >= LONG
        return Parts(page.document, page.memory, self._site, prices=self.wants_prices, long=is_long)

    @lazy
    def cards(self) -> list[Card]:
        """The boxes that show other products."""
        return find_cards(self.texts, self.parts.prices, self.heading)

    @lazy
    def _card_elements(self) -> frozenset[Node]:
        return frozenset(card.element for card in self.cards)

    def is_in_card(self, node: Node) -> bool:
        """Whether a node belongs to a product of its own."""
        if not self.has_cards:
            return False
        cards = self._card_elements
        return bool(cards) and (node in cards or any(each in cards for each in node.ancestors))

    @lazy
    def _named(self) -> Named:
        """The heading that names the page's subject, and its words."""
        return heading_of(self.page.document, self.texts, self._titles)

    @property
    def heading(self) -> Element | None:
        """The heading that names the page's subject."""
        return self._named[0]

    @property
    def title(self) -> frozenset[str]:
        """The heading's words."""
        return self._named[1]

    @lazy
    def at(self) -> int:
        """The offset of the heading in the source."""
        return -1 if self.heading is None else self.page.start(self.heading)

    @lazy
    def way(self) -> frozenset[Node]:
        """The heading's ancestors."""
        return frozenset(() if self.heading is None else self.heading.ancestors)

    @lazy
    def before(self) -> list[Line]:
        """The few lines before the heading."""
        lines = self.texts.before(self.heading, BEFORE)
        return [line for line in lines if not self.is_in_card(line[1])]

    def after(self, limit: int) -> list[Line]:
        """Return the first lines from the heading on."""
        return self.texts.after(self.heading, limit)

    @lazy
    def window(self) -> list[Line]:
        """The lines after the heading, up to those about other products."""
        return self._before_others(self.after(1 + WINDOW)[1:])

    def own(self, elements: list[Element]) -> list[Element]:
        """Return the elements that are not in a card."""
        return [each for each in elements if not self.is_in_card(each)]

    def _before_others(self, lines: list[Line]) -> list[Line]:
        lines = [line for line in lines if not self.is_in_card(line[1])]
        heads = {text.strip() for text, kinds in self._stock_and_others.items() if OTHER in kinds}
        if not heads:
            return lines
        return list(takewhile(lambda line: line[0] not in heads, lines))

    @lazy
    def others_at(self) -> int | None:
        """The offset of a heading of other products; None if none is near."""
        heads = {text.strip() for text, kinds in self._stock_and_others.items() if OTHER in kinds}
        for text, node in self.after(1 + WINDOW)[1:] if heads else ():
            holder = node.parent
            if text in heads and isinstance(holder, Element) and holder.tag in _HEADS:
                return self.page.start(holder)
        return None

    @lazy
    def notes(self) -> list[tuple[int, str]]:
        """The stock notes in the window, with their positions."""
        noted = self._noted
        if not noted:
            return []
        wanted, times = {text.strip() for text in noted}, self.texts.times(noted)
        found: list[tuple[int, str]] = []
        for limit in self._steps:
            lines = self._before_others(self.after(limit)[1:])
            found = [(at, text) for at, (text, _) in enumerate(lines) if text in wanted]
            if len(found) == times or len(lines) < limit - 1:
                break
        return found

    @property
    def first_notes(self) -> list[tuple[int, str]]:
        """The same, first occurrences only; the rest need not be read."""
        noted = self._noted
        if not noted:
            return []
        wanted = {text.strip() for text in noted}
        found: dict[str, int] = {}
        for limit in self._steps:
            lines = self._before_others(self.after(limit)[1:])
            for at, (text, _) in enumerate(lines):
                if text in wanted:
                    found.setdefault(text, at)
            if len(found) == len(wanted) or len(lines) < limit - 1:
                break
        return [(at, text) for text, at in found.items()]

    @property
    def times_noted(self) -> int:
        """How many texts of a small page are stock notes, visible or not; the maximum for others."""
        return self.texts.times(self._noted) if self._is_small else WINDOW

    @property
    def _noted(self) -> list[str]:
        return [text for text, kinds in self._stock_and_others.items() if STOCK in kinds]

    @property
    def _steps(self) -> tuple[int, ...]:
        return _STEPS if self._is_small else _STEPS[-1:]

    @property
    def labelled(self) -> dict[str, str]:
        """The page's lines that are labels or reviews, with their types."""
        if self._labelled is None:
            self._labelled = labels_and_reviews(self.texts.distinct, self.page.memory)
        return self._labelled

    @property
    def _stock_and_others(self) -> dict[str, str]:
        """The texts that are stock notes or headings of other products.

        All texts of a small page are checked, so that it need not be read to the window's end.
        """
        if self._noted_texts is None:
            texts = self.texts.distinct
            if not self._is_small:
                texts = {text for text, _ in self.after(1 + WINDOW)[1:]}
            self._noted_texts = stock_notes_and_others(texts, self.page.memory)
        return self._noted_texts

    def expect_notes(self) -> None:
        """Prepare for reading labels and notes: a small page's texts are looked up once for both."""
        if self._is_small:
            self._labelled, self._noted_texts = all_line_types(
                self.texts.distinct, self.page.memory
            )

    @property
    def _is_small(self) -> bool:
        return len(self.texts.distinct) <= _SMALL

    def verdict(self, element: Element) -> tuple[bool, bool, bool]:
        """Return what an element's names indicate, as `judged`; cached, as parts share ancestors."""
        known = self._verdicts.get(element)
        if known is None:
            known = self._verdicts[element] = self._judged[names_of(element)]
        return known


def names_of(element: Element) -> str:
    """Return an element's class and id."""
    given, own = element.attr("class"), element.attr("id")
    return f"{given or ''} {own or ''}" if given or own else ""


def judged(names: str) -> tuple[bool, bool, bool]:
    """Whether names indicate other products, an old price, hidden content."""
    names = names[:MAX_NAMES]
    return (
        ELSEWHERE.search(names) is not None,
        OLD_PRICE.search(names) is not None,
        OFF_STAGE.search(names) is not None,
    )


def kin_of(element: Element, limit: int) -> list[Element]:
    """Return an element and its nearest ancestors."""
    found = [element]
    parent = element.parent
    while type(parent) is Element and len(found) < limit:
        found.append(parent)
        parent = parent.parent
    return found


def is_elsewhere(found: Survey, kin: list[Element]) -> bool:
    """Whether an element, given with its ancestors, belongs to something else on the page."""
    way = found.way
    for node in kin:
        if node in way:
            return False
        if node.tag in _NOT_MAIN or found.verdict(node)[0]:
            return True
    return False


def is_off_stage(found: Survey, element: Element, limit: int) -> bool:
    """Whether an element or a near ancestor is hidden or belongs to something else."""
    way = found.way
    node: object = element
    for _ in range(limit):
        if type(node) is not Element or node in way:
            return False
        elsewhere, _, hidden = found.verdict(node)
        if elsewhere or hidden or node.attr("hidden") is not None:
            return True
        style = node.attr("style")
        if style and "display:none" in style.replace(" ", ""):
            return True
        node = node.parent
    return False


def path_of(element: Element) -> str:
    """Return a short human-readable path to an element."""
    names = (element.attr("class") or element.attr("id") or "").split()[:2]
    return ".".join([element.tag, *names])
