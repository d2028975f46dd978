"""Nesting depth of a page, determined from its tags before it is parsed.

The parser keeps at most 512 elements open. At that limit it no longer opens elements that it later
closes, and reads beyond its own stack: the process crashes. Tags come from the parser's own
tokenizer; `open_elements` counts how many elements they leave open, never too few. Pages of known
sites get a cheaper check: tags are matched anywhere, also in attributes, scripts and comments, and
only pages that seem deep are counted exactly. Either way one pass counts all start tags, which is
enough for most short pages, and only the first part of a page is counted exactly when the rest has too
few start tags to reach the limit, whatever it closes.
"""

from __future__ import annotations

import re
from itertools import islice

from messor.web.elements import VOID
from messor.web.open_elements import OpenElements

MAX_DEPTH = 480
_STRETCH = 4_096  # characters
# What the elements open before the rest of a page may take of the limit: more where tags are matched
# in scripts as well, and stay open.
_ROOM, _ROOM_KNOWN = 1 / 8, 1 / 4
# Start tags beyond the limit up to which as many elements that hold only text are sought, or the
# first part from the start of the page, and how many elements may be open behind it.
_FEW, _FEW_OPEN = 96, 24
_SHORT = 80_000  # characters; longer pages nearly always have more start tags than that

# A name runs until a space, a slash or the end of the tag (HTML standard, 13.2.5.8).
_tags = re.compile(r"<(/?[a-zA-Z][^\t\n\f\r />]*+)").findall
# Everything but end tags; the group matches in start tags of tables and templates.
_starts_and_tables = re.compile("<(?:[^/tT]|[tT]([aA][bB]|[eE][mM])?)")
# An element that is closed by the tag after its start tag, wherever it stands: what is a start tag to
# the parser is read as here, and there is no other within. Not of these: what is read as raw text,
# and what its own end tag may leave open (tables imply parts, SVG and MathML hold HTML in some).
_closed_at_once = re.compile(
    "<(a|abbr|b|button|cite|code|dd|del|div|dt|em|h[1-6]|i|ins|label|li|p|path|s|small|span|strong"
    r"|sub|sup|td|th|time|u)(?: [a-z-]++=\"[^\"]*+\")*+>[^<]*+</\1>"
).finditer
# End tags, and start tags of tables and templates: these imply two elements, a body and a row.
_ends_and_tables = re.compile("<(?:/|[tT](?:[aA][bB][lL]|[eE][mM][pP]))").findall


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
    return may_exceed(html, MAX_DEPTH, known=known)


def may_exceed(html: str, limit: int, *, known: bool = False) -> bool:
    """Whether more elements than the limit may be open at once."""
    if len(html) <= _SHORT and _is_harmless(html, limit):
        return False
    start, most = _harmless_rest(html, limit, int(limit * (_ROOM_KNOWN if known else _ROOM)))
    if start == 0 or (known and not _seems_to_exceed(html, limit, start, most)):
        return False
    elements = OpenElements(limit)
    if not elements.is_exceeded_by(html[:start]) and elements.depth + most <= limit:
        return False
    return OpenElements(limit).is_exceeded_by(html)


def _is_harmless(html: str, limit: int) -> bool:
    """Whether the page has too few start tags, or will have after its first ones."""
    starts = _starts_and_tables.findall(html)
    excess = _most_of(starts) - limit
    return excess <= 0 or (
        excess <= _FEW
        and (_closes_at_once(html, excess) or _is_harmless_soon(html, limit, starts, excess))
    )


def _most_of(starts: list[str]) -> int:
    """How many elements these start tags open at most: tables and templates imply two more."""
    return 3 * len(starts) - 2 * starts.count("")


def _closes_at_once(html: str, excess: int) -> bool:
    """Whether more elements than these are closed before the next one opens.

    One more: it is open itself for a while. They are sought in the second half, behind the head of
    the page, which has few.
    """
    found = _closed_at_once(html, len(html) // 2)
    return next(islice(found, excess, None), None) is not None


def _is_harmless_soon(html: str, limit: int, starts: list[str], excess: int) -> bool:
    """Whether the page cannot reach the limit any more after its first tags, which are counted."""
    few = excess + _FEW_OPEN
    rest = next(islice(_starts_and_tables.finditer(html), few, None), None)
    elements = OpenElements(limit)
    if rest is None or elements.is_exceeded_by(html[: rest.start()]):
        return False
    return elements.depth + _most_of(starts[few:]) <= limit


def _harmless_rest(html: str, limit: int, room: int) -> tuple[int, int]:
    """Where the longest rest of the page starts that leaves room below the limit, and how many
    elements it opens at most.
    """
    most, start = 0, len(html)
    while start:
        earlier = max(html.rfind("<", 0, max(start - _STRETCH, 0) + 1), 0)
        opened = most + _most_opened(html, earlier, start)
        if opened > limit - (room if earlier else 0):
            break
        most, start = opened, earlier
    return start, most


def _most_opened(html: str, start: int, end: int) -> int:
    """How many elements the tags between two places open at most."""
    found = _ends_and_tables(html, start, end)
    ends = found.count("</")
    return html.count("<", start, end) - ends + 2 * (len(found) - ends)


def _seems_to_exceed(html: str, limit: int, rest: int, most: int) -> bool:
    """The same, with each element closed only by its own end tag."""
    ends = _end_tags
    awaited = ""
    outer: list[str] = []
    # A tag opens at most two elements ("<td>" within "<table>" implies a body and a row).
    harmless = limit // 2
    for start, end in ((0, rest), (rest, len(html))):
        for tag in _tags(html, start, end):
            if tag == awaited:
                awaited = outer.pop()
            else:
                closing = ends[tag]
                if closing is not None:
                    outer.append(awaited)
                    awaited = closing
                    if len(outer) > harmless:
                        return True
        implied = 2 * sum(name in ("/table", "/template") for name in (*outer, awaited))
        if len(outer) + implied + most <= limit:
            return False
    return False
