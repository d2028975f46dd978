"""Where on the page the body stands that structured data gives: a check on the box chosen.

The body itself is not taken for the text, because publishers shorten and flatten it; but blocks
that begin with its words show where the article is.
"""

from __future__ import annotations

import re
from itertools import accumulate

from messor.extract.main.blocks import Layout

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
    words = _words(body.casefold())
    known = {tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)}
    matched = [
        len(block.text)
        if len(block.text) >= _MIN_BLOCK
        and tuple(_words(block.text[:_HEAD].casefold())[:_SHINGLE]) in known
        else 0
        for block in layout.blocks
    ]
    sums = [0, *accumulate(matched)]
    if not known or sums[-1] < len(body) * _FOUND:
        return root
    if root is not None:
        box = layout.boxes[root]
        if sums[box.end] - sums[box.start] >= sums[-1] * _HELD:
            return root
    holding = (
        place
        for place, box in enumerate(layout.boxes)
        if sums[box.end] - sums[box.start] >= sums[-1] * _BETTER
    )
    return max(holding, default=root)
