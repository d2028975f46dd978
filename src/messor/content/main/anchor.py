"""Where on the page the body stands that structured data gives: a check on the box chosen.

The body itself is not taken for the text, because publishers shorten and flatten it; but blocks
that begin with its words show where the article is.
"""

from __future__ import annotations

import re
from itertools import accumulate

from messor.content.main.blocks import Layout

_SHINGLE = 4
_MIN_BLOCK = 40
_HEAD = 120
# Matched text that makes the body found on the page, as a share of the body.
_FOUND = 0.3
# The share of the matched text that the chosen box must hold, and that a better one does.
_HELD = 0.5
_BETTER = 0.9
_words = re.compile(r"\w+").findall


def follow_body(layout: Layout, root: int | None, body: str) -> int | None:
    """The box to read: the one chosen, unless the declared body plainly stands elsewhere."""
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
    """The sizes of the blocks that begin with words of the body, 0 for others."""
    words = _words(body.casefold())
    blocks = layout.blocks
    heads = [
        tuple(_words(text[:_HEAD].casefold())[:_SHINGLE]) if size >= _MIN_BLOCK else ()
        for size, text in zip(blocks.sizes, blocks.texts, strict=True)
    ]
    known = set(heads).intersection(zip(*(words[at:] for at in range(_SHINGLE)), strict=False))
    return [size if head in known else 0 for size, head in zip(blocks.sizes, heads, strict=True)]
