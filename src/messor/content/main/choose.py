"""Chooses the main content box: the one with the densest running text.

The article body that structured data declares is a check on it. It is not used as text, because
publishers shorten and flatten it; but blocks that start with its words show where the article is.
"""

from __future__ import annotations

import re
from itertools import accumulate, compress

from messor.content.main import hints
from messor.content.main.blocks import Blocks, Layout
from messor.content.main.weigh import Weights, values_of

# Share of its score that a box passes to its parent. Text scattered over many boxes thus counts
# less than contiguous text.
_PASSED_ON = 0.7
# Smaller boxes are more often teasers than parts of an article.
_SMALL = 150
# These pass on their whole score and are never the article itself.
_LEAVES = frozenset(
    (
        "blockquote", "dd", "dl", "dt", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6", "li",
        "ol", "p", "pre", "tbody", "td", "th", "tr", "ul",
    )
)  # fmt: skip
_BODY_BONUS = 1.25
_ARTICLE_BONUS = 1.1
# A box declared as the body is trusted if it holds this much running text.
_BELIEVED = 200
_BELIEVED_SHARE = 0.4
# The parent box is chosen if it adds this share of paragraphs.
_WORTH_WIDENING = 0.15
_PARAGRAPH = 100
_PARAGRAPHS = ("p", "", "blockquote")
_PAGE = ("", "body", "html")
_SHINGLE = 4
_MIN_BLOCK = 40
_HEAD = 120
# Share of the declared body that must match for it to count as found.
_FOUND = 0.3
# Share of the matched text that the chosen box must hold, and that a better one holds.
_HELD = 0.5
_BETTER = 0.9
_words = re.compile(r"\w+").findall


def choose_root(layout: Layout, weights: Weights, headline: int | None) -> int | None:
    """Return the index of the main box; None if there is no running text."""
    said = _declared_body(layout, weights)
    if said is not None:
        return said
    values = values_of(layout, weights, headline)
    densest = _densest(layout, weights, values)
    return None if densest is None else _widen(layout, values, densest)


def _declared_body(layout: Layout, weights: Weights) -> int | None:
    boxes = layout.boxes
    held = {
        place: weights.within(boxes.starts[place], boxes.ends[place])
        for place, found in boxes.hints.items()
        if found & hints.WHOLE_BODY
    }
    most = max(held.values(), default=0)
    if most < _BELIEVED:
        return None
    return next(place for place, size in held.items() if size >= most * _BELIEVED_SHARE)


def _densest(layout: Layout, weights: Weights, values: list[float]) -> int | None:
    boxes = layout.boxes
    tags, parents, hints_of = boxes.tags, boxes.parents, boxes.hints
    scores = [0.0] * len(tags)
    # Boilerplate scores 0, so its boxes pass nothing on.
    for start, end in weights.free:
        for box, value in zip(layout.blocks.boxes[start:end], values[start:end], strict=True):
            scores[box] += value
    best, highest = None, 0.0
    # A box comes after its ancestors. In reverse order, all inner scores have been added to a box's
    # score before it is used; whether it is 0 is found the same way.
    for place in compress(range(len(tags) - 1, 0, -1), reversed(scores)):
        score = scores[place]
        if tags[place] in _LEAVES:
            scores[parents[place]] += score
            continue
        scores[parents[place]] += score * (_PASSED_ON if score >= _SMALL else _PASSED_ON / 2)
        if place in hints_of:
            score *= _bonus(hints_of[place])
        if score > highest:
            best, highest = place, score
    return 0 if scores[0] > highest else best


def _bonus(found: int) -> float:
    if found & hints.BODY:
        return _BODY_BONUS
    return _ARTICLE_BONUS if found & hints.ARTICLE else 1.0


def _widen(layout: Layout, values: list[float], place: int) -> int:
    """Move to enclosing boxes while the article text continues there."""
    boxes = layout.boxes
    start, end = boxes.starts[place], boxes.ends[place]
    own = sum(values[start:end])
    around = boxes.parents[place]
    while around >= 0 and boxes.tags[around] not in _PAGE:
        before, after = slice(boxes.starts[around], start), slice(end, boxes.ends[around])
        more = values[before] + values[after]
        if own >= 0 and max(more, default=0) < _PARAGRAPH:
            break  # no paragraph here
        added = _continuing(layout.blocks, values, before) + _continuing(
            layout.blocks, values, after
        )
        if added <= (own if boxes.hints.get(place, 0) & hints.BODY else own * _WORTH_WIDENING):
            break
        own += sum(more)
        start, end = before.start, after.stop
        place, around = around, boxes.parents[around]
    return place


def _continuing(blocks: Blocks, values: list[float], part: slice) -> float:
    """Return the evidence that an article continues in a range of blocks."""
    return sum(
        [
            value
            for value, kind, linked, size in zip(
                values[part],
                blocks.kinds[part],
                blocks.linked[part],
                blocks.sizes[part],
                strict=True,
            )
            if value < 0 or (value >= _PARAGRAPH and kind in _PARAGRAPHS and linked * 5 < size)
        ]
    )


def follow_body(layout: Layout, root: int | None, body: str) -> int | None:
    """Return the chosen box, or another if the declared body clearly is elsewhere."""
    sums = [0, *accumulate(_matched(layout, body))]
    if sums[-1] < len(body) * _FOUND:
        return root
    starts, ends = layout.boxes.starts, layout.boxes.ends
    if root is not None and sums[ends[root]] - sums[starts[root]] >= sums[-1] * _HELD:
        return root
    holding = (
        place
        for place, (start, end) in enumerate(zip(starts, ends, strict=True))
        if sums[end] - sums[start] >= sums[-1] * _BETTER
    )
    return max(holding, default=root)


def _matched(layout: Layout, body: str) -> list[int]:
    """Return the sizes of the blocks that start with words of the body, 0 for others."""
    words = _words(body.casefold())
    blocks = layout.blocks
    heads = [
        tuple(_words(text[:_HEAD].casefold())[:_SHINGLE]) if size >= _MIN_BLOCK else ()
        for size, text in zip(blocks.sizes, blocks.texts, strict=True)
    ]
    known = set(heads).intersection(zip(*(words[at:] for at in range(_SHINGLE)), strict=False))
    return [size if head in known else 0 for size, head in zip(blocks.sizes, heads, strict=True)]
