"""Completes data tables of which most was chosen, and drops the others.

The model judges block by block, but a row without its number is wrong whatever a cell looks like.
"""

from __future__ import annotations

from itertools import accumulate

from messor.content.main.blocks import Layout

# A table with longer blocks on average lays out the page.
_MAX_MEAN = 80
_MOST = 0.5


def complete(layout: Layout, chosen: list[int]) -> list[int]:
    """Return the chosen blocks with each data table either whole or not at all."""
    parts = _parts(layout)
    if not parts:
        return chosen
    sizes = layout.blocks.sizes
    taken = [0] * len(sizes)
    for place in chosen:
        taken[place] = sizes[place]
    whole, kept = [0, *accumulate(sizes)], [0, *accumulate(taken)]
    for start, end in parts:
        held = kept[end] - kept[start]
        if held:
            is_most = held >= (whole[end] - whole[start]) * _MOST
            taken[start:end] = [1 if is_most else 0] * (end - start)
    return [place for place, value in enumerate(taken) if value]


def _parts(layout: Layout) -> list[tuple[int, int]]:
    """Return the block ranges of data tables."""
    boxes, sizes = layout.boxes, layout.blocks.sizes
    found: list[tuple[int, int]] = []
    for box, tag in enumerate(boxes.tags):
        if tag == "table":
            start, end = boxes.starts[box], boxes.ends[box]
            if end - start > 1 and sum(sizes[start:end]) <= _MAX_MEAN * (end - start):
                if found and start < found[-1][1]:
                    found.pop()  # a table around a table lays out the page
                found.append((start, end))
    return found
