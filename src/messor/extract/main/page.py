"""The main content of a page that is no article: a product, a service, a list, a contact page.

There is no running text to go by, so everything stays that is not plainly the site's frame.
"""

from __future__ import annotations

import re
from itertools import accumulate

from messor.extract.main import cues
from messor.extract.main.blocks import Box, Layout
from messor.extract.main.weigh import Weights

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
    sizes = [0, *accumulate(len(block.text) for block in blocks)]
    # Other products beside one are not its page's; in a list they may be all there is.
    named = _FRAME | cues.RELATED if is_product else _FRAME
    frame = _frame(layout, weights, sizes, headline, named)
    area = _main_area(layout, frame, sizes)
    kept: list[int] = []
    seen: set[str] = set()
    for place in range(area.start, area.end):
        block = blocks[place]
        if frame[block.box] or block.text in seen or not _LETTER.search(block.text):
            continue
        if headline is not None and place < headline and block.linked * 2 > len(block.text):
            continue  # links before the headline lead away
        if len(block.text) >= _REPEATED:
            seen.add(block.text)
        kept.append(place)
    return kept or list(range(len(blocks)))


def _frame(
    layout: Layout, weights: Weights, sizes: list[int], headline: int | None, named: int
) -> list[bool]:
    frame = [False] * len(layout.boxes)
    for place, box in enumerate(layout.boxes):
        if box.parent >= 0 and frame[box.parent]:
            frame[place] = True
        elif box.cues & (named | cues.HIDDEN):
            holds_headline = headline is not None and box.start <= headline < box.end
            # Hidden text may be behind a tab, where descriptions often are.
            is_named = box.cues & named > 0 or not weights.within(box)
            frame[place] = is_named and not holds_headline and _is_frame(box, sizes)
    return frame


def _is_frame(box: Box, sizes: list[int]) -> bool:
    held = sizes[box.end] - sizes[box.start]
    if box.cues & cues.CONSENT:
        return held <= sizes[-1] * _CONSENT_SHARE
    if box.cues & (cues.MAIN | cues.BODY | cues.ARTICLE):
        return False
    return held <= sizes[-1] * _SHARE


def _main_area(layout: Layout, frame: list[bool], sizes: list[int]) -> Box:
    """The element called main if there is one with enough in it, else the whole page."""
    enough = sizes[-1] * _MAIN_SHARE
    for place, box in enumerate(layout.boxes):
        held = sizes[box.end] - sizes[box.start]
        if box.tag == "main" and not frame[place] and held >= enough:
            return box
    return layout.boxes[0]
