"""Locates the article body from structured data on the page, as a check on the chosen box.

The declared body is not used as text, because publishers shorten and flatten it; but blocks that
start with its words show where the article is.
"""

from __future__ import annotations

import re
from itertools import accumulate

from messor.content.main.blocks import Layout

_SHINGLE = 4
_MIN_BLOCK = 40
_HEAD = 120
# Share of the declared body that must match for it to count as found.
_FOUND = 0.3
# Share of the matched text that the chosen box must hold, and that a better one holds.
_HELD = 0.5
_BETTER = 0.9
_words = re.compile(r"\w+").findall


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
