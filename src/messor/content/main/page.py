"""Main content of a page that is not an article: a product, a service, a list, a contact page.

Without running text to go by, everything is kept that is not clearly the site's frame.
"""

from __future__ import annotations

import re
from itertools import accumulate

from messor.content.main import hints
from messor.content.main.blocks import Layout
from messor.content.main.weigh import Weights

_FRAME = (
    hints.NAVIGATION | hints.FOOTER | hints.DIALOG | hints.SHARE | hints.SIGNUP | hints.FORM | hints.CONSENT
)  # fmt: skip
# Maximum share of a page's text in a part of the frame; cookie lists may hold most of it.
_SHARE = 0.5
_CONSENT_SHARE = 0.85
_MAIN_SHARE = 0.3
_REPEATED = 40
_LETTER = re.compile(r"[^\W_]")


def keep_page(
    layout: Layout, weights: Weights, headline: int | None, *, is_product: bool
) -> list[int]:
    """Return the indices of the blocks inside the frame; all blocks if nothing is left."""
    blocks = layout.blocks
    texts, sizes, linked = blocks.texts, blocks.sizes, blocks.linked
    totals = [0, *accumulate(sizes)]
    # On a product page, other products are not content; on a list they may be all there is.
    named = _FRAME | hints.RELATED if is_product else _FRAME
    frame = _Frame(layout, weights, totals)
    frame.find(headline, named)
    start, end = frame.main_area()
    before = headline or 0
    kept: list[int] = []
    seen: set[str] = set()
    for place in range(start, end):
        text, size = texts[place], sizes[place]
        if frame.blocks[place] or text in seen:
            continue
        if not (text[0].isalnum() or _LETTER.search(text)):
            continue
        if place < before and linked[place] * 2 > size:
            continue  # links before the headline lead elsewhere
        if size >= _REPEATED:
            seen.add(text)
        kept.append(place)
    return kept or list(range(len(texts)))


class _Frame:
    """The boxes and blocks of the site's frame."""

    def __init__(self, layout: Layout, weights: Weights, totals: list[int]) -> None:
        self.blocks = [False] * len(layout.blocks.texts)
        self._boxes: set[int] = set()  # boxes with hints
        self._layout = layout
        self._weights = weights
        self._totals = totals

    def find(self, headline: int | None, named: int) -> None:
        boxes = self._layout.boxes
        telling = named | hints.HIDDEN
        until = 0  # end of the last box found; boxes that start before it are inside it
        for place, found in boxes.hints.items():
            start, end = boxes.starts[place], boxes.ends[place]
            if start < until:
                self._boxes.add(place)
            elif found & telling and start < end:
                holds_headline = headline is not None and start <= headline < end
                # Hidden text may be in a tab, where descriptions often are.
                is_named = found & named > 0 or not self._weights.within(start, end)
                if is_named and not holds_headline and self._is_small(start, end, found):
                    self._boxes.add(place)
                    self.blocks[start:end] = [True] * (end - start)
                    until = end

    def _is_small(self, start: int, end: int, found: int) -> bool:
        held = self._totals[end] - self._totals[start]
        if found & hints.CONSENT:
            return held <= self._totals[-1] * _CONSENT_SHARE
        if found & (hints.MAIN | hints.BODY | hints.ARTICLE):
            return False
        return held <= self._totals[-1] * _SHARE

    def main_area(self) -> tuple[int, int]:
        """Return the block range of the main element if it has enough text, else of the whole page."""
        boxes, totals = self._layout.boxes, self._totals
        enough = totals[-1] * _MAIN_SHARE
        for place in boxes.hints:  # the tag itself is a hint
            if boxes.tags[place] == "main" and place not in self._boxes:
                start, end = boxes.starts[place], boxes.ends[place]
                if totals[end] - totals[start] >= enough:
                    return start, end
        return boxes.starts[0], boxes.ends[0]
