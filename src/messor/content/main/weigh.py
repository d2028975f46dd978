"""Measures the running text of a page's blocks and finds its boilerplate.

Names may be wrong, so a box is dropped on its hints only while enough text remains elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, compress

from messor.content.main import hints
from messor.content.main.blocks import Blocks, Layout

# Hints that are rarely wrong.
_SURE = (
    hints.NAVIGATION | hints.FOOTER | hints.SHARE | hints.HIDDEN | hints.DIALOG | hints.CAPTION | hints.FORM
)  # fmt: skip
_BOILERPLATE = _SURE | hints.RELATED | hints.SIGNUP | hints.ADVERT | hints.SIDEBAR | hints.BYLINE
_TELLING = _BOILERPLATE | hints.CONSENT | hints.COMMENTS | hints.WIDGET
# Maximum share of a page's running text in such a box for it to be dropped.
_SURE_SHARE = 0.6
_SHARE = 0.4
_CONSENT_SHARE = 0.85
_ARTICLE_SHARE = 0.1
_BODY_SHARE = 0.05
# Comments may outweigh the article they refer to, as long as it is there.
_COMMENTED = 200

_FURNITURE_VALUE = -1.0
# Text before the headline is rarely part of the article.
_BEFORE_HEADLINE = 0.3
_LONG = 80
_SENTENCE = 25
_SENTENCE_ENDS = frozenset(
    '.!?…:;"”»。」\u2019\uff01\uff1f'
)  # closing quotes, and full-width punctuation


@dataclass(slots=True)
class Weights:
    """Prefix sums of running text by block, and the blocks that are not boilerplate."""

    running: list[int]
    sums: list[int]  # of the blocks before each
    free: list[tuple[int, int]]  # ranges of blocks without boilerplate, in order
    given_up: set[int]  # boxes that are entirely boilerplate

    def within(self, start: int, end: int) -> int:
        """Return the running text of a range of blocks."""
        return self.sums[end] - self.sums[start]

    def free_within(self, start: int, end: int) -> Iterator[int]:
        """Yield the indices of the blocks of a range that are not boilerplate."""
        ranges = [range(max(start, first), min(end, last)) for first, last in self.free]
        return chain.from_iterable(ranges)

    def is_boilerplate(self, layout: Layout, box: int) -> bool:
        """Whether a box or one of its ancestors is boilerplate."""
        parents = layout.boxes.parents
        while box >= 0 and box not in self.given_up:
            box = parents[box]
        return box >= 0


def weigh(layout: Layout) -> Weights:
    """Return the weights of a page."""
    boxes, blocks = layout.boxes, layout.blocks
    starts, ends = boxes.starts, boxes.ends
    running = _running(blocks)
    sums = [0, *accumulate(running)]
    total = sums[-1]
    weights = Weights(running, sums, [], set())
    headlines: list[int] | None = None  # computed on first use
    until = 0  # end of the last dropped box; boxes that start before it are inside it
    for place, found in boxes.hints.items():
        start = starts[place]
        if found & _TELLING and until <= start < (end := ends[place]):
            held = sums[end] - sums[start]
            # Most hold no running text, so their name is trusted.
            is_boilerplate = not held and total > 0 and found & _BOILERPLATE > 0
            if not is_boilerplate:
                if headlines is None:
                    headlines = _headlines(blocks.kinds)
                has_headline = bisect_left(headlines, start) < bisect_left(headlines, end)
                is_boilerplate = _is_boilerplate(found, held, total, has_headline)
            if is_boilerplate:
                weights.given_up.add(place)
                if until < start:
                    weights.free.append((until, start))
                until = end
    if until < len(running):
        weights.free.append((until, len(running)))
    return weights


def _headlines(kinds: list[str]) -> list[int]:
    found: list[int] = []
    for _ in range(kinds.count("h1")):  # rarely more than one
        found.append(kinds.index("h1", found[-1] + 1 if found else 0))
    return found


def _running(blocks: Blocks) -> list[int]:
    """Return the characters of prose in each block, without links; 0 for other blocks."""
    sizes, texts, linked = blocks.sizes, blocks.texts, blocks.linked
    running = [0] * len(sizes)
    # Most blocks are short entries of menus and lists.
    for place in [place for place, size in enumerate(sizes) if size >= _SENTENCE]:
        size, in_links = sizes[place], linked[place]
        if in_links * 2 < size and (size >= _LONG or texts[place][-1] in _SENTENCE_ENDS):
            running[place] = size - in_links
    return running


def _is_boilerplate(found: int, held: int, total: int, has_headline: bool) -> bool:
    if found & hints.CONSENT and not has_headline:
        return held < total * _CONSENT_SHARE
    if found & hints.COMMENTS and not found & hints.BODY and total - held >= _COMMENTED:
        return True
    if found & hints.WIDGET and not found & hints.BODY and not held:
        return True
    return bool(found & _BOILERPLATE) and held < total * _allowed(found, has_headline)


def _allowed(found: int, has_headline: bool) -> float:
    if found & hints.BODY or has_headline:
        return _BODY_SHARE
    if found & (hints.ARTICLE | hints.MAIN):
        return _ARTICLE_SHARE
    return _SURE_SHARE if found & _SURE else _SHARE


def values_of(layout: Layout, weights: Weights, headline: int | None) -> list[float]:
    """Return each block's score for its box: positive for running text, negative for link lists."""
    values: list[float] = [_FURNITURE_VALUE] * len(weights.running)
    for start, end in weights.free:
        values[start:end] = (
            _plain_values(layout.blocks, weights, slice(start, end))
            if any(layout.blocks.linked[start:end])
            else weights.running[start:end]
        )
    start = headline or 0
    total = weights.sums[-1] or 1
    read = 0.0  # after the headline
    for place in compress(range(len(values)), weights.running):
        value = values[place]
        if value <= 0:
            continue
        if place < start:
            values[place] = value * _BEFORE_HEADLINE
        else:
            # Comments and other articles follow the page's main article.
            values[place] = value / (1 + read / total)
            read += value
    return values


def _plain_values(blocks: Blocks, weights: Weights, part: slice) -> list[float]:
    return [
        (-0.5 * size if size < 100 else -50.0)
        if linked * 2 > size
        else 0.0  # probably a teaser of another page
        if kind == "li" and linked * 6 > size
        else float(running)
        for size, linked, kind, running in zip(
            blocks.sizes[part],
            blocks.linked[part],
            blocks.kinds[part],
            weights.running[part],
            strict=True,
        )
    ]
