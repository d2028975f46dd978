"""How deeply a page may nest, judged from its tags before it is parsed.

The parser keeps at most 512 elements open. At that limit it no longer opens what it goes on to
close, and reads beyond its own stack: the process ends. Tags are the parser's own, from its
tokenizer; how many elements they leave open is counted by `nesting`, never too few. Known pages
are looked at more cheaply: their tags are found wherever they stand, also in attributes, scripts
and comments, and only what seems deep is counted well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from messor.web.elements import VOID
from messor.web.open_elements import OpenElements

MAX_DEPTH = 480
# A tag opens two elements at most ("<td>" within "<table>" has a body and a row to open), so half
# of the limit needs no closer look.
_HARMLESS = MAX_DEPTH // 2

# A name runs until a space, a slash or the end of the tag (HTML standard, 13.2.5.8).
_tags = re.compile(r"<(/?[a-zA-Z][^\t\n\f\r />]*+)").findall


class _EndTags(dict[str, str | None]):
    """The end tag that each start tag as written waits for; None for what opens nothing."""

    def __missing__(self, tag: str) -> str | None:
        name = tag.lower()
        end = None if name[0] == "/" or name in VOID else f"/{name}"
        if len(self) < 4096 and len(tag) < 32:
            self[tag] = end
        return end


_end_tags = _EndTags()


def is_too_deep(html: str, *, known: bool = False) -> bool:
    """Whether more than MAX_DEPTH elements may be open at once.

    Of a page from a `known` site end tags are believed wherever they stand. Whoever hides the depth
    of a page behind end tags within attributes or comments is not found out then.
    """
    if html.count("<") <= _HARMLESS:
        return False
    if known and not _may_exceed(_tags(html), _HARMLESS):
        return False
    return OpenElements(MAX_DEPTH).is_exceeded_by(html)


def _may_exceed(tags: Iterable[str], limit: int) -> bool:
    """Whether more elements stay open when each is closed by its very own end tag alone."""
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
