"""The visible text of a page as lines: what stands between two tags that break a line.

A line knows its element and the first and last text it is made of, so that its literal quote can
be cut out of the source when a record needs it, and costs nothing when none does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter
from typing import cast

from turbohtml import Document, Element, Node, Text

from messor.extract.spans import Source

MAX_LINES = 20_000
MAX_LINE = 20_000

# Their tags do not break a line.
INLINE = frozenset(
    (
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn",
        "em", "font", "i", "ins", "kbd", "label", "mark", "meta", "nobr", "q", "s", "samp", "small",
        "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    )
)  # fmt: skip
_UNSEEN = frozenset(
    (
        "audio", "canvas", "datalist", "head", "iframe", "math", "noscript", "object", "script",
        "select", "style", "svg", "template", "textarea", "title", "video",
    )
)  # fmt: skip
_REGIONS = frozenset(("nav", "footer", "header", "aside"))
_SPECIAL = _UNSEEN | _REGIONS
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
    last: Node
    _element: Element | None = field(default=None, init=False, repr=False)
    _span: tuple[int | None, int | None] | None = field(default=None, init=False, repr=False)

    @property
    def element(self) -> Element:
        """The innermost one around it that is not inline."""
        if self._element is None:
            self._element = _holder(self.first)
        return self._element

    @property
    def level(self) -> int:
        """Of a heading, else 0."""
        return _HEADINGS.get(self.element.tag, 0)

    def span(self, source: Source) -> tuple[int | None, int | None]:
        """Where in the source the line stands, as far as the tags around it are there."""
        if self._span is None:
            opened, is_beside = _break_from(self.first, _previous, -1)
            begin = source.after(opened, closing=is_beside)
            closed, is_beside = _break_from(self.last, _next, 0)
            self._span = begin, source.before(closed, closing=not is_beside)
        return self._span

    def quote(self, source: Source, wanted: str | None = None) -> str:
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


def _own_texts(holder: Element) -> Iterator[Node]:
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


def _holder(node: Node) -> Element:
    """The innermost element around a node that is not inline: the body at the latest."""
    holder = cast("Element", node.parent)
    while holder.tag in INLINE:
        holder = cast("Element", holder.parent)
    return holder


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
        elif type(beside) is not Element or beside.tag in _UNSEEN:
            node = beside
        elif beside.tag not in INLINE:
            return beside, True
        elif len(beside):
            beside = beside[entry]
            continue
        else:
            node = beside
        beside = step(node)


def read_lines(document: Document) -> list[Line]:
    """The lines of a page in their order."""
    body = document.find("body")
    return [] if body is None else _walk(body)


def _walk(body: Element) -> list[Line]:  # noqa: C901, PLR0912, PLR0915 - a page's innermost loop
    """A walk over a page in document order, which sees where elements begin.

    Where none began that breaks a line, one may have ended: texts before and behind it have
    different holders.
    """
    runs: list[list[str]] = []  # the parts of each line
    regions: list[str] = []
    firsts: list[Node] = []
    lasts: list[Node] = []
    parts: list[str] = []
    holder: Element | None = None  # of the current line, once it had to be told
    broken, apart = True, False  # whether a new line begins, or a space stands before the next text
    region, within, edge = "", body, None
    outer: list[tuple[Node | None, str, Element]] = []  # where regions end, what is around them
    nodes = iter(body.descendants)
    for node in nodes:
        if node is edge:
            while outer and outer[-1][0] is node:
                _, region, within = outer.pop()
            edge = outer[-1][0] if outer else None
        kind = type(node)  # they are final classes
        if kind is Text:
            data: str = node.data  # type: ignore[attr-defined]
            if data.isspace():
                apart = True
                continue
            if not broken:
                if holder is None:
                    holder = _holder(lasts[-1])
                around = node.parent
                while around is not holder and around.tag in INLINE:  # type: ignore[union-attr]
                    around = around.parent  # type: ignore[union-attr]
                if around is holder:
                    parts.append(f" {data}" if apart else data)
                    lasts[-1], apart = node, False
                    continue
            if len(runs) == MAX_LINES:
                break
            parts, holder = [data], None
            broken = apart = False
            runs.append(parts)
            regions.append(region)
            firsts.append(node)
            lasts.append(node)
        elif kind is Element:
            tag: str = node.tag  # type: ignore[attr-defined]
            if tag in INLINE:
                if not (broken or apart):  # elements side by side are rarely one word
                    apart = type(node.previous_sibling) is Element
            elif tag not in _SPECIAL:
                broken = True
            elif tag in _REGIONS:
                broken = True
                edge = _behind(node, within) or edge
                outer.append((edge, region, within))
                region, within = tag, cast("Element", node)
            else:
                _pass(node, nodes)
    texts = [_one_space("".join(parts))[:MAX_LINE] for parts in runs]
    return list(map(Line, texts, regions, count(), firsts, lasts))


def _one_space(text: str) -> str:
    """White space collapsed; where there are single spaces alone, that is known at a look."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(text.split())


def _behind(node: Node | None, outer: Element) -> Node | None:
    """The node within another element that follows one and all within it, None at the end."""
    while node is not None and node is not outer:
        if (following := node.next_sibling) is not None:
            return following
        node = node.parent
    return None


def _pass(node: Node, nodes: Iterator[Node]) -> None:
    """Leave out what is within an element that is not seen."""
    last = node
    while len(last):
        last = last[-1]
    if last is not node:
        for each in nodes:
            if each is last:
                break
