"""The visible text of a page as lines: what stands between two tags that break a line.

A line knows its element and the first text it is made of, so that its literal quote can be cut out
of the source when a record needs it, and costs nothing when none does. How lines are found is left
to `shown`; who needs no more than their texts asks it alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter
from typing import cast

from turbohtml import Element, Node, Text

from messor.content import seams
from messor.content.seams import Piece
from messor.content.shown import INLINE, UNSEEN, VisibleLines, first_text, holder_of
from messor.content.spans import SourceText

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}

_DIGIT = re.compile(r"\d")
_MARKS = bytes.maketrans(b"123456789", b"000000000")
_UNMARKED = bytes(set(range(256)) - set(b"0123456789@([{<\n"))
# With one of these bytes each digit of another script begins.
_FOREIGN_DIGITS = (b"\xd9", b"\xdb", b"\xdf", b"\xe0", b"\xe1", b"\xea", b"\xef", b"\xf0")

_Step = Callable[[Node], Node | None]
_next: _Step = attrgetter("next_sibling")
_previous: _Step = attrgetter("previous_sibling")


@dataclass(slots=True, eq=False)
class Line:
    """One line of visible text."""

    text: str
    region: str  # nav, footer, header, aside, or "" for the body of the page
    number: int  # its place among the lines
    first: Node  # of the texts that it is made of
    _element: Element | None = field(default=None, init=False, repr=False)
    _fenced: str | None = field(default=None, init=False, repr=False)
    _span: tuple[int | None, int | None] | None = field(default=None, init=False, repr=False)

    @property
    def element(self) -> Element:
        """The innermost one around it that is not inline."""
        if self._element is None:
            self._element = holder_of(self.first)
        return self._element

    @property
    def level(self) -> int:
        """Of a heading, else 0."""
        return _HEADINGS.get(self.element.tag, 0)

    @property
    def fenced(self) -> str:
        """The text with its seams marked, for patterns of numbers; its length is the same."""
        if self._fenced is None:
            self._fenced = seams.fenced(self.text, self._pieces())
        return self._fenced

    @property
    def walled(self) -> str:
        """The text with walls where a link's number meets another number."""
        return seams.walled(self.text, self._pieces())

    def _pieces(self) -> list[Piece]:
        """The texts that the line is made of."""
        found: list[Piece] = []
        left = sum(map(len, self.text.split()))
        is_begun = False
        for node in _own_texts(self.element):
            is_begun = is_begun or node is self.first
            if not is_begun or node.data.isspace():
                continue
            if left <= 0:
                break
            found.append(Piece(node.data, _link_around(node)))
            left -= sum(map(len, node.data.split()))
        return found

    def span(self, source: SourceText) -> tuple[int | None, int | None]:
        """Where in the source the line stands, as far as the tags around it are there."""
        if self._span is None:
            opened, is_beside = _break_from(self.first, _previous, -1)
            begin = source.after(opened, closing=is_beside)
            closed, is_beside = _break_from(self.first, _next, 0)
            self._span = begin, source.before(closed, closing=not is_beside)
        return self._span

    def quote(self, source: SourceText, wanted: str | None = None) -> str:
        """The literal source of the line, or of a text within it."""
        begin, end = self.span(source)
        return source.quote(self.text if wanted is None else wanted, begin, end)


def read_marks(texts: list[str]) -> list[str]:
    """Each line's digits, as zeros, its @ and its opening brackets, in their order.

    All lines at once, because that takes a tenth of the time of looking at each.
    """
    if not texts:
        return []
    whole = "\n".join(texts).encode("utf-8", "ignore")
    found = whole.translate(_MARKS, _UNMARKED).decode().split("\n")
    if not whole.isascii() and any(each in whole for each in _FOREIGN_DIGITS):
        for number, text in enumerate(texts):
            if "0" not in found[number] and not text.isascii() and _DIGIT.search(text):
                found[number] += "0"  # of another script
    return found


class LineNumbers:
    """Which line of a page an element stands in."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._firsts: dict[Node, int] = {}  # the lines by the first of their texts
        self._held: dict[Element, int | None] = {}

    def of(self, element: Element) -> int:
        """The number of the first line that the element, or one not far above, holds; else 0."""
        if not self._firsts:
            self._firsts = {line.first: line.number for line in self._lines}
        node: Node | None = element
        for _ in range(8):
            if not isinstance(node, Element):
                break
            number = self._first_held(node) if node.tag not in INLINE else None
            if number is not None:
                return number
            node = node.parent
        return 0

    def _first_held(self, holder: Element) -> int | None:
        """The first line that has this element for its own."""
        if holder not in self._held:
            self._held[holder] = next(
                (self._firsts[text] for text in _own_texts(holder) if text in self._firsts), None
            )
        return self._held[holder]


def _link_around(node: Node) -> Element | None:
    """The link that a text of a line stands in."""
    around = node.parent
    while isinstance(around, Element) and around.tag in INLINE:
        if around.tag == "a":
            return around
        around = around.parent
    return None


def _own_texts(holder: Element) -> Iterator[Text]:
    """The texts that an element holds, itself or in elements that are inline."""
    above = [iter(holder)]
    while above:
        for node in above[-1]:
            if type(node) is Text:
                yield node
            elif type(node) is Element and node.tag in INLINE:
                above.append(iter(node))
                break
        else:
            above.pop()


def _break_from(node: Node, step: _Step, entry: int) -> tuple[Element, bool]:
    """The element whose tag ends a line on one side of a node, and whether it stands beside it.

    If it does not, it holds the line. `entry` is the child by which others are entered on the way.
    """
    beside = step(node)
    while True:
        if beside is None:
            node = holder = cast("Element", node.parent)
            if holder.tag not in INLINE:
                return holder, False
        elif type(beside) is not Element or beside.tag in UNSEEN:
            node = beside
        elif beside.tag not in INLINE:
            return beside, True
        elif len(beside):
            beside = beside[entry]
            continue
        else:
            node = beside
        beside = step(node)


def lines_of(shown: VisibleLines) -> list[Line]:
    """The lines of a visible text, each as one object."""
    return list(map(Line, shown.texts, shown.regions, count(), map(first_text, shown.firsts)))
