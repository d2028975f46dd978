"""Features of a page's blocks, for the learnt model: by themselves, their neighbours, the boxes around
them, the words of class names and headings, and what the rules would do.

A column holds one feature of all blocks as bytes below BINS, so that the model looks up whole columns
at once. Features of boxes are computed once per box.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import floordiv, mul, sub
from typing import NamedTuple

from messor.content.main import hints
from messor.content.main.blocks import MAX_BLOCKS, Blocks, Layout
from messor.content.main.lexicon import MAX_HEADING, MAX_SHORT, UNKNOWN, Lexicon
from messor.content.main.weigh import Weights
from messor.content.memory import Memory

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
_BYTES = [bytes((value,)) for value in range(256)]
# By a byte: its halves; itself, bounded.
_HIGH = bytes(value >> 4 for value in range(256))
_LOW = bytes(value & 15 for value in range(256))
_AT_MOST_7 = bytes(min(value, 7) for value in range(256))
_AT_MOST_10 = bytes(min(value, 10) for value in range(256))
_AT_MOST_12 = bytes(min(value, 12) for value in range(256))
# By a number of blocks: its order of magnitude, and what that says of a block's place.
_LENGTHS = bytes(min(value.bit_length(), 10) for value in range(MAX_BLOCKS + 2))
_LENGTHS_TO_12 = bytes(min(value.bit_length(), 12) for value in range(MAX_BLOCKS + 2))
_TITLED = bytes(1 + min(value, 9) for value in _LENGTHS)
_UNTITLED = bytes(11 + min(value.bit_length() // 2, 4) for value in range(MAX_BLOCKS + 2))
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


def read_columns(
    layout: Layout,
    weights: Weights,
    facts: Facts,
    lexicon: Lexicon,
    memory: Memory | None = None,
) -> Columns:
    """Return the features of all blocks of a page that has any."""
    blocks = layout.blocks
    sums = Sums([0, *accumulate(blocks.sizes)], [0, *accumulate(blocks.linked)], weights.sums)
    columns = _own(blocks, weights)
    columns |= _neighbours(columns)
    columns |= _places(sums.sizes, facts.headline)
    columns |= _rules(layout, weights, facts)
    columns |= _windows(sums)
    columns |= _words(blocks, lexicon)
    columns |= _around(layout, sums, lexicon, memory or Memory())
    return columns


class Sums(NamedTuple):
    """Characters of the blocks before each, and of all."""

    sizes: list[int]
    linked: list[int]
    running: list[int]


def _own(blocks: Blocks, weights: Weights) -> Columns:
    return {
        "kind": bytes(map(_KIND.__getitem__, blocks.kinds)),
        "size": _lengths(blocks.sizes),
        "linked": bytes(
            [
                linked * 8 // size if linked else 0
                for linked, size in zip(blocks.linked, blocks.sizes, strict=True)
            ]
        ),
        "running": bytes(map(bool, weights.running)),
        "ends": bytes([text[-1] in _ENDS for text in blocks.texts]),
        "again": _again(blocks.texts),
    }


def _lengths(sizes: Iterable[int]) -> bytes:
    """Return the binary orders of magnitude of sizes, at most 12."""
    return bytes(map(int.bit_length, sizes)).translate(_AT_MOST_12)


def _again(texts: Sequence[str]) -> bytes:
    """Tell which texts come again, and which stood further up already."""
    counts = Counter(texts)
    found = bytearray(len(texts))
    if len(counts) < len(texts):
        again = {
            text: (1, 2) if count < 4 else (3, 4) for text, count in counts.items() if count > 1
        }
        seen: set[str] = set()
        for place in [place for place, text in enumerate(texts) if text in again]:
            text = texts[place]
            found[place] = again[text][text in seen]
            seen.add(text)
    return bytes(found)


def _neighbours(columns: Columns) -> Columns:
    found: Columns = {}
    for name in ("size", "linked", "kind", "running"):
        found[f"before_{name}"] = b"\x0f" + columns[name][:-1]
        found[f"behind_{name}"] = columns[name][1:] + b"\x0f"
    return found


def _places(sizes: list[int], headline: int | None) -> Columns:
    count = len(sizes) - 1
    after = _UNTITLED if headline is None else bytes(headline) + _TITLED
    return {
        "order": _steps(range(count + 1), count),
        "read": _steps(sizes, sizes[-1] + 1)[1:],
        "headline": after[:count],
        "first": _LENGTHS[:count],
        "last": _LENGTHS[count:0:-1],
        "length": _LENGTHS_TO_12[count : count + 1] * count,
    }


def _steps(rising: Sequence[int], total: int) -> bytes:
    """Return in which sixteenth of the total each of some rising values below it lies."""
    ends = [bisect_left(rising, -(-step * total // BINS)) for step in range(1, BINS + 1)]
    return b"".join(map(mul, _BYTES, map(sub, ends, [0, *ends])))


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


def _windows(sums: Sums) -> Columns:
    """Shares of linked and of running text among a block and its neighbours."""
    count = len(sums.sizes) - 1
    sizes, counts = _within_reach(sums.sizes), _within_reach(range(count + 1))
    return {
        "near_linked": bytes(map(floordiv, _within_reach(sums.linked, 8), sizes)),
        "near_running": bytes(map(floordiv, _within_reach(sums.running, 8), sizes)),
        "near_mean": _lengths(map(floordiv, sizes, counts)),
    }


def _within_reach(sums: Sequence[int], times: int = 1) -> list[int]:
    """Return the sums over each block and its neighbours, times a factor."""
    count = len(sums) - 1
    until = [*sums[_REACH + 1 :], *[sums[-1]] * _REACH]
    since = [*[0] * _REACH, *sums]
    pairs = zip(until[:count], since, strict=False)
    return [(end - start) * times for end, start in pairs]


def _words(blocks: Blocks, lexicon: Lexicon) -> Columns:
    """Scores of the words of short blocks, and of the heading above each block."""
    texts, short, heading = blocks.texts, lexicon.short, lexicon.headings
    values = bytes(
        [
            short[text] if size <= MAX_SHORT else UNKNOWN
            for text, size in zip(texts, blocks.sizes, strict=True)
        ]
    )
    above = b""
    last = UNKNOWN
    for place, kind in enumerate(blocks.kinds):
        if kind in _HEADINGS:
            above += _BYTES[last] * (place - len(above))
            last = heading[texts[place][:MAX_HEADING]]
    above += _BYTES[last] * (len(texts) - len(above))
    return {
        "short_mean": values.translate(_HIGH),
        "short_min": values.translate(_LOW),
        "heading_mean": above.translate(_HIGH),
        "heading_min": above.translate(_LOW),
    }


def _around(layout: Layout, sums: Sums, lexicon: Lexicon, memory: Memory) -> Columns:
    """Features of the boxes around each block."""
    boxes, own = layout.boxes, layout.blocks.boxes
    around = _Around(layout, sums, lexicon, memory)
    # Boxes that hold one block are alike if parent, tag, name and hints are the same.
    kinds = zip(
        map(around.wide.get, own),
        map(boxes.parents.__getitem__, own),
        map(boxes.tags.__getitem__, own),
        map(boxes.names.get, own),
        map(boxes.hints.get, own),
        strict=True,
    )
    rows = b"".join(map(around.__getitem__, kinds))
    width = len(_BOX)
    return {name: rows[number::width] for number, name in enumerate(_BOX)}


# The box itself if it holds several blocks; its parent, tag, name and hints.
_Kind = tuple[int | None, int, str, str | None, int | None]
# Hints, most repeats; nearest, least, greatest and summed score of class names.
_State = tuple[int, int, int, int, int, int]


class _Around(dict[_Kind, bytes]):
    """The rows of kinds of boxes: the features, in the order of their names, that boxes of a kind
    inherit, and those of three groups around them, each larger than the one before.
    """

    def __init__(self, layout: Layout, sums: Sums, lexicon: Lexicon, memory: Memory) -> None:
        super().__init__()
        boxes = self._boxes = layout.boxes
        self._sums = sums
        self._classes = lexicon.classes
        self._counts = list(map(sub, boxes.ends, boxes.starts))
        self.wide = {0: 0} | {box: box for box, count in enumerate(self._counts) if count > 1}
        siblings = Counter(zip(boxes.parents, boxes.tags, strict=True))
        self._repeats = {kind: count for kind, count in siblings.items() if count > 2}
        # Of boxes that others are in: the nearest box around with more blocks, depth, state.
        self._inherited: dict[int, tuple[int, int, _State]] = {
            0: (0, 0, (0, 0, _NEUTRAL, _NEUTRAL, _NEUTRAL, 0))
        }
        self._groups: dict[int, bytes] = {}
        self._tails = memory.memo(_tail)
        self._inherit()

    def _inherit(self) -> None:
        boxes, counts, inherited, changed = (
            self._boxes,
            self._counts,
            self._inherited,
            self._changed,
        )
        tags, parents, repeats = boxes.tags, boxes.parents, self._repeats
        for box in sorted(set(parents).union(self.wide)):
            if box > 0 and counts[box]:
                parent = parents[box]
                larger, depth, state = inherited[parent]
                if counts[parent] > counts[box]:
                    larger = parent
                if box in boxes.names or box in boxes.hints or (parent, tags[box]) in repeats:
                    state = changed(
                        state, parent, tags[box], boxes.names.get(box), boxes.hints.get(box)
                    )
                inherited[box] = larger, depth + 1, state

    def _changed(
        self, state: _State, parent: int, tag: str, name: str | None, hints: int | None
    ) -> _State:
        """Return the state of a box: its parent's, changed by what is its own."""
        found, most, near, least, greatest, summed = state
        repeats = self._repeats.get((parent, tag), 0)
        if name is not None and (value := self._classes[name]) != UNKNOWN:
            near = value >> 8
            least, greatest = min(least, value >> 4 & 15), max(greatest, value & 15)
            summed += near - _NEUTRAL
        elif repeats <= most and not hints:
            return state
        return (
            found | hints if hints else found,
            max(most, repeats), near, least, greatest, summed,
        )  # fmt: skip

    def __missing__(self, kind: _Kind) -> bytes:
        box, parent, tag, name, hints = kind
        inherited, groups = self._inherited, self._groups
        if box is None:
            larger, depth, state = inherited[parent]
            first = parent if self._counts[parent] > 1 else larger
            state = self._changed(state, parent, tag, name, hints)
            depth += 1
        else:
            first, (_, depth, state) = box, inherited[box]
        second = inherited[first][0]
        third = inherited[second][0]
        row = self[kind] = (
            self._tails[state]
            + (groups.get(first) or self._group(first))
            + (groups.get(second) or self._group(second))
            + (groups.get(third) or self._group(third))
            + _BYTES[depth if depth < BINS else BINS - 1]
            + _BYTES[_AT_MOST_7[self._repeats.get((parent, tag), 0).bit_length()]]
        )
        return row

    def _group(self, box: int) -> bytes:
        boxes = self._boxes
        start, end = boxes.starts[box], boxes.ends[box]
        sizes, linked, running = self._sums
        count = end - start
        size = sizes[end] - sizes[start] or 1
        held = running[end] - running[start]
        repeats = self._repeats.get((boxes.parents[box], boxes.tags[box]), 0)
        row = self._groups[box] = bytes(
            (
                (linked[end] - linked[start]) * 8 // size,
                held * 8 // size,
                _AT_MOST_10[count.bit_length()],
                size * 10 // sizes[-1],
                _AT_MOST_10[(size // (count or 1)).bit_length()],
                _AT_MOST_7[repeats.bit_length()],
                held * 10 // (running[-1] or 1),
            )
        )
        return row


def _tail(state: _State) -> bytes:
    found, most, near, least, greatest, summed = state
    return bytes(
        (
            *[1 if found & hint else 0 for hint in _HINTS],
            min(most.bit_length(), 8),
            near,
            least,
            greatest,
            max(0, min(15, _NEUTRAL + summed // 4)),
        )
    )
