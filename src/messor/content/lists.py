"""How the items of a page's lists are written: the same menus and cards are on many pages of a site.

What an item is read as can thus be looked up by how it is written. Each list is written out once for
all who ask; what they make of its items is left to them.

To write out a list takes longer than all else that is done with one whose items are known. Most
sources are written just as the tree is written out, so that a part of the source will do. This is
so where nothing but plain items stands in it, each of which was found to be written alike before,
and nothing that was left open before the list goes on in it. The latter would show in the first
item: whatever is left open begins anew, or is moved, with the first text or mark of the list.
"""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Element

from messor.content.spans import SourceText

TAGS = frozenset(("ul", "ol"))
# An item that is longer is seldom met again.
MAX_ITEM = 600
# So many characters of lists are written out for a page: one within another is written twice.
_MAX_WRITTEN = 200_000
# To write out a list of fewer nodes takes less time than to find it in the source.
_FEW: Final = 24
# Cut at them from the end, which takes half the time of cutting from the start.
_ITEM_END: Final = "</li>"
_LIST_ENDS = ("</ul>", "</ol>")

# Nothing that a parser treats by what is around it, but for marks that were left open.
_INLINE = "a|abbr|b|bdi|cite|code|em|i|ins|kbd|mark|q|s|small|span|strong|sub|sup|time|u|var"
_PLAIN_ITEM = re.compile(
    rf"\s*+<li(?:\s[^<>]*+)?>[^<>]*+"
    rf"(?:<(?:(?:{_INLINE}|br|img)(?:\s[^<>]*+)?|/(?:{_INLINE}))>[^<>]*+)*+"
)
# Plain items that were written in a source as in its tree, by themselves: one string for all pages.
_ALIKE: dict[str, str] = {}
_REMEMBERED = 16_384


class Lists:
    """The lists of one page."""

    __slots__ = ("_left", "_source", "_written")

    def __init__(self, source: SourceText | None = None) -> None:
        """For a page; its tree was made of the source, if that is given, and never changed."""
        self._source = source
        self._left = _MAX_WRITTEN
        self._written: dict[Element, list[str]] = {}

    def items(self, list_: Element) -> list[str]:
        """The items of a list, with what is before each and without its end; none if not known.

        To write and to cut the whole takes less time than to write each. It may be cut in a wrong
        place, because an item holds another list, or a sign that looks like it: whoever keeps what
        an item was read as makes sure that there are as many of them as of those in the tree.
        """
        written = self._written.get(list_)
        if written is None:
            written = self._written[list_] = self._cut(list_)
        return written

    def _cut(self, list_: Element) -> list[str]:
        if self._left <= 0:
            return []
        inside = ""
        if self._source is not None and len(list_) >= _FEW:
            inside = self._source.inside(list_)
            self._left -= len(inside)
            known = _known(list_, inside)
            if known:
                return known
        html = list_.html
        self._left -= len(html)
        start = html.find(">") + 1
        written = html[start:].rsplit(_ITEM_END)
        if written.pop().lstrip() not in _LIST_ENDS:
            return []
        if inside and html[start : -len(_LIST_ENDS[0])] == inside:
            _learn(written)
        return written


def _known(list_: Element, inside: str) -> list[str]:
    """The items of a list as they stand in the source, if the tree is sure to have them so."""
    if not _begins_with(list_, inside[: inside.find(_ITEM_END)]):
        return []
    written = inside.rsplit(_ITEM_END)
    if written.pop().strip():
        return []
    try:
        return list(map(_ALIKE.__getitem__, written))
    except KeyError:
        return []


def _begins_with(list_: Element, item: str) -> bool:
    """Whether a list begins with a plain item that is not empty, in the tree as in the source."""
    if item not in _ALIKE:
        return False
    start = item.find("<")
    if start and type(list_[0]) is Element:
        return False  # where nothing but space is written
    first = list_[1 if start else 0]
    return type(first) is Element and len(first) > 0 and first.html == item[start:] + _ITEM_END


def _learn(written: list[str]) -> None:
    """Keep the items of a list that is written in the source as in the tree."""
    for item in written:
        if len(item) <= MAX_ITEM and item not in _ALIKE and _PLAIN_ITEM.fullmatch(item):
            if len(_ALIKE) >= _REMEMBERED:
                _ALIKE.clear()
            _ALIKE[item] = item
