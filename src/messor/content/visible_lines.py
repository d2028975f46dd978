"""The visible lines of a page as columns, which cost less than an object per line.

A line is the text between two line-breaking tags. `lines` provides line objects with source
positions.

Three walks read a page's texts, and each sees other elements: this one lines of the whole page with
buttons and labels (0.48 ms CPU a page, on 206 pages of the corpora), `main.walk` boxes, marks and
links without the frame (0.93 ms), `products.texts` single texts in source order, hidden ones included
(0.22 ms).
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import pairwise
from typing import cast

from turbohtml import Document, Element, Node, Text

from messor.content.lists import TAGS as LISTS
from messor.content.lists import First, ItemLines, Lists
from messor.content.plain import has_plain_spaces

MAX_LINES = 20_000
MAX_LINE = 20_000

# Elements whose tags do not break a line.
INLINE = frozenset(
    (
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn",
        "em", "font", "i", "ins", "kbd", "label", "mark", "meta", "nobr", "q", "s", "samp", "small",
        "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    )
)  # fmt: skip
UNSEEN = frozenset(
    (
        "audio", "canvas", "datalist", "head", "iframe", "math", "noscript", "object", "script",
        "select", "style", "svg", "template", "textarea", "title", "video",
    )
)  # fmt: skip
_REGIONS = frozenset(("nav", "footer", "header", "aside"))
_AROUND = ("nav", "footer")
_LISTED = LISTS | {"li"}
_SPECIAL = UNSEEN | _REGIONS | _LISTED
# Up to this length, a line is rebuilt with each text added to it.
_SHORT = 500
_DIGITS = "0123456789"


class VisibleLines:
    """The visible text of a page, line by line."""

    __slots__ = ("firsts", "region_spans", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        # For each line its first text node, or the list item that holds it.
        self.firsts: list[First] = []
        # Runs of lines in one region: its name, first line, and end (exclusive).
        self.region_spans: list[tuple[str, int, int]] = []

    @property
    def regions(self) -> list[str]:
        """The region of each line: nav, footer, header, aside, or empty for the body."""
        found: list[str] = []
        for region, start, end in self.region_spans:
            found += [region] * (end - start)
        return found

    def outside(self, regions: Container[str]) -> tuple[list[str], list[First]]:
        """Return the lines outside these regions, and where they begin, as in `firsts`."""
        texts: list[str] = []
        firsts: list[First] = []
        for region, start, end in self.region_spans:
            if region not in regions:
                texts += self.texts[start:end]
                firsts += self.firsts[start:end]
        return texts, firsts


class BodyLines:
    """The body of a page: its lines outside navigation and footer, where each begins (as in
    `VisibleLines.firsts`), and their lengths in characters.
    """

    __slots__ = ("firsts", "sizes", "texts")

    def __init__(self, visible: VisibleLines) -> None:
        self.texts, self.firsts = visible.outside(_AROUND)
        self.sizes = list(map(len, self.texts))


def first_text(first: First) -> Node:
    """Return the first text node of a line, given as the text or its item."""
    if isinstance(first, tuple):
        first = first[0].item(first[1])
    if type(first) is not Element:
        return first
    nodes: Iterable[Node] = first.descendants
    while True:
        for node in nodes:
            if type(node) is Text:
                if not node.data.isspace():
                    return node
            elif type(node) is Element and node.tag in UNSEEN:
                nodes = node.following
                break


def holder_of(first: First) -> Element:
    """Return the innermost non-inline element around a line: at the latest, the body."""
    text = first if type(first) is Text else first_text(first)
    holder: Element = text.parent  # type: ignore[assignment]  # texts are within elements
    while holder.tag in INLINE:
        holder = holder.parent  # type: ignore[assignment]  # and these within the body
    return holder


def read_visible_lines(document: Document, lists: Lists) -> VisibleLines:
    """Read the visible lines of a page, whose lists may be cached."""
    visible = VisibleLines()
    body = document.find("body")
    if body is not None:
        walk = _Walk(visible, body, lists)
        walk.run()
        walk.finish()
    return visible


class _Walk:
    """A walk over a page in document order, which sees where elements begin.

    Even if no line-breaking element began, one may have ended: texts before and after it have
    different holders.
    """

    __slots__ = (
        "_body",
        "_items",
        "_outer",
        "_parts",
        "_recalled",
        "_turns",
        "_visible",
        "_within",
    )

    def __init__(self, visible: VisibleLines, body: Element, lists: Lists) -> None:
        self._visible = visible
        self._items = ItemLines(lists)
        self._body = self._within = body
        self._parts: dict[int, list[str]] = {}  # later parts of long lines
        # First line and end (exclusive) of cached lists.
        self._recalled: list[tuple[int, int]] = []
        self._turns = [(0, "")]  # lines at which a region begins or continues
        self._outer: list[tuple[Node | None, str, Element]] = []  # ends of the enclosing regions

    def run(self) -> None:  # noqa: C901, PLR0912, PLR0915 - a page's innermost loop
        """Read the lines; state that changes with every node is in locals."""
        texts, firsts = self._visible.texts, self._visible.firsts
        broken, apart = True, False  # whether a line begins; whether a space precedes the next text
        block: Node = self._body  # the last line-breaking element that began
        # Texts directly in these are in the same block: an inline element and its surroundings.
        inline: Node | None = None
        outer: Node | None = None
        holder: Element | None = None  # of the current line, once computed
        parts: list[str] | None = None  # of the current line, once it is long
        edge: Node | None = None  # node after the innermost region
        known = self._items.known
        nodes: Iterable[Node] = self._body.descendants
        while True:
            for node in nodes:
                if node is edge:
                    edge = self._leave(node)
                kind = type(node)  # final classes
                if kind is Text:
                    data: str = node.data  # type: ignore[attr-defined]
                    if data.isspace():
                        apart = True
                        continue
                    if not broken:
                        # Usually the parent alone shows that a text is in the same block.
                        around = node.parent
                        if around is not block and around is not inline and around is not outer:
                            if holder is None:
                                holder = holder_of(firsts[-1])
                            broken = holder_of(node) is not holder
                            inline = around
                    if not broken:
                        if not apart and data[0] in _DIGITS:
                            apart = _begins_a_number(node)
                        if parts is not None:
                            parts.append(f" {data}" if apart else data)
                        elif len(before := texts[-1]) < _SHORT:
                            texts[-1] = f"{before} {data}" if apart else before + data
                        else:
                            parts = self._parts[len(texts) - 1] = [f" {data}" if apart else data]
                        apart = False
                        continue
                    if len(firsts) >= MAX_LINES:
                        return
                    texts.append(data)
                    firsts.append(node)
                    broken = apart = False
                    parts = holder = None
                elif kind is Element:
                    tag: str = node.tag  # type: ignore[attr-defined]
                    if tag in INLINE:
                        if not broken:
                            around = node.parent
                            if around is block or around is inline or around is outer:
                                inline, outer = node, around
                            if not apart:  # adjacent elements are rarely one word
                                apart = type(node.previous_sibling) is Element
                    elif tag not in _SPECIAL:
                        broken, block, inline, outer = True, node, None, None
                    elif tag in _REGIONS:
                        broken, block, inline, outer = True, node, None, None
                        edge = self._enter(cast("Element", node), edge)
                    elif tag not in _LISTED:  # nothing inside is visible
                        nodes = node.following
                        break
                    else:
                        broken, block, inline, outer = True, node, None, None
                        may_be_known = tag != "li" or node in known
                        if may_be_known and self._recall(cast("Element", node)):
                            nodes = node.following
                            break
            else:
                return

    def _recall(self, element: Element) -> bool:
        """Add the lines of a list or item from the cache."""
        texts, firsts = self._visible.texts, self._visible.firsts
        if element.tag == "li":
            if len(firsts) >= MAX_LINES:
                return False
            texts.append(self._items.known[element])
            firsts.append(element)
            return True
        lines, items = self._items.recall(element, len(firsts))
        if not lines or len(firsts) + len(lines) > MAX_LINES:
            return False
        texts += lines
        self._recalled.append((len(firsts), len(texts)))
        firsts += items
        return True

    def _enter(self, region: Element, edge: Node | None) -> Node | None:
        """Note that a region begins; returns the node after it, or after the enclosing one."""
        edge = _behind(region, self._within) or edge
        self._outer.append((edge, self._turns[-1][1], self._within))
        self._turns.append((len(self._visible.firsts), region.tag))
        self._within = region
        return edge

    def _leave(self, edge: Node) -> Node | None:
        """Note that all regions before this node end; returns the node after the next region."""
        outer = self._outer
        while outer and outer[-1][0] is edge:
            _, region, self._within = outer.pop()
            self._turns.append((len(self._visible.firsts), region))
        return outer[-1][0] if outer else None

    def finish(self) -> None:
        """Join long lines, collapse white space, and assign lines to regions."""
        visible = self._visible
        for number, parts in self._parts.items():
            visible.texts[number] += "".join(parts)
        visible.texts = _collapsed(visible.texts, self._recalled)
        self._items.remember(visible.texts, visible.firsts)
        self._turns.append((len(visible.texts), ""))
        visible.region_spans = [
            (region, start, end)
            for (start, region), (end, _) in pairwise(self._turns)
            if start < end
        ]


def _collapsed(texts: list[str], recalled: list[tuple[int, int]]) -> list[str]:
    """Return the texts with white space collapsed, as it already is in cached ones.

    One check of all others together finds out whether there is any.
    """
    new: list[str] = []
    behind = 0
    for start, end in recalled:
        new += texts[behind:start]
        behind = end
    new += texts[behind:]
    whole = "".join(new)
    is_long = len(whole) > MAX_LINE and len(max(new, key=len)) > MAX_LINE
    # Searching from the end takes half the time.
    if is_long or whole.rfind("  ") >= 0 or not has_plain_spaces(whole):
        return [_one_space(text)[:MAX_LINE] for text in texts]
    return list(map(str.strip, texts))


def _one_space(text: str) -> str:
    """Collapse white space; a cheap check skips texts with single spaces only."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(text.split())


def _begins_a_number(node: Node) -> bool:
    """Whether digits at the start of a text are a separate number: at the edge of a link."""
    beside = node.previous_sibling
    if beside is not None:
        return type(beside) is Element and beside.tag == "a"
    around = node.parent
    return type(around) is Element and around.tag == "a"


def _behind(node: Node | None, outer: Element) -> Node | None:
    """Return the node after one and its descendants within an outer element; None at the end."""
    while node is not None and node is not outer:
        if (following := node.next_sibling) is not None:
            return following
        node = node.parent
    return None
