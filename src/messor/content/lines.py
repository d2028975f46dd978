"""The visible text of a page as line objects; a line is the text between two line-breaking tags.

A line knows its element and its first text node, so its literal quote can be cut out of the source
when a record needs it, and costs nothing otherwise. `visible_lines` finds the lines; use it
directly if only their texts are needed.

A line joins the texts of inline elements, as people read them. A seam is where one of them ends and
another begins. A number lies within one text: "model 1" in a link and "20.90" next to it are two
numbers. So patterns get a line whose seams they cannot cross where they should not; its characters
keep their positions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter
from typing import cast

from turbohtml import Element, Node, Text

from messor.content.spans import SourceText
from messor.content.visible_lines import INLINE, UNSEEN, VisibleLines, first_text, holder_of

SEAM = "\x1f"  # matches \s, but not the space within a number
WALL = "|"
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}

_DIGIT = re.compile(r"\d")
_MARKS = bytes.maketrans(b"123456789", b"000000000")
_UNMARKED = bytes(set(range(256)) - set(b"0123456789@([{<\n"))
# First bytes of the digits of other scripts.
_FOREIGN_DIGITS = (b"\xd9", b"\xdb", b"\xdf", b"\xe0", b"\xe1", b"\xea", b"\xef", b"\xf0")

_Step = Callable[[Node], Node | None]
_next: _Step = attrgetter("next_sibling")
_previous: _Step = attrgetter("previous_sibling")


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the text pieces of a line."""

    text: str
    link: object  # the link around it, None outside links


def fenced(text: str, pieces: Iterable[Piece]) -> str:
    """Return a line with SEAM for each space between two pieces, WALL for one between two digits."""
    return _marked(text, [place for place, _ in _seams(text, pieces)], soft=SEAM)


def walled(text: str, pieces: Iterable[Piece]) -> str:
    """Return a line with WALL for a space between two digits of which only one is in a link."""
    return _marked(text, [place for place, at_link in _seams(text, pieces) if at_link], soft=" ")


def _marked(text: str, places: list[int], soft: str) -> str:
    found = list(text)
    for place in places:
        digits = text[place - 1 : place].isdigit() and text[place + 1 : place + 2].isdigit()
        found[place] = WALL if digits else soft
    return "".join(found)


def _seams(text: str, pieces: Iterable[Piece]) -> list[tuple[int, bool]]:
    """Return the spaces of a line between two pieces, and whether a link ends or starts there.

    White space was collapsed, so positions are found by counting all other characters.
    """
    ends: dict[int, bool] = {}
    size = 0
    before: Piece | None = None
    for piece in pieces:
        if before is not None:
            ends[size] = piece.link is not before.link
        size += sum(map(len, piece.text.split()))
        before = piece
    found: list[tuple[int, bool]] = []
    passed = 0
    for place, character in enumerate(text):
        if character != " ":
            passed += 1
        elif passed in ends:
            found.append((place, ends[passed]))
    return found


@dataclass(slots=True, eq=False)
class Line:
    """One line of visible text."""

    text: str
    region: str  # nav, footer, header, aside, or "" for the body of the page
    number: int  # index among the lines
    first: Node  # first text node of the line
    _element: Element | None = field(default=None, init=False, repr=False)
    _fenced: str | None = field(default=None, init=False, repr=False)
    _span: tuple[int | None, int | None] | None = field(default=None, init=False, repr=False)

    @property
    def element(self) -> Element:
        """The innermost non-inline element around the line."""
        if self._element is None:
            self._element = holder_of(self.first)
        return self._element

    @property
    def level(self) -> int:
        """The heading level, 0 if the line is not a heading."""
        return _HEADINGS.get(self.element.tag, 0)

    @property
    def fenced(self) -> str:
        """The text with its seams marked, for number patterns; its length is unchanged."""
        if self._fenced is None:
            self._fenced = fenced(self.text, self._pieces())
        return self._fenced

    @property
    def walled(self) -> str:
        """The text with walls where a number in a link meets another number."""
        return walled(self.text, self._pieces())

    def _pieces(self) -> list[Piece]:
        """Return the text pieces of the line."""
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
        """Return the line's offsets in the source, as far as the tags around it exist."""
        if self._span is None:
            opened, is_beside = _break_from(self.first, _previous, -1)
            begin = source.after(opened, closing=is_beside)
            closed, is_beside = _break_from(self.first, _next, 0)
            self._span = begin, source.before(closed, closing=not is_beside)
        return self._span

    def quote(self, source: SourceText, wanted: str | None = None) -> str:
        """Return the literal source of the line, or of a text within it."""
        begin, end = self.span(source)
        return source.quote(self.text if wanted is None else wanted, begin, end)


def read_marks(texts: list[str]) -> list[str]:
    """Return each line's digits (as zeros), @ and opening brackets, in order.

    All lines at once: ten times as fast as line by line.
    """
    if not texts:
        return []
    whole = "\n".join(texts).encode("utf-8", "ignore")
    found = whole.translate(_MARKS, _UNMARKED).decode().split("\n")
    if not whole.isascii() and any(each in whole for each in _FOREIGN_DIGITS):
        for number, text in enumerate(texts):
            if "0" not in found[number] and not text.isascii() and _DIGIT.search(text):
                found[number] += "0"  # a digit of another script
    return found


class LineNumbers:
    """Maps elements to the line they are in."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._firsts: dict[Node, int] = {}  # line numbers by first text node
        self._held: dict[Element, int | None] = {}

    def of(self, element: Element) -> int:
        """Return the first line in the element or a near ancestor, else 0."""
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
        """Return the first line whose own element this is."""
        if holder not in self._held:
            self._held[holder] = next(
                (self._firsts[text] for text in _own_texts(holder) if text in self._firsts), None
            )
        return self._held[holder]


def _link_around(node: Node) -> Element | None:
    """Return the link around a text node of a line."""
    around = node.parent
    while isinstance(around, Element) and around.tag in INLINE:
        if around.tag == "a":
            return around
        around = around.parent
    return None


def _own_texts(holder: Element) -> Iterator[Text]:
    """Yield an element's text nodes, including those in inline elements."""
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
    """Return the element whose tag ends a line on one side of a node, and whether it is a sibling.

    Otherwise it contains the line. `entry` is the index of the child by which inline elements on
    the way are entered.
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


def lines_of(visible: VisibleLines) -> list[Line]:
    """Return visible lines as objects."""
    return list(map(Line, visible.texts, visible.regions, count(), map(first_text, visible.firsts)))
