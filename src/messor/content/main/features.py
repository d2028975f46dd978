"""Features of a page's blocks, for the learnt model: by themselves, their neighbours, the boxes around
them, the words of class names and headings, and what the rules would do.

A column holds one feature of all blocks as bytes below BINS, so that the model looks up whole columns
at once. Features of boxes are computed once per box.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, compress

from messor.content.main import hints
from messor.content.main.blocks import Blocks, Layout
from messor.content.main.lexicon import MAX_HEADING, MAX_SHORT, UNKNOWN, Lexicon
from messor.content.main.weigh import Weights

BINS = 16
_KIND = {
    "": 0, "p": 1, "li": 2, "h1": 3, "h2": 4, "h3": 5, "h4": 6, "h5": 7, "h6": 7, "td": 8, "th": 9,
    "dt": 10, "dd": 11, "blockquote": 12, "figcaption": 13, "caption": 13, "pre": 14, "address": 15,
    "summary": 15,
}  # fmt: skip
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_ENDS = frozenset('.!?…。」\uff01\uff1f"”')
# Groups of hints, each a feature that everything inside inherits.
_HINTS = (
    hints.COMMENTS, hints.RELATED, hints.SHARE | hints.SIGNUP | hints.ADVERT,
    hints.NAVIGATION | hints.FOOTER, hints.SIDEBAR, hints.BYLINE, hints.CAPTION, hints.HIDDEN,
    hints.FORM, hints.DIALOG | hints.CONSENT, hints.WIDGET, hints.BODY | hints.WHOLE_BODY,
    hints.ARTICLE, hints.MAIN,
)  # fmt: skip
_REACH = 4  # neighbours on each side
_GROUP = ("linked", "running", "blocks", "share", "mean", "repeats", "of_running")
_BOX = (
    *(f"hint_{number}" for number in range(len(_HINTS))),
    "most_repeats", "class_near", "class_min", "class_max", "class_sum",
    *(f"{name}_{level}" for level in (1, 2, 3) for name in _GROUP),
    "depth", "repeats",
)  # fmt: skip
_PLACES = [bytes((value,)) for value in range(BINS)]
_NEUTRAL = 7  # a class name that says nothing


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about the whole page before its blocks are judged."""

    headline: int | None
    root: int | None  # box of the article, if any
    article: Sequence[int]  # blocks kept by the rules for articles
    page: Sequence[int]  # blocks kept by the rules for other pages
    declared: int  # bits: article, product, thread, dateline
    is_article: bool  # verdict of the rules


Columns = dict[str, bytes]


def read_columns(layout: Layout, weights: Weights, facts: Facts, lexicon: Lexicon) -> Columns:
    """Return the features of all blocks of a page that has any."""
    columns = _own(layout.blocks, weights)
    columns |= _neighbours(columns)
    columns |= _places(layout.blocks, facts.headline)
    columns |= _rules(layout, weights, facts)
    columns |= _windows(layout.blocks, weights)
    columns |= _words(layout.blocks, lexicon)
    columns |= _around(layout, weights, lexicon)
    return columns


def _own(blocks: Blocks, weights: Weights) -> Columns:
    return {
        "kind": bytes([_KIND[kind] for kind in blocks.kinds]),
        "size": bytes([min(size.bit_length(), 12) for size in blocks.sizes]),
        "linked": bytes(
            [
                linked * 8 // size if linked else 0
                for linked, size in zip(blocks.linked, blocks.sizes, strict=True)
            ]
        ),
        "running": bytes([1 if running else 0 for running in weights.running]),
        "ends": bytes([text[-1] in _ENDS for text in blocks.texts]),
        "again": _again(blocks.texts),
    }


def _again(texts: Sequence[str]) -> bytes:
    """Tell which texts come again, and which stood further up already."""
    counts = Counter(texts)
    if len(counts) == len(texts):
        return bytes(len(texts))
    seen: set[str] = set()
    found = bytearray(len(texts))
    for place, text in enumerate(texts):
        if counts[text] > 1:
            found[place] = (2 if text in seen else 1) + (2 if counts[text] > 3 else 0)
            seen.add(text)
    return bytes(found)


def _neighbours(columns: Columns) -> Columns:
    found: Columns = {}
    for name in ("size", "linked", "kind", "running"):
        found[f"before_{name}"] = b"\x0f" + columns[name][:-1]
        found[f"behind_{name}"] = columns[name][1:] + b"\x0f"
    return found


def _places(blocks: Blocks, headline: int | None) -> Columns:
    count = len(blocks.texts)
    places = range(count)
    total = sum(blocks.sizes) + 1
    lengths = [min(place.bit_length(), 10) for place in range(count + 1)]
    if headline is None:
        after = bytes([11 + min(place.bit_length() // 2, 4) for place in places])
    else:
        after = bytes(headline) + bytes(
            [1 + min(place, 9) for place in lengths[: count - headline]]
        )
    return {
        "order": bytes([place * 16 // count for place in places]),
        "read": bytes([size * 16 // total for size in accumulate(blocks.sizes)]),
        "headline": after,
        "first": bytes(lengths[:count]),
        "last": bytes(lengths[:0:-1]),
        "length": bytes([min(count.bit_length(), 12)]) * count,
    }


def _rules(layout: Layout, weights: Weights, facts: Facts) -> Columns:
    blocks, boxes = layout.blocks, layout.boxes
    count = len(blocks.texts)
    kept = bytearray(b"\x08" if facts.is_article else b"\0") * count
    for start, end in weights.free:
        for place in range(start, end):
            kept[place] |= 1
    for place in facts.page:
        kept[place] |= 2
    for place in facts.article:
        kept[place] |= 4
    inside = b"\x03" * count
    if facts.root is not None:
        start, end = boxes.starts[facts.root], boxes.ends[facts.root]
        inside = b"\0" * start + b"\x01" * (end - start) + b"\x02" * (count - end)
    running, size = weights.sums[-1], sum(blocks.sizes)
    of_article = sum(map(weights.running.__getitem__, facts.article)) * 8 // (running or 1)
    return {
        "rules": bytes(kept),
        "root": inside,
        "declared": bytes([facts.declared]) * count,
        "article_share": bytes([of_article]) * count,
        "page_running": bytes([running * 8 // size]) * count,
        "page_linked": bytes([min(sum(blocks.linked) * 8 // size, 8)]) * count,
    }


def _windows(blocks: Blocks, weights: Weights) -> Columns:
    """Shares of linked and of running text among a block and its neighbours."""
    count = len(blocks.texts)
    rows = bytearray()
    sizes = [0, *accumulate(blocks.sizes)]
    linked = [0, *accumulate(blocks.linked)]
    running = weights.sums
    for place in range(count):
        start = place - _REACH if place > _REACH else 0
        end = place + _REACH + 1
        end = min(end, count)
        size = sizes[end] - sizes[start]
        rows.append((linked[end] - linked[start]) * 8 // size)
        rows.append((running[end] - running[start]) * 8 // size)
        rows.append(min((size // (end - start)).bit_length(), 12))
    return {
        "near_linked": bytes(rows[::3]),
        "near_running": bytes(rows[1::3]),
        "near_mean": bytes(rows[2::3]),
    }


def _words(blocks: Blocks, lexicon: Lexicon) -> Columns:
    """Scores of the words of short blocks, and of the heading above each block."""
    texts, short, heading = blocks.texts, lexicon.short, lexicon.headings
    values = [
        short[text] if size <= MAX_SHORT else UNKNOWN
        for text, size in zip(texts, blocks.sizes, strict=True)
    ]
    above: list[int] = []
    last = UNKNOWN
    for kind, text in zip(blocks.kinds, texts, strict=True):
        if kind in _HEADINGS:
            last = heading[text[:MAX_HEADING]]
        above.append(last)
    return {
        "short_mean": bytes([value >> 4 for value in values]),
        "short_min": bytes([value & 15 for value in values]),
        "heading_mean": bytes([value >> 4 for value in above]),
        "heading_min": bytes([value & 15 for value in above]),
    }


def _around(layout: Layout, weights: Weights, lexicon: Lexicon) -> Columns:
    """Features of the boxes around each block."""
    around = _Around(layout, weights, lexicon)
    rows = b"".join([around.rows[box] or around.row(box) for box in layout.blocks.boxes])
    width = len(_BOX)
    return {name: rows[number::width] for number, name in enumerate(_BOX)}


class _Around:
    """Boxes described by what they inherit, and by three groups, each larger than the one before."""

    def __init__(self, layout: Layout, weights: Weights, lexicon: Lexicon) -> None:
        self._boxes = layout.boxes
        count = len(self._boxes.tags)
        self._sizes = [0, *accumulate(layout.blocks.sizes)]
        self._linked = [0, *accumulate(layout.blocks.linked)]
        self._running = weights.sums
        self._larger = [0] * count
        self._repeats = [0] * count
        self._depths = [0] * count
        # Hints, most repeats; nearest, least, greatest and summed score of class names.
        self._inherited = [(0, 0, _NEUTRAL, _NEUTRAL, _NEUTRAL, 0)] * count
        self._groups: dict[int, bytes] = {}
        self._tails: dict[tuple[int, ...], bytes] = {}
        self.rows: list[bytes] = [b""] * count
        self._inherit(lexicon)

    def _inherit(self, lexicon: Lexicon) -> None:
        boxes = self._boxes
        tags, parents, starts, ends = boxes.tags, boxes.parents, boxes.starts, boxes.ends
        siblings = Counter(zip(parents, tags, strict=True))
        larger, repeats, depths = self._larger, self._repeats, self._depths
        inherited, names, found, classes = (
            self._inherited, boxes.names, boxes.hints, lexicon.classes,
        )  # fmt: skip
        counts = [end - start for start, end in zip(starts, ends, strict=True)]
        for box in compress(range(1, len(tags)), counts[1:]):
            parent = parents[box]
            larger[box] = parent if counts[parent] > counts[box] else larger[parent]
            depths[box] = depths[parent] + 1
            state = inherited[parent]
            own = siblings[parent, tags[box]]
            if own > 2:
                repeats[box] = own
                if own > state[1]:
                    state = (state[0], own, *state[2:])
            if box in found:
                state = (state[0] | found[box], *state[1:])
            if box in names and (value := classes[names[box]]) != UNKNOWN:
                near, least, greatest = value >> 8, value >> 4 & 15, value & 15
                state = (
                    state[0],
                    state[1],
                    near,
                    min(state[3], least),
                    max(state[4], greatest),
                    state[5] + near - _NEUTRAL,
                )
            inherited[box] = state

    def row(self, box: int) -> bytes:
        """Return the features of a box as bytes, in the order of their names."""
        boxes, larger, groups = self._boxes, self._larger, self._groups
        first = box if boxes.ends[box] - boxes.starts[box] > 1 else larger[box]
        second = larger[first]
        third = larger[second]
        state = self._inherited[box]
        row = self.rows[box] = (
            (self._tails.get(state) or self._tail(state))
            + (groups.get(first) or self._group(first))
            + (groups.get(second) or self._group(second))
            + (groups.get(third) or self._group(third))
            + _PLACES[min(self._depths[box], 15)]
            + _PLACES[min(self._repeats[box].bit_length(), 7)]
        )
        return row

    def _tail(self, state: tuple[int, int, int, int, int, int]) -> bytes:
        found, most, near, least, greatest, summed = state
        row = self._tails[state] = bytes(
            (
                *[1 if found & hint else 0 for hint in _HINTS],
                min(most.bit_length(), 8),
                near,
                least,
                greatest,
                max(0, min(15, _NEUTRAL + summed // 4)),
            )
        )
        return row

    def _group(self, box: int) -> bytes:
        start, end = self._boxes.starts[box], self._boxes.ends[box]
        size = self._sizes[end] - self._sizes[start] or 1
        running = self._running[end] - self._running[start]
        row = self._groups[box] = bytes(
            (
                (self._linked[end] - self._linked[start]) * 8 // size,
                running * 8 // size,
                min((end - start).bit_length(), 10),
                size * 10 // self._sizes[-1],
                min((size // (end - start or 1)).bit_length(), 10),
                min(self._repeats[box].bit_length(), 7),
                running * 10 // (self._running[-1] or 1),
            )
        )
        return row
