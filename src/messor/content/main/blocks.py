"""A page as a row of text blocks within nested boxes.

A block is a run of text that stands on its own: a paragraph, a heading, a list item, a table cell.
A box is a block-level element; it covers a stretch of the row, so that sums over any part of the
page are differences of two running totals. Both are kept as columns, a list for each thing known
of them, because most questions are about one or two of these for all blocks or boxes at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from messor.content.spaces import has_plain_spaces

# What comes after so much is not read.
MAX_BLOCKS = 20_000
MAX_BOXES = 50_000
# Cannot be in a page's text, because the parser replaces it.
BREAK = "\0"
# A block is named after the nearest of these around it, if there is one.
KINDS = frozenset(
    (
        "", "address", "blockquote", "caption", "dd", "dt", "figcaption", "h1", "h2", "h3", "h4",
        "h5", "h6", "li", "p", "pre", "summary", "td", "th",
    )
)  # fmt: skip
# From here on looking for spaces to collapse costs less than collapsing them.
LONG = 60

Mark = tuple[int, int, str, str]  # from which piece to before which, what it is, its address
Markup = tuple[list[str], list[Mark]]  # pieces of text as found; marks, those within others first


@dataclass(slots=True)
class Boxes:
    """Block-level elements in the order they open; the first is the page."""

    tags: list[str] = field(default_factory=lambda: [""])
    parents: list[int] = field(default_factory=lambda: [-1])
    starts: list[int] = field(default_factory=lambda: [0])  # the first block within
    ends: list[int] = field(default_factory=lambda: [0])  # the block after the last
    cues: dict[int, int] = field(default_factory=dict)  # of those that have any, by their places
    # Rows and columns of cells that span several, by their places.
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Blocks:
    """Runs of text in the order they are read, none of them empty."""

    kinds: list[str] = field(default_factory=list)
    boxes: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # spaces collapsed, line breaks as line feeds
    sizes: list[int] = field(default_factory=list)  # of the texts
    linked: list[int] = field(default_factory=list)  # characters in links
    markup: dict[int, Markup] = field(default_factory=dict)  # of those that have any, by places


@dataclass(slots=True)
class Layout:
    """All boxes and all blocks of a page."""

    boxes: Boxes = field(default_factory=Boxes)
    blocks: Blocks = field(default_factory=Blocks)


def collapsed(joined: str) -> str:
    """Pieces of text put together, their white space collapsed; a line feed for each line break."""
    if BREAK in joined:
        lines = (" ".join(line.split()) for line in joined.split(BREAK))
        return "\n".join(line for line in lines if line)
    if len(joined) >= LONG:
        stripped = joined.strip()
        if stripped.rfind("  ") < 0 and has_plain_spaces(stripped):
            return stripped
    return " ".join(joined.split())
