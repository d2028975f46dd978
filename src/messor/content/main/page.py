"""The main content of a page that is no article: a product, a service, a list, a contact page.

There is no running text to go by, so everything stays that is not plainly the site's frame.
"""

from __future__ import annotations

import re
from itertools import accumulate

from messor.content.main import cues
from messor.content.main.blocks import Layout
from messor.content.main.weigh import Weights

_FRAME = (
    cues.NAVIGATION | cues.FOOTER | cues.DIALOG | cues.SHARE | cues.SIGNUP | cues.FORM | cues.CONSENT
)  # fmt: skip
# The share of a page's text that a part of the frame may hold; lists of cookies may hold most.
_SHARE = 0.5
_CONSENT_SHARE = 0.85
_MAIN_SHARE = 0.3
_REPEATED = 40
_LETTER = re.compile(r"[^\W_]")


def keep_page(
    layout: Layout, weights: Weights, headline: int | None, *, is_product: bool
) -> list[int]:
    """The places of the blocks within the frame; all blocks where nothing is left."""
    blocks = layout.blocks
    texts, sizes, linked = blocks.texts, blocks.sizes, blocks.linked
    totals = [0, *accumulate(sizes)]
    # Other products beside one are not its page's; in a list they may be all there is.
    named = _FRAME | cues.RELATED if is_product else _FRAME
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
            continue  # links before the headline lead away
        if size >= _REPEATED:
            seen.add(text)
        kept.append(place)
    return kept or list(range(len(texts)))


class _Frame:
    """Which boxes and which blocks are the site's frame."""

    def __init__(self, layout: Layout, weights: Weights, totals: list[int]) -> None:
        self.blocks = [False] * len(layout.blocks.texts)
        self._boxes: set[int] = set()  # of those with cues
        self._layout = layout
        self._weights = weights
        self._totals = totals

    def find(self, headline: int | None, named: int) -> None:
        boxes = self._layout.boxes
        telling = named | cues.HIDDEN
        until = 0  # the end of the last box found; those that begin before it are within it
        for place, found in boxes.cues.items():
            start, end = boxes.starts[place], boxes.ends[place]
            if start < until:
                self._boxes.add(place)
            elif found & telling and start < end:
                holds_headline = headline is not None and start <= headline < end
                # Hidden text may be behind a tab, where descriptions often are.
                is_named = found & named > 0 or not self._weights.within(start, end)
                if is_named and not holds_headline and self._is_small(start, end, found):
                    self._boxes.add(place)
                    self.blocks[start:end] = [True] * (end - start)
                    until = end

    def _is_small(self, start: int, end: int, found: int) -> bool:
        held = self._totals[end] - self._totals[start]
        if found & cues.CONSENT:
            return held <= self._totals[-1] * _CONSENT_SHARE
        if found & (cues.MAIN | cues.BODY | cues.ARTICLE):
            return False
        return held <= self._totals[-1] * _SHARE

    def main_area(self) -> tuple[int, int]:
        """The blocks of the element called main if it has enough in it, else of the whole page."""
        boxes, totals = self._layout.boxes, self._totals
        enough = totals[-1] * _MAIN_SHARE
        for place in boxes.cues:  # its tag is a cue
            if boxes.tags[place] == "main" and place not in self._boxes:
                start, end = boxes.starts[place], boxes.ends[place]
                if totals[end] - totals[start] >= enough:
                    return start, end
        return boxes.starts[0], boxes.ends[0]
