"""The visible text of a page as lines: what stands between two tags that break a line.

A line knows its element and between which tags it stands, so that its literal quote can be cut
out of the source when a record needs it, and costs nothing when none does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
_REGIONS = {"nav": "nav", "footer": "footer", "header": "header", "aside": "aside"}
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}

_Mark = tuple[Element, bool]  # an element's start tag, or with True its end tag


@dataclass(slots=True, eq=False)
class Line:
    """One line of visible text."""

    text: str
    element: Element  # the innermost one that is not inline
    region: str  # nav, footer, header, aside, or "" for the body of the page
    level: int  # of a heading, else 0
    number: int  # its place among the lines
    opened: _Mark
    closed: _Mark

    def span(self, source: Source) -> tuple[int | None, int | None]:
        """Where in the source the line stands, as far as the tags around it are there."""
        begin = source.after(self.opened[0], closing=self.opened[1])
        end = source.before(self.closed[0], closing=self.closed[1])
        return begin, end

    def quote(self, source: Source, wanted: str | None = None) -> str:
        """The literal source of the line, or of a text within it."""
        begin, end = self.span(source)
        return source.quote(self.text if wanted is None else wanted, begin, end)


def read_lines(document: Document) -> list[Line]:
    """The lines of a page in their order."""
    body = document.find("body")
    return [] if body is None else _Reading(body).read()


class _Reading:
    __slots__ = ("_body", "_lines", "_opened", "_parts")

    def __init__(self, body: Element) -> None:
        self._body = body
        self._lines: list[Line] = []
        self._parts: list[str] = []
        self._opened: _Mark = (body, False)

    def read(self) -> list[Line]:
        """A walk in document order, without recursion: pages nest as deep as they like."""
        parts = self._parts
        block, region, breaks = self._body, "", True
        nodes: Iterator[Node] = iter(block)
        above: list[tuple[Element, str, bool, Iterator[Node]]] = []
        while len(self._lines) < MAX_LINES:
            for node in nodes:
                kind = type(node)  # they are final classes, and this is the innermost loop
                if kind is Text:
                    data: str = node.data  # type: ignore[attr-defined]
                    if parts or not data.isspace():
                        parts.append(data)
                elif kind is Element and (tag := node.tag) not in _UNSEEN:  # type: ignore[attr-defined]
                    above.append((block, region, breaks, nodes))
                    nodes, breaks = iter(node), tag not in INLINE
                    if breaks:
                        self._break(block, region, (node, False))  # type: ignore[arg-type]
                        block, region = node, _REGIONS.get(tag, region)  # type: ignore[assignment]
                    elif parts and type(node.previous_sibling) is Element:
                        parts.append(" ")  # side by side: rarely one word
                    break
            else:
                if breaks:
                    self._break(block, region, (block, True))
                if not above:
                    break
                block, region, breaks, nodes = above.pop()
        return self._lines

    def _break(self, block: Element, region: str, mark: _Mark) -> None:
        if self._parts:
            text = " ".join("".join(self._parts).split())[:MAX_LINE]
            self._parts.clear()
            if text:
                level = _HEADINGS.get(block.tag, 0)
                number = len(self._lines)
                self._lines.append(Line(text, block, region, level, number, self._opened, mark))
        self._opened = mark
