"""How deeply a page may nest, judged from its tags before it is parsed.

The parser keeps at most 512 elements open. At that limit it no longer opens what it goes on to
close, and reads beyond its own stack: the process ends. A page that comes near the limit is
therefore refused. Tags are counted wherever they stand, also in scripts and comments. A page made
for it can hide its depth, behind end tags in comments or of elements it never opened; this keeps
out what is merely broken, and whoever reads pages must survive the rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from messor.web.elements import (
    BLOCKS,
    CELLS,
    FOREIGN,
    FORMATTING,
    MARKERS,
    SCOPES,
    SECTIONS,
    SPECIAL,
    VOID,
)

MAX_DEPTH = 480
# A tag opens two elements at most ("<td>" within "<table>" has a body and a row to open), so half
# of the limit needs no closer look.
_HARMLESS = MAX_DEPTH // 2
_STRETCH = 8_192

# Up to so many characters a look at the brackets alone takes less time. Larger pages have so many
# elements that are never closed, such as pictures, that most of them need the closer look anyway.
_SMALL = 100_000

_ends = re.compile("</").findall  # takes less time than to count them, where there are many
_tags = re.compile(r"<([/a-zA-Z][a-zA-Z0-9]*+)").findall  # of an end tag without a name: "/"
_TABLE_SCOPE = frozenset(("table", "template"))
_ITEM_SCOPE = SPECIAL - {"address", "div", "p"}
_TABLE_PARTS = frozenset((*CELLS, *SECTIONS, "tr"))
_PARAGRAPH_SCOPE = SCOPES | {"button"}


class _EndTags(dict[str, str | None]):
    """The end tag that each start tag as written waits for; None for what opens nothing."""

    def __missing__(self, tag: str) -> str | None:
        name = tag.lower()
        end = None if name[0] == "/" or name in VOID else f"/{name}"
        if len(self) < 4096 and len(tag) < 32:
            self[tag] = end
        return end


_end_tags = _EndTags()


def is_too_deep(html: str) -> bool:
    """Whether more than MAX_DEPTH elements may be open at once."""
    if len(html) <= _SMALL and not _may_nest(html):
        return False
    tags = _tags(html)
    return _may_exceed(tags, _HARMLESS) and _exceeds(tags, MAX_DEPTH)


def _may_nest(html: str) -> bool:
    """Whether, counting nothing but brackets, as many tags may be open as need a closer look.

    In each stretch all that opens may come before all that closes. An end tag that lies across
    two stretches is taken for a start tag, which errs on the safe side. End tags are looked for
    only where too many brackets gathered without them: finding them takes most of the time.
    """
    unclosed = counted = 0  # how many tags may be open, with end tags counted up to here
    for start in range(0, len(html), _STRETCH):
        brackets = html.count("<", start, start + _STRETCH)
        if unclosed + brackets > _HARMLESS:
            unclosed -= 2 * len(_ends(html, counted, start))
            counted = start
            if unclosed + brackets > _HARMLESS:
                ends = len(_ends(html, start, start + _STRETCH))
                if unclosed + brackets - ends > _HARMLESS:
                    return True
                unclosed -= 2 * ends
                counted = start + _STRETCH
        unclosed += brackets
    return False


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


def _exceeds(tags: Collection[str], limit: int) -> bool:
    """The same with elements closed as the parser closes them, unless that takes too long."""
    nest = _Nest(steps=4 * len(tags) + 65_536)
    for tag in tags:
        name = tag.lower()
        if name[0] == "/":
            nest.close(name[1:])
        elif name not in VOID:
            nest.open(name)
        if nest.depth > limit or nest.steps < 0:
            return True
    return False


class _Nest:
    """The elements that are open, never fewer than the parser has."""

    def __init__(self, steps: int) -> None:
        self.depth = 0
        self.steps = steps  # how many more elements may be looked at
        self._open: list[str] = []
        self._foreign = 0
        self._tables = 0

    def open(self, name: str) -> None:
        if not self._foreign:
            if name in _TABLE_PARTS and not self._tables:
                return  # outside of a table they mean nothing
            for closed, scope in _CLOSED_BY.get(name, ()):
                self._close(closed, scope)
            if name == "a":
                self._drop_anchor()
        self._open.append(name)
        self._count(name, 1)

    def close(self, name: str) -> None:
        if self._foreign:
            self._close(name, None)
        elif name == "table" or name in _TABLE_PARTS:
            self._close(name, _TABLE_SCOPE)
        else:
            self._close(name, SCOPES if name in SPECIAL else SPECIAL)

    def _close(self, name: str, scope: Collection[str] | None) -> None:
        """Close the nearest one, and all within it, unless the scope (None: anything) ends first."""
        for at in range(len(self._open) - 1, -1, -1):
            self.steps -= 1
            if self._open[at] == name:
                self._cut(at)
                return
            if scope is None or self._open[at] in scope:
                return

    def _cut(self, at: int) -> None:
        """Close from here on, but for formatting, which lives on in what follows."""
        name, *within = self._open[at:]
        self.steps -= len(within)
        kept = [] if name in MARKERS else [one for one in within if one in FORMATTING]
        self._open[at:] = kept
        for closed in (name, *within):
            self._count(closed, -1)
        self.depth += len(kept)

    def _drop_anchor(self) -> None:
        """A link ends the one before it, also one that lives on from the paragraph before."""
        if self._open[-1:] == ["p"] and self._open[-2:-1] == ["a"]:
            del self._open[-2]
            self.depth -= 1

    def _count(self, name: str, sign: int) -> None:
        self.depth += 3 * sign if name == "table" else sign  # a body and a row come unasked
        if name in FOREIGN:
            self._foreign += sign
        elif name in _TABLE_SCOPE:
            self._tables += sign


def _closings(
    names: Iterable[str], scope: Collection[str]
) -> tuple[tuple[str, Collection[str]], ...]:
    return tuple((name, scope) for name in names)


# What a start tag closes first, and the scope within which it is looked for.
_CLOSED_BY: dict[str, tuple[tuple[str, Collection[str]], ...]] = {
    **dict.fromkeys(BLOCKS, _closings(("p",), _PARAGRAPH_SCOPE)),
    "li": (*_closings(("li",), _ITEM_SCOPE), *_closings(("p",), _PARAGRAPH_SCOPE)),
    **dict.fromkeys(
        ("dd", "dt"),
        (*_closings(("dd", "dt"), _ITEM_SCOPE), *_closings(("p",), _PARAGRAPH_SCOPE)),
    ),
    **dict.fromkeys(CELLS, _closings(CELLS, _TABLE_SCOPE)),
    "tr": _closings((*CELLS, "tr"), _TABLE_SCOPE),
    **dict.fromkeys(SECTIONS, _closings((*CELLS, "tr", *SECTIONS), _TABLE_SCOPE)),
    "option": _closings(("option",), SPECIAL),
    "button": _closings(("button",), SCOPES),
    "a": _closings(("a",), SPECIAL),
}
