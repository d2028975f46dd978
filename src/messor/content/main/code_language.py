"""The language of a block of code, as the class names of common highlighters state it."""

from __future__ import annotations

import re

from messor.content.main.blocks import Boxes, Markup

_OUTWARD = 3  # boxes around the code that may name its language
_NAMED = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|brush:\s?|highlight-source-|highlight-|(?:sourceCode|hljs|codehilite)\s+(?:language-)?)"
    r"([A-Za-z][\w+#-]{0,20})"
)
_NONE = frozenset(
    ("default", "none", "plain", "plaintext", "text", "txt", "output", "wrapper", "code", "copy")
)


def language_of(boxes: Boxes, box: int, markup: Markup | None) -> str:
    """Return the language that the code in a box is written in, empty if no name says so."""
    inside = [value for _, _, mark, value in markup[1] if mark == "code"] if markup else []
    for names in (*inside, *_around(boxes, box)):
        found = _NAMED.search(names)
        if found is not None and found[1].lower() not in _NONE:
            return found[1].lower()
    return ""


def _around(boxes: Boxes, box: int) -> list[str]:
    found = []
    for _ in range(_OUTWARD):
        if box <= 0:
            break
        found.append(boxes.names.get(box, ""))
        box = boxes.parents[box]
    return found
