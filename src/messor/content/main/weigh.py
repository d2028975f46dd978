"""How much running text the blocks of a page hold, and which of them are furniture.

A name may be wrong, so a box is given up on its cues only while enough text is left elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, compress

from messor.content.main import cues
from messor.content.main.blocks import Blocks, Layout

# Parts that are seldom anything else than what their names say.
_SURE = (
    cues.NAVIGATION | cues.FOOTER | cues.SHARE | cues.HIDDEN | cues.DIALOG | cues.CAPTION | cues.FORM
)  # fmt: skip
_FURNITURE = _SURE | cues.RELATED | cues.SIGNUP | cues.ADVERT | cues.SIDEBAR | cues.BYLINE
_TELLING = _FURNITURE | cues.CONSENT | cues.COMMENTS | cues.WIDGET
# The share of a page's running text that such a box may hold and still be given up.
_SURE_SHARE = 0.6
_SHARE = 0.4
_CONSENT_SHARE = 0.85
_ARTICLE_SHARE = 0.1
_BODY_SHARE = 0.05
# Comments may outweigh what they comment on, as long as that is there.
_COMMENTED = 200

_FURNITURE_VALUE = -1.0
# Text before the headline is seldom of the article.
_BEFORE_HEADLINE = 0.3
_LONG = 80
_SENTENCE = 25
_SENTENCE_ENDS = frozenset('.!?…:;"”»。」\u2019\uff01\uff1f')  # a quote's, and full-width ones


@dataclass(slots=True)
class Weights:
    """Of each block its characters of running text, summed up, and which blocks are no furniture."""

    running: list[int]
    sums: list[int]  # of the blocks before each
    free: list[tuple[int, int]]  # stretches of blocks without furniture, in order
    given_up: set[int]  # the boxes that are furniture with all in them

    def within(self, start: int, end: int) -> int:
        """The running text of a stretch of blocks."""
        return self.sums[end] - self.sums[start]

    def free_within(self, start: int, end: int) -> Iterator[int]:
        """The places of the blocks of a stretch that are no furniture."""
        stretches = [range(max(start, first), min(end, last)) for first, last in self.free]
        return chain.from_iterable(stretches)

    def is_furniture(self, layout: Layout, box: int) -> bool:
        """Whether a box is given up, itself or with one around it."""
        parents = layout.boxes.parents
        while box >= 0 and box not in self.given_up:
            box = parents[box]
        return box >= 0


def weigh(layout: Layout) -> Weights:
    """The weights of a page."""
    boxes, blocks = layout.boxes, layout.blocks
    starts, ends = boxes.starts, boxes.ends
    running = _running(blocks)
    sums = [0, *accumulate(running)]
    total = sums[-1]
    weights = Weights(running, sums, [], set())
    headlines: list[int] | None = None  # found when the first has to be known of
    until = 0  # the end of the last box given up; those that begin before it are within it
    for place, found in boxes.cues.items():
        start = starts[place]
        if found & _TELLING and until <= start < (end := ends[place]):
            held = sums[end] - sums[start]
            # Most hold no running text, so that they are what they are called.
            is_furniture = not held and total > 0 and found & _FURNITURE > 0
            if not is_furniture:
                if headlines is None:
                    headlines = _headlines(blocks.kinds)
                has_headline = bisect_left(headlines, start) < bisect_left(headlines, end)
                is_furniture = _is_furniture(found, held, total, has_headline)
            if is_furniture:
                weights.given_up.add(place)
                if until < start:
                    weights.free.append((until, start))
                until = end
    if until < len(running):
        weights.free.append((until, len(running)))
    return weights


def _headlines(kinds: list[str]) -> list[int]:
    found: list[int] = []
    for _ in range(kinds.count("h1")):  # seldom more than one
        found.append(kinds.index("h1", found[-1] + 1 if found else 0))
    return found


def _running(blocks: Blocks) -> list[int]:
    """Characters of the blocks that read like prose, without those in links; 0 for others."""
    sizes, texts, linked = blocks.sizes, blocks.texts, blocks.linked
    running = [0] * len(sizes)
    # Most blocks are the entries of menus and lists, which are short.
    for place in [place for place, size in enumerate(sizes) if size >= _SENTENCE]:
        size, in_links = sizes[place], linked[place]
        if in_links * 2 < size and (size >= _LONG or texts[place][-1] in _SENTENCE_ENDS):
            running[place] = size - in_links
    return running


def _is_furniture(found: int, held: int, total: int, has_headline: bool) -> bool:
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
    values: list[float] = [_FURNITURE_VALUE] * len(weights.running)
    for start, end in weights.free:
        values[start:end] = (
            _plain_values(layout.blocks, weights, slice(start, end))
            if any(layout.blocks.linked[start:end])
            else weights.running[start:end]
        )
    start = headline or 0
    total = weights.sums[-1] or 1
    read = 0.0  # since the headline
    for place in compress(range(len(values)), weights.running):
        value = values[place]
        if value <= 0:
            continue
        if place < start:
            values[place] = value * _BEFORE_HEADLINE
        else:
            # Comments and other articles come after the one that the page is for.
            values[place] = value / (1 + read / total)
            read += value
    return values


def _plain_values(blocks: Blocks, weights: Weights, part: slice) -> list[float]:
    return [
        (-0.5 * size if size < 100 else -50.0)
        if linked * 2 > size
        else 0.0  # most likely a teaser of another page
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
