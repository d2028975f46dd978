"""Judges a page's blocks with the learnt model: how likely each is content, and which to keep.

The model is additive: each pair of features has a table of 256 scores, and a block's score is the
sum over all pairs. Columns are bytes, so a pair of columns is combined by integer arithmetic on all
blocks at once and looked up by `bytes.translate`; the sums are kept in lanes of 16 bits of one long
integer. That needs no array library and takes a few microseconds per pair and page.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import exp
from sys import byteorder

from messor.content.main.features import Columns
from messor.content.main.tables import BIAS, PAIRS, STEP, Pair

_LANE = 2  # bytes; holds the sum of 256 tables


def likelihoods(
    columns: Columns, pairs: Sequence[Pair] = PAIRS, step: float = STEP, bias: float = BIAS
) -> list[float]:
    """Return how likely each block is content, from 0 to 1."""
    count = len(columns["kind"])
    numbers = {name: int.from_bytes(column) for name, column in columns.items()}
    lanes = bytearray(_LANE * count)
    total = 0
    for first, second, scores in pairs:
        # No value exceeds 4 bits, so nothing carries into the neighbouring block.
        combined = (numbers[first] << 4) + numbers[second]
        lanes[1::_LANE] = combined.to_bytes(count).translate(scores)
        total += int.from_bytes(lanes)
    sums = array("H", total.to_bytes(_LANE * count))
    if byteorder == "little":
        sums.byteswap()
    return [1 / (1 + exp(-bias - step * value)) for value in sums]


def choose(likely: Sequence[float], sizes: Sequence[int]) -> list[int]:
    """Return the blocks whose choice has the highest expected F1, in page order.

    Taking blocks by falling likelihood, precision falls and recall rises; the best cut depends on
    how much of the page is content at all.
    """
    order = sorted(range(len(likely)), key=likely.__getitem__, reverse=True)
    whole = sum(map(float.__mul__, likely, map(float, sizes)))
    found = taken = best = 0.0
    least = 1.0
    for place in order:
        found += likely[place] * sizes[place]
        taken += sizes[place]
        value = found / (taken + whole)
        if value > best:
            best, least = value, likely[place]
    return [place for place, value in enumerate(likely) if value >= least]
