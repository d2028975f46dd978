"""A page as a row of text blocks within nested boxes, from one walk over its tree.

A block is a run of text that stands on its own: a paragraph, a heading, a list item, a table cell.
A box is a block-level element; it covers a stretch of the row, so that sums over any part of the
page are differences of two running totals. What is content and what is not is left to others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from turbohtml import Document, Element, Node, Text

from messor.extract.main.cues import APART, BY_TAG, MAX_NAME, cues_of_name, declared_cues
from messor.web.elements import BLOCKS, CELLS, SECTIONS

# Nothing within them is text that a reader sees.
_UNSEEN = frozenset(
    (
        "audio", "button", "canvas", "datalist", "embed", "head", "iframe", "input", "link",
        "map", "meta", "noembed", "noframes", "noscript", "object", "script", "select", "source",
        "style", "svg", "template", "textarea", "title", "track", "video", "wbr",
    )
)  # fmt: skip
# The frame of a site, where no content is.
_FRAME = frozenset(("nav", "footer"))
# Their names speak of the kind of page, not of a part of it.
_ALL = frozenset(("html", "body"))
_BOXES = frozenset(
    (*BLOCKS, *CELLS, *SECTIONS, "body", "dd", "dt", "hr", "html", "legend", "li", "table", "tr")
)
# A block is named after the nearest of these around it.
_KINDS = frozenset(
    (
        "address", "blockquote", "caption", "dd", "dt", "figcaption", "h1", "h2", "h3", "h4", "h5",
        "h6", "li", "p", "pre", "summary", "td", "th",
    )
)  # fmt: skip
_MARKS = {
    "a": "a", "b": "strong", "strong": "strong", "em": "em", "i": "em", "code": "code",
    "kbd": "code", "samp": "code", "tt": "code",
}  # fmt: skip
# What comes after so much is not read.
MAX_BLOCKS = 20_000
MAX_BOXES = 50_000
# Cannot be in a page's text, because the parser replaces it.
BREAK = "\0"

Mark = tuple[int, str, str]  # before which piece, what begins or ("/") ends, with which value


@dataclass(slots=True)
class Box:
    """A block-level element and the stretch of blocks that lies in it."""

    tag: str
    parent: int
    kind: str  # of the blocks directly within it
    cues: int
    start: int
    end: int = 0


@dataclass(slots=True)
class Block:
    """A run of text, white space collapsed; a line feed stands for a line break."""

    kind: str
    box: int
    text: str
    linked: int  # characters in links
    pieces: list[str]  # as found
    marks: list[Mark]


@dataclass(slots=True)
class Layout:
    """All boxes in the order they open, all blocks in the order they are read."""

    boxes: list[Box]  # the first is the page
    blocks: list[Block]


def read_layout(root: Document | Element, *, whole: bool = False) -> Layout:
    """The boxes and blocks of a page or a part of it, with its frame only where it is to be whole."""
    walk = _Walk(declared_cues(root))
    walk.run(root, _UNSEEN if whole else _UNSEEN | _FRAME)
    return Layout(walk.boxes, walk.blocks)


class _Walk:
    __slots__ = (
        "_box", "_broken", "_declared", "_linked", "_links", "_marks", "_open", "_pieces",
        "_within", "blocks", "boxes",
    )  # fmt: skip

    def __init__(self, declared: dict[Element, int]) -> None:
        self.boxes = [Box("", -1, "", 0, 0)]
        self.blocks: list[Block] = []
        self._declared = declared
        self._box = 0
        self._pieces: list[str] = []
        self._marks: list[Mark] = []
        self._open: list[tuple[str, str]] = []  # marks around here, the outermost first
        self._within: dict[str, int] = {}  # how many of each kind of mark are around here
        self._links = 0
        self._linked = 0
        self._broken = False  # whether a line break came last

    def run(self, root: Document | Element, passed_over: frozenset[str]) -> None:
        """Visit all nodes without recursion, so that depth costs no stack."""
        nodes: Iterator[Node] = iter([root]) if isinstance(root, Element) else iter(root)
        above: list[tuple[Iterator[Node], str]] = []
        while len(self.boxes) < MAX_BOXES and len(self.blocks) < MAX_BLOCKS:
            for node in nodes:
                kind = type(node)  # they are final classes, and this is the innermost loop
                if kind is Text:
                    self._read(node.data)  # type: ignore[attr-defined]
                elif kind is Element:
                    tag: str = node.tag  # type: ignore[attr-defined]
                    if tag == "br":
                        self._line_break()
                    elif tag not in passed_over:
                        above.append((nodes, self._enter(tag, node)))  # type: ignore[arg-type]
                        nodes = iter(node)
                        break
            else:
                if not above:
                    break
                nodes, entered = above.pop()
                if entered:
                    self._leave(entered)
        self._flush()
        while self._box >= 0:
            self.boxes[self._box].end = len(self.blocks)
            self._box = self.boxes[self._box].parent

    def _read(self, data: str) -> None:
        if not data.isspace():
            self._pieces.append(data)
            self._broken = False
            if self._links:
                self._linked += len(data)
        elif self._pieces:
            self._pieces.append(" ")

    def _line_break(self) -> None:
        """One ends a line, two in a row a paragraph."""
        if self._broken:
            self._flush()
        elif self._pieces:
            self._pieces.append(BREAK)
            self._broken = True

    def _enter(self, tag: str, element: Element) -> str:
        """What is to be left again: "box", a mark, or nothing."""
        mark = _MARKS.get(tag)
        if mark is not None:
            self._open_mark(mark, (element.attr("href") or "") if mark == "a" else "")
            return mark
        if tag in _BOXES or "-" in tag:
            self._open_box(tag, 0 if tag in _ALL else self._cues(tag, element))
            return "box"
        cues = self._declared.get(element, 0) if self._declared else 0
        if name := element.attr("class"):
            cues |= cues_of_name(name[:MAX_NAME])
        if cues & APART:
            self._open_box(tag, cues)
            return "box"
        return ""

    def _cues(self, tag: str, element: Element) -> int:
        cues = BY_TAG.get(tag, 0)
        if name := element.attr("class"):
            cues |= cues_of_name(name[:MAX_NAME])
        if name := element.attr("id"):
            cues |= cues_of_name(name[:MAX_NAME])
        return cues | self._declared.get(element, 0) if self._declared else cues

    def _open_box(self, tag: str, cues: int) -> None:
        if self._pieces:
            self._flush()
        boxes = self.boxes
        kind = tag if tag in _KINDS else boxes[self._box].kind
        boxes.append(Box(tag, self._box, kind, cues, len(self.blocks)))
        self._box = len(boxes) - 1

    def _open_mark(self, mark: str, value: str) -> None:
        around = self._within.get(mark, 0)
        self._within[mark] = around + 1
        if not around:  # one within another of its kind adds nothing
            self._open.append((mark, value))
            self._marks.append((len(self._pieces), mark, value))
        if mark == "a":
            self._links += 1

    def _leave(self, entered: str) -> None:
        if entered == "box":
            if self._pieces:
                self._flush()
            box = self.boxes[self._box]
            box.end = len(self.blocks)
            self._box = box.parent
            return
        self._within[entered] -= 1
        if not self._within[entered]:
            self._open.pop()
            self._marks.append((len(self._pieces), "/" + entered, ""))
        if entered == "a":
            self._links -= 1

    def _flush(self) -> None:
        """End the block, and begin the next with the marks that are still open."""
        kind = self.boxes[self._box].kind
        text = _collapsed("".join(self._pieces), kind)
        if text:
            linked = min(self._linked, len(text))
            block = Block(kind, self._box, text, linked, self._pieces, self._marks)
            self.blocks.append(block)
        self._pieces = []
        self._linked = 0
        self._broken = False
        self._marks = [(0, mark, value) for mark, value in self._open] if self._open else []


def _collapsed(joined: str, kind: str) -> str:
    if kind == "pre":
        text = joined.replace(BREAK, "\n").strip("\n")
        return text if text.strip() else ""
    if BREAK in joined:
        lines = (" ".join(line.split()) for line in joined.split(BREAK))
        return "\n".join(line for line in lines if line)
    return " ".join(joined.split())
