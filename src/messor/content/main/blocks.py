"""A page as a sequence of text blocks within nested boxes.

A block is a self-contained run of text: a paragraph, a heading, a list item, a table cell. A box is
a block-level element; it covers a range of blocks, so sums over any part of the page are
differences of two prefix sums. Both are stored as columns, one list per attribute, because most
queries need one or two attributes of all blocks or boxes at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from turbohtml import Element

from messor.content.plain import has_plain_spaces

# Content beyond these limits is not read.
MAX_BLOCKS = 20_000
MAX_BOXES = 50_000
# Cannot occur in a page's text, because the parser replaces it.
BREAK = "\0"
# A block's kind is the nearest of these ancestors, if any.
KINDS = frozenset(
    (
        "", "address", "blockquote", "caption", "dd", "dt", "figcaption", "h1", "h2", "h3", "h4",
        "h5", "h6", "li", "p", "pre", "summary", "td", "th",
    )
)  # fmt: skip
# From this length on, checking for spaces is cheaper than collapsing them.
LONG = 60

# First piece, end piece (exclusive), mark; a link's URL or the class list of code.
Mark = tuple[int, int, str, str]
Markup = tuple[list[str], list[Mark]]  # text pieces; marks, inner ones first


@dataclass(slots=True)
class Boxes:
    """Block-level elements in opening order; the first is the page."""

    tags: list[str] = field(default_factory=lambda: [""])
    parents: list[int] = field(default_factory=lambda: [-1])
    starts: list[int] = field(default_factory=lambda: [0])  # first block inside
    ends: list[int] = field(default_factory=lambda: [0])  # block after the last one inside
    hints: dict[int, int] = field(default_factory=dict)  # only non-zero ones, by index
    names: dict[int, str] = field(default_factory=dict)  # class lists, by index
    # Row and column spans of cells that span several, by index.
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    # The first number of ordered lists that state one, by index.
    numbers: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Blocks:
    """Non-empty runs of text in reading order."""

    kinds: list[str] = field(default_factory=list)
    boxes: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # spaces collapsed, line breaks as line feeds
    sizes: list[int] = field(default_factory=list)  # of the texts
    linked: list[int] = field(default_factory=list)  # characters inside links
    markup: dict[int, Markup] = field(default_factory=dict)  # only non-empty ones, by index


@dataclass(slots=True)
class Layout:
    """All boxes and all blocks of a page, and its pictures: the block each stands before, its box."""

    boxes: Boxes = field(default_factory=Boxes)
    blocks: Blocks = field(default_factory=Blocks)
    images: list[tuple[int, int, Element]] = field(default_factory=list)


def collapsed(joined: str) -> str:
    """Join text pieces and collapse white space; line breaks become line feeds."""
    if BREAK in joined:
        lines = (" ".join(line.split()) for line in joined.split(BREAK))
        return "\n".join(line for line in lines if line)
    if len(joined) >= LONG:
        stripped = joined.strip()
        if stripped.rfind("  ") < 0 and has_plain_spaces(stripped):
            return stripped
    return " ".join(joined.split())
