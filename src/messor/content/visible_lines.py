"""The visible text of a page: its lines as columns, which cost less than an object for each.

A line is what stands between two tags that break one. Lines as objects, with their places in the
source, are left to `lines`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import pairwise
from typing import cast

from turbohtml import Document, Element, Node, Text

from messor.content.lists import TAGS as LISTS
from messor.content.lists import Lists
from messor.content.spaces import has_plain_spaces
from messor.content.visible_items import First, ItemLines

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
UNSEEN = frozenset(
    (
        "audio", "canvas", "datalist", "head", "iframe", "math", "noscript", "object", "script",
        "select", "style", "svg", "template", "textarea", "title", "video",
    )
)  # fmt: skip
_REGIONS = frozenset(("nav", "footer", "header", "aside"))
_LISTED = LISTS | {"li"}
_SPECIAL = UNSEEN | _REGIONS | _LISTED
# Up to so many characters a line is written anew with each text it is made of.
_SHORT = 500
_DIGITS = "0123456789"


class VisibleLines:
    """The visible text of a page, line by line."""

    __slots__ = ("firsts", "region_spans", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        # Of each line the first of the texts it is made of, or the list item that holds them.
        self.firsts: list[First] = []
        # Lines in a row within one region: its name, the first of them, and the one behind the last.
        self.region_spans: list[tuple[str, int, int]] = []

    @property
    def regions(self) -> list[str]:
        """For each line nav, footer, header or aside, or nothing for the body of the page."""
        found: list[str] = []
        for region, start, end in self.region_spans:
            found += [region] * (end - start)
        return found

    def outside(self, regions: Container[str]) -> tuple[list[str], list[First]]:
        """The lines outside of these regions, and where they begin, as `firsts` has it."""
        texts: list[str] = []
        firsts: list[First] = []
        for region, start, end in self.region_spans:
            if region not in regions:
                texts += self.texts[start:end]
                firsts += self.firsts[start:end]
        return texts, firsts


def first_text(first: First) -> Node:
    """The first of the texts that a line is made of, of which the text or its item is given."""
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
    """The innermost element around a line that is not inline: the body at the latest."""
    text = first if type(first) is Text else first_text(first)
    holder: Element = text.parent  # type: ignore[assignment]  # texts are within elements
    while holder.tag in INLINE:
        holder = holder.parent  # type: ignore[assignment]  # and these within the body
    return holder


def read_visible_lines(document: Document, lists: Lists) -> VisibleLines:
    """The visible text of a page, whose lists may have been read before."""
    visible = VisibleLines()
    body = document.find("body")
    if body is not None:
        walk = _Walk(visible, body, lists)
        walk.run()
        walk.finish()
    return visible


class _Walk:
    """A walk over a page in document order, which sees where elements begin.

    Where none began that breaks a line, one may have ended: texts before and behind it have
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
        self._parts: dict[int, list[str]] = {}  # of long lines, behind their beginning
        # The first of lines of a list that was read before, and the one behind the last.
        self._recalled: list[tuple[int, int]] = []
        self._turns = [(0, "")]  # the lines at which a region begins, or goes on
        self._outer: list[tuple[Node | None, str, Element]] = []  # where regions end, those around

    def run(self) -> None:  # noqa: C901, PLR0912, PLR0915 - a page's innermost loop
        """Read the lines; what changes with every node is in local names."""
        texts, firsts = self._visible.texts, self._visible.firsts
        broken, apart = True, False  # whether a line begins, or a space stands before the next text
        block: Node = self._body  # the last that began of those that break lines
        # Texts right within these are in that block, too: an inline element and what is around it.
        inline: Node | None = None
        outer: Node | None = None
        holder: Element | None = None  # of the current line, once it had to be told
        parts: list[str] | None = None  # of the current line, once it is long
        edge: Node | None = None  # what follows the innermost region
        known = self._items.known
        nodes: Iterable[Node] = self._body.descendants
        while True:
            for node in nodes:
                if node is edge:
                    edge = self._leave(node)
                kind = type(node)  # they are final classes
                if kind is Text:
                    data: str = node.data  # type: ignore[attr-defined]
                    if data.isspace():
                        apart = True
                        continue
                    if not broken:
                        # Most often a look at its parent tells that a text is in the same block.
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
                            if not apart:  # elements side by side are rarely one word
                                apart = type(node.previous_sibling) is Element
                    elif tag not in _SPECIAL:
                        broken, block, inline, outer = True, node, None, None
                    elif tag in _REGIONS:
                        broken, block, inline, outer = True, node, None, None
                        edge = self._enter(cast("Element", node), edge)
                    elif tag not in _LISTED:  # nothing within is seen
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
        """Add the lines of a list, or of an item, that was read before."""
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
        """Note that a region begins; the answer is what follows it, or the one around it."""
        edge = _behind(region, self._within) or edge
        self._outer.append((edge, self._turns[-1][1], self._within))
        self._turns.append((len(self._visible.firsts), region.tag))
        self._within = region
        return edge

    def _leave(self, edge: Node) -> Node | None:
        """Note that all regions end that this node follows; the answer is what follows the next."""
        outer = self._outer
        while outer and outer[-1][0] is edge:
            _, region, self._within = outer.pop()
            self._turns.append((len(self._visible.firsts), region))
        return outer[-1][0] if outer else None

    def finish(self) -> None:
        """Put long lines together, collapse white space, and tell which lines are in which region."""
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
    """The texts with their white space collapsed, as it is in those that were read before.

    A look at all others together tells whether there is any.
    """
    new: list[str] = []
    behind = 0
    for start, end in recalled:
        new += texts[behind:start]
        behind = end
    new += texts[behind:]
    whole = "".join(new)
    is_long = len(whole) > MAX_LINE and len(max(new, key=len)) > MAX_LINE
    # From its end a text is looked through in half the time.
    if is_long or whole.rfind("  ") >= 0 or not has_plain_spaces(whole):
        return [_one_space(text)[:MAX_LINE] for text in texts]
    return list(map(str.strip, texts))


def _one_space(text: str) -> str:
    """White space collapsed; where there are single spaces alone, that is known at a look."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(text.split())


def _begins_a_number(node: Node) -> bool:
    """Whether digits at the beginning of a text are a number of their own: at the edge of a link."""
    beside = node.previous_sibling
    if beside is not None:
        return type(beside) is Element and beside.tag == "a"
    around = node.parent
    return type(around) is Element and around.tag == "a"


def _behind(node: Node | None, outer: Element) -> Node | None:
    """The node within another element that follows one and all within it, None at the end."""
    while node is not None and node is not outer:
        if (following := node.next_sibling) is not None:
            return following
        node = node.parent
    return None
