"""Which box holds the main content: the one where running text is densest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from messor.extract.main import cues
from messor.extract.main.blocks import Box, Layout
from messor.extract.main.weigh import Weights, values_of

# What a box passes on to the one around it. Text scattered over many boxes thus counts for less
# than text that stands together.
_PASSED_ON = 0.7
# Boxes with less than this in them are more often teasers than parts of an article.
_SMALL = 150
# These pass everything on and are never the whole of an article.
_LEAVES = frozenset(
    (
        "blockquote", "dd", "dl", "dt", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6", "li",
        "ol", "p", "pre", "tbody", "td", "th", "tr", "ul",
    )
)  # fmt: skip
_BODY_BONUS = 1.25
_ARTICLE_BONUS = 1.1
# A box said to be the body is believed when it holds this much running text.
_BELIEVED = 200
_BELIEVED_SHARE = 0.4
# The box around it is taken when it adds this share of paragraphs.
_WORTH_WIDENING = 0.15
_PARAGRAPH = 100


def choose_root(layout: Layout, weights: Weights, headline: int | None) -> int | None:
    """The place of the main box among the boxes, None where there is no running text."""
    said = _said_to_be_body(layout, weights)
    if said is not None:
        return said
    values = values_of(layout, weights, headline)
    densest = _densest(layout, weights, values)
    return None if densest is None else _widen(layout, values, densest)


def _said_to_be_body(layout: Layout, weights: Weights) -> int | None:
    held = {
        place: weights.within(box)
        for place, box in enumerate(layout.boxes)
        if box.cues & cues.WHOLE_BODY
    }
    most = max(held.values(), default=0)
    if most < _BELIEVED:
        return None
    return next(place for place, size in held.items() if size >= most * _BELIEVED_SHARE)


def _densest(layout: Layout, weights: Weights, values: Sequence[float]) -> int | None:
    boxes = layout.boxes
    scores = [0.0] * len(boxes)
    for block, value in zip(layout.blocks, values, strict=True):
        scores[block.box] += value
    best, highest = None, 0.0
    for place in range(len(boxes) - 1, -1, -1):
        if weights.furniture[place]:
            continue
        box, score = boxes[place], scores[place]
        is_leaf = box.tag in _LEAVES
        if box.parent >= 0:
            scores[box.parent] += score if is_leaf else score * _passed_on(score)
        score *= _bonus(box)
        if not is_leaf and score > highest:
            best, highest = place, score
    return best


def _passed_on(score: float) -> float:
    return _PASSED_ON if score >= _SMALL else _PASSED_ON / 2


def _bonus(box: Box) -> float:
    if box.cues & cues.BODY:
        return _BODY_BONUS
    return _ARTICLE_BONUS if box.cues & cues.ARTICLE else 1.0


def _widen(layout: Layout, values: Sequence[float], place: int) -> int:
    """Take in the boxes around as long as the text goes on there."""
    boxes = layout.boxes
    more = [0.0, *accumulate(_continuing(layout, values))]
    sums = [0.0, *accumulate(values)]
    while True:
        box = boxes[place]
        around = boxes[box.parent] if box.parent >= 0 else box
        if around.tag in ("", "body", "html"):
            return place
        own = sums[box.end] - sums[box.start]
        added = more[around.end] - more[around.start] - (more[box.end] - more[box.start])
        enough = own if box.cues & cues.BODY else own * _WORTH_WIDENING
        if added <= enough:
            return place
        place = box.parent


def _continuing(layout: Layout, values: Sequence[float]) -> list[float]:
    """Of each block what it says for an article that goes on in it."""
    return [
        value
        if value < 0
        or (
            value >= _PARAGRAPH
            and block.kind in ("p", "", "blockquote")
            and block.linked * 5 < len(block.text)
        )
        else 0.0
        for block, value in zip(layout.blocks, values, strict=True)
    ]
