"""How much running text the blocks of a page hold, and which boxes are furniture.

A name may be wrong, so a box is given up on its cues only while enough text is left elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from messor.extract.main import cues
from messor.extract.main.blocks import Block, Box, Layout

# Parts that are seldom anything else than what their names say.
_SURE = (
    cues.NAVIGATION | cues.FOOTER | cues.SHARE | cues.HIDDEN | cues.DIALOG | cues.CAPTION | cues.FORM
)  # fmt: skip
_FURNITURE = _SURE | cues.RELATED | cues.SIGNUP | cues.ADVERT | cues.SIDEBAR | cues.BYLINE
# The share of a page's running text that such a box may hold and still be given up.
_SURE_SHARE = 0.6
_SHARE = 0.4
_CONSENT_SHARE = 0.85
_ARTICLE_SHARE = 0.1
_BODY_SHARE = 0.05
# Comments may outweigh what they comment on, as long as that is there.
_COMMENTED = 200

# Text before the headline is seldom of the article.
_BEFORE_HEADLINE = 0.3
_LONG = 80
_SENTENCE = 25
_SENTENCE_ENDS = frozenset('.!?…:;"”»。」\u2019\uff01\uff1f')  # a quote's, and full-width ones


@dataclass(slots=True)
class Weights:
    """Of each block its characters of running text, summed up; of each box whether it is furniture."""

    running: list[int]
    sums: list[int]  # of the blocks before each
    furniture: list[bool]

    def within(self, box: Box) -> int:
        return self.sums[box.end] - self.sums[box.start]


def weigh(layout: Layout) -> Weights:
    """The weights of a page."""
    running = [running_text(block) for block in layout.blocks]
    sums = [0, *accumulate(running)]
    headlines = [0, *accumulate(block.kind == "h1" for block in layout.blocks)]
    weights = Weights(running, sums, [False] * len(layout.boxes))
    furniture = weights.furniture
    for place, box in enumerate(layout.boxes):
        if box.parent >= 0 and furniture[box.parent]:
            furniture[place] = True
        elif box.cues:
            has_headline = headlines[box.end] > headlines[box.start]
            furniture[place] = _is_furniture(box, weights.within(box), sums[-1], has_headline)
    return weights


def running_text(block: Block) -> int:
    """Characters of a block that reads like prose, without those in links; else 0."""
    size = len(block.text)
    if block.linked * 2 >= size or size < _SENTENCE:
        return 0
    if size >= _LONG or block.text[-1] in _SENTENCE_ENDS:
        return size - block.linked
    return 0


def _is_furniture(box: Box, held: int, total: int, has_headline: bool) -> bool:
    found = box.cues
    if found & cues.CONSENT and not has_headline:
        return held < total * _CONSENT_SHARE
    if found & cues.COMMENTS and not found & cues.BODY and total - held >= _COMMENTED:
        return True
    if found & cues.WIDGET and not found & cues.BODY and not held:
        return True
    return bool(found & _FURNITURE) and held < total * _allowed(found, has_headline)


def _allowed(found: int, has_headline: bool) -> float:
    if found & cues.BODY or has_headline:
        return _BODY_SHARE
    if found & (cues.ARTICLE | cues.MAIN):
        return _ARTICLE_SHARE
    return _SURE_SHARE if found & _SURE else _SHARE


def values_of(layout: Layout, weights: Weights, headline: int | None) -> list[float]:
    """What each block speaks for the box around it: running text for it, lists of links against."""
    start = headline or 0
    total = weights.sums[-1] or 1
    read = 0.0  # since the headline
    values = []
    for place, block in enumerate(layout.blocks):
        value = _value(block, weights.running[place], is_furniture=weights.furniture[block.box])
        if value > 0 and place < start:
            value *= _BEFORE_HEADLINE
        elif value > 0:
            # Comments and other articles come after the one that the page is for.
            value, read = value / (1 + read / total), read + value
        values.append(value)
    return values


def _value(block: Block, running: int, *, is_furniture: bool) -> float:
    size = len(block.text)
    if is_furniture:
        return -1.0
    if block.linked * 2 > size:
        return -0.5 * min(size, 100)
    if block.kind == "li" and block.linked * 6 > size:
        return 0.0  # most likely a teaser of another page
    return float(running)
