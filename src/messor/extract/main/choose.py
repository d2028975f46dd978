"""Which box holds the main content: the one where running text is densest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, compress
from operator import not_

from messor.extract.main import cues
from messor.extract.main.blocks import Blocks, Layout
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
_PARAGRAPHS = ("p", "", "blockquote")
_PAGE = ("", "body", "html")


def choose_root(layout: Layout, weights: Weights, headline: int | None) -> int | None:
    """The place of the main box among the boxes, None where there is no running text."""
    said = _said_to_be_body(layout, weights)
    if said is not None:
        return said
    values = values_of(layout, weights, headline)
    densest = _densest(layout, weights, values)
    return None if densest is None else _widen(layout, values, densest)


def _said_to_be_body(layout: Layout, weights: Weights) -> int | None:
    boxes = layout.boxes
    held = {
        place: weights.within(boxes.starts[place], boxes.ends[place])
        for place, found in boxes.cues.items()
        if found & cues.WHOLE_BODY
    }
    most = max(held.values(), default=0)
    if most < _BELIEVED:
        return None
    return next(place for place, size in held.items() if size >= most * _BELIEVED_SHARE)


def _densest(layout: Layout, weights: Weights, values: Sequence[float]) -> int | None:
    boxes = layout.boxes
    tags, parents, cues_of = boxes.tags, boxes.parents, boxes.cues
    scores = [0.0] * len(tags)
    # Furniture adds nothing, so that its boxes come out at 0 and pass nothing on.
    for box, value in compress(
        zip(layout.blocks.boxes, values, strict=True), map(not_, weights.furniture)
    ):
        scores[box] += value
    best, highest = None, 0.0
    for place in range(len(tags) - 1, 0, -1):
        score = scores[place]
        if not score:
            continue
        if tags[place] in _LEAVES:
            scores[parents[place]] += score
            continue
        scores[parents[place]] += score * (_PASSED_ON if score >= _SMALL else _PASSED_ON / 2)
        if place in cues_of:
            score *= _bonus(cues_of[place])
        if score > highest:
            best, highest = place, score
    return 0 if scores[0] > highest else best


def _bonus(found: int) -> float:
    if found & cues.BODY:
        return _BODY_BONUS
    return _ARTICLE_BONUS if found & cues.ARTICLE else 1.0


def _widen(layout: Layout, values: Sequence[float], place: int) -> int:
    """Take in the boxes around as long as the text goes on there."""
    boxes = layout.boxes
    starts, ends = boxes.starts, boxes.ends
    around = boxes.parents[place]
    if around < 0 or boxes.tags[around] in _PAGE:
        return place
    more = [0.0, *accumulate(_continuing(layout.blocks, values))]
    sums = [0.0, *accumulate(values)]
    while around >= 0 and boxes.tags[around] not in _PAGE:
        start, end = starts[place], ends[place]
        own = sums[end] - sums[start]
        added = more[ends[around]] - more[starts[around]] - (more[end] - more[start])
        enough = own if boxes.cues.get(place, 0) & cues.BODY else own * _WORTH_WIDENING
        if added <= enough:
            break
        place, around = around, boxes.parents[around]
    return place


def _continuing(blocks: Blocks, values: Sequence[float]) -> list[float]:
    """Of each block what it says for an article that goes on in it."""
    return [
        value
        if value < 0 or (value >= _PARAGRAPH and kind in _PARAGRAPHS and linked * 5 < size)
        else 0.0
        for value, kind, linked, size in zip(
            values, blocks.kinds, blocks.linked, blocks.sizes, strict=True
        )
    ]
