"""Judges a page's blocks with the learnt model: how likely each is content, and which to keep.

The model is additive: each pair of features has a table of 256 scores, and a block's score is the
sum over all pairs. Columns are bytes, so a pair of columns is combined by integer arithmetic on all
blocks at once and looked up by `bytes.translate`. Scores of pairs that cannot exceed a byte together
are added as they are; only then are they widened to lanes of 16 bits. That needs no array library
and takes less than a microsecond per pair and page.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, repeat
from math import exp
from operator import add, mul, truediv
from sys import byteorder

from messor.content.main.features import Columns
from messor.content.main.tables import BIAS, PAIRS, STEP, Pair

_MOST = 255  # what fits a byte

Groups = tuple[tuple[Pair, ...], ...]


def grouped(pairs: Sequence[Pair]) -> Groups:
    """Return pairs in groups of which no sum of scores exceeds a byte."""
    groups: list[list[Pair]] = []
    free: list[int] = []
    for pair in sorted(pairs, key=lambda each: max(each.scores), reverse=True):
        highest = max(pair.scores)
        place = next((place for place, left in enumerate(free) if left >= highest), len(free))
        if place == len(free):
            free.append(_MOST)
            groups.append([])
        free[place] -= highest
        groups[place].append(pair)
    return tuple(map(tuple, groups))


_SHIPPED = grouped(PAIRS)


def likelihoods(
    columns: Columns, pairs: Sequence[Pair] = PAIRS, step: float = STEP, bias: float = BIAS
) -> list[float]:
    """Return how likely each block is content, from 0 to 1."""
    sums = _sums(columns, _SHIPPED if pairs is PAIRS else grouped(pairs))
    return [1 / (1 + exp(-bias - step * value)) for value in sums]


def _sums(columns: Columns, groups: Groups) -> array[int]:
    """Return each block's sum of scores."""
    count = len(columns["kind"])
    number = int.from_bytes
    low = {name: number(column, "little") for name, column in columns.items()}
    # No value exceeds 4 bits, so nothing carries into the neighbouring block.
    high = {name: value << 4 for name, value in low.items()}
    lanes = (count + 1) // 2
    mask = number(b"\xff\0" * lanes, "little")
    even = odd = 0
    for group in groups:
        total = 0
        for first, second, scores in group:
            combined = (high[first] + low[second]).to_bytes(count, "little")
            total += number(combined.translate(scores), "little")
        even += total & mask
        odd += (total >> 8) & mask
    sums = array("H", bytes(4 * lanes))
    sums[::2] = array("H", even.to_bytes(2 * lanes, "little"))
    sums[1::2] = array("H", odd.to_bytes(2 * lanes, "little"))
    if byteorder == "big":
        sums.byteswap()
    return sums[:count]


def choose(likely: Sequence[float], sizes: Sequence[int]) -> list[int]:
    """Return the blocks whose choice has the highest expected F1, in page order.

    Taking blocks by falling likelihood, precision falls and recall rises; the best cut depends on
    how much of the page is content at all.
    """
    weighed = list(map(mul, likely, sizes))
    whole = sum(weighed)
    if not whole:
        return []
    order = sorted(range(len(likely)), key=likely.__getitem__, reverse=True)
    found = accumulate(map(weighed.__getitem__, order))
    taken = accumulate(map(sizes.__getitem__, order))
    values = list(map(truediv, found, map(add, taken, repeat(whole))))
    least = likely[order[values.index(max(values))]]
    return [place for place, value in enumerate(likely) if value >= least]
