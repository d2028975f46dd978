"""A page's visible text part by part, and which parts were taken as its main content."""

from __future__ import annotations

import msgspec

from messor.content.lists import Lists
from messor.content.main.blocks import Layout
from messor.content.main.extract import choose_blocks, outline, read_main
from messor.content.main.walk import read_layout
from messor.web.html import parse_document
from messor.web.text import storable

MAX_PARTS = 3_000
_MAX_TEXT = 2_000  # characters of a part


class ContentPart(msgspec.Struct, frozen=True):
    """A run of text, in reading order."""

    kind: str  # tag of its element; empty for text outside paragraphs, headings and lists
    text: str
    is_taken: bool


class ContentParts(msgspec.Struct, frozen=True):
    """The parts of a page, as many as are shown."""

    parts: list[ContentPart]
    taken: int  # characters
    left_out: int
    # The main content is none of these parts: structured data held a longer text, or scripts make it.
    is_elsewhere: bool
    is_cut: bool

    @property
    def share(self) -> int:
        """The per cent of the text that was taken."""
        return round(100 * self.taken / max(1, self.taken + self.left_out))


def read_parts(html: str, url: str) -> ContentParts:
    """Return what a page's main content was chosen from, the site's frame included."""
    document, lists = parse_document(html), Lists()
    found = outline(document, url, lists)
    chosen = set(choose_blocks(found, lists.memory))
    parts = _parts(read_layout(document, lists, whole=True), found.layout, chosen)
    text = read_main(document, url, lists).text
    taken = sum(len(part.text) for part in parts if part.is_taken)
    return ContentParts(
        [ContentPart(each.kind, storable(each.text[:_MAX_TEXT]), each.is_taken) for each in parts[:MAX_PARTS]],
        taken,
        sum(len(part.text) for part in parts) - taken,
        is_elsewhere=bool(text) and not any(part.is_taken and part.text in text for part in parts),
        is_cut=len(parts) > MAX_PARTS,
    )  # fmt: skip


def _parts(whole: Layout, read: Layout, chosen: set[int]) -> list[ContentPart]:
    """Return all blocks of a page; those that were read are found among them by their order."""
    texts, place = read.blocks.texts, 0
    found = []
    for kind, text in zip(whole.blocks.kinds, whole.blocks.texts, strict=True):
        is_read = place < len(texts) and texts[place] == text
        found.append(ContentPart(kind, text, is_taken=is_read and place in chosen))
        place += is_read
    return found
