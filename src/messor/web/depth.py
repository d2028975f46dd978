"""Nesting depth of a page, determined from its tags before it is parsed.

The parser keeps at most 512 elements open. At that limit it no longer opens elements that it later
closes, and reads beyond its own stack: the process crashes. Tags come from the parser's own
tokenizer; `open_elements` counts how many elements they leave open, never too few. Pages of known
sites get a cheaper check: tags are matched anywhere, also in attributes, scripts and comments, and
only pages that seem deep are counted exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from messor.web.elements import VOID
from messor.web.open_elements import OpenElements

MAX_DEPTH = 480
# A tag opens at most two elements ("<td>" within "<table>" implies a body and a row), so up to half
# of the limit no exact count is needed.
_HARMLESS = MAX_DEPTH // 2

# A name runs until a space, a slash or the end of the tag (HTML standard, 13.2.5.8).
_tags = re.compile(r"<(/?[a-zA-Z][^\t\n\f\r />]*+)").findall


class _EndTags(dict[str, str | None]):
    """The end tag that closes each start tag as written; None for tags that open nothing."""

    def __missing__(self, tag: str) -> str | None:
        name = tag.lower()
        end = None if name[0] == "/" or name in VOID else f"/{name}"
        if len(self) < 4096 and len(tag) < 32:
            self[tag] = end
        return end


_end_tags = _EndTags()


def is_too_deep(html: str, *, known: bool = False) -> bool:
    """Whether more than MAX_DEPTH elements may be open at once.

    For a page of a `known` site end tags count wherever they appear. Depth hidden behind end tags
    within attributes or comments is then not detected.
    """
    if html.count("<") <= _HARMLESS:
        return False
    if known and not _may_exceed(_tags(html), _HARMLESS):
        return False
    return OpenElements(MAX_DEPTH).is_exceeded_by(html)


def _may_exceed(tags: Iterable[str], limit: int) -> bool:
    """Whether more elements stay open when each is closed only by its own end tag."""
    ends = _end_tags
    awaited = ""
    outer: list[str] = []
    for tag in tags:
        if tag == awaited:
            awaited = outer.pop()
        else:
            end = ends[tag]
            if end is not None:
                outer.append(awaited)
                awaited = end
                if len(outer) > limit:
                    return True
    return False
