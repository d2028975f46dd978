"""Serialised list items, used as keys: the same menus and cards recur on many pages of a
site.

Each list is serialised once per page; callers remember what they make of its items. `ItemLines`
does for the visible lines: only items that are one line each, without a page region inside.

Serialising a list costs more than everything else done with a list of known items. Most sources
equal the serialised tree, so a slice of the source can be used instead. This holds if the list
contains only plain items, each of which was found to be identical before, and no element left open
before the list continues in it. The latter would show in the first item: an open element is
reopened, or moved, at the first text or tag of the list.
"""

from __future__ import annotations

import re
from itertools import count, repeat
from typing import Final, cast

from turbohtml import Element, Node

from messor.content.memory import Bounded, Memory
from messor.content.spans import SourceText

TAGS = frozenset(("ul", "ol"))
# Longer items rarely recur.
MAX_ITEM = 600
# Maximum characters serialised per page: nested lists are serialised twice.
_MAX_WRITTEN = 200_000
# Serialising a list of fewer nodes is faster than finding it in the source.
_FEW: Final = 24
# rsplit() takes half the time of split().
_ITEM_END: Final = "</li>"
_LIST_ENDS = ("</ul>", "</ol>")

# Nothing whose parsing depends on its context, except elements left open.
_INLINE = "a|abbr|b|bdi|cite|code|em|i|ins|kbd|mark|q|s|small|span|strong|sub|sup|time|u|var"
_PLAIN_ITEM = re.compile(
    rf"\s*+<li(?:\s[^<>]*+)?>[^<>]*+"
    rf"(?:<(?:(?:{_INLINE}|br|img)(?:\s[^<>]*+)?|/(?:{_INLINE}))>[^<>]*+)*+"
)
_REGIONS = ("<nav", "<footer", "<header", "<aside")
# Maximum lists cached per page; caching checks their surroundings.
_MAX_LISTS = 500


class PlainItems(Bounded[str, str]):
    """Plain items whose source equals the serialised tree, interned: one string for all pages."""

    def learn(self, written: list[str]) -> None:
        """Remember the items of a list whose source equals the serialised tree."""
        for item in written:
            if len(item) <= MAX_ITEM and item not in self and _PLAIN_ITEM.fullmatch(item):
                self.keep(item, item)


class Lists:
    """The serialised lists of one page."""

    __slots__ = ("_alike", "_left", "_source", "_written", "memory")

    def __init__(self, source: SourceText | None = None, memory: Memory | None = None) -> None:
        """If a source is given, the tree must have been parsed from it and never modified."""
        self.memory = memory or Memory()
        self._alike = self.memory.part(PlainItems)
        self._source = source
        self._left = _MAX_WRITTEN
        self._written: dict[Element, list[str]] = {}

    def items(self, list_: Element) -> list[str]:
        """Return the items of a list, each with what precedes it and without its end tag; empty if
        unknown.

        Serialising and splitting the whole list is faster than serialising each item. It may be
        split in a wrong place if an item contains another list or a look-alike string: callers that
        cache items must check that their number equals that in the tree.
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
            known = self._known(list_, inside)
            if known:
                return known
        html = list_.html
        self._left -= len(html)
        start = html.find(">") + 1
        written = html[start:].rsplit(_ITEM_END)
        if written.pop().lstrip() not in _LIST_ENDS:
            return []
        if inside and html[start : -len(_LIST_ENDS[0])] == inside:
            self._alike.learn(written)
        return written

    def _known(self, list_: Element, inside: str) -> list[str]:
        """Return the items of a list from the source, if the tree is certain to equal them."""
        first = inside[: inside.find(_ITEM_END)]
        if first not in self._alike or not _begins_with(list_, first):
            return []
        written = inside.rsplit(_ITEM_END)
        if written.pop().strip():
            return []
        try:
            return list(map(self._alike.__getitem__, written))
        except KeyError:
            return []


def _begins_with(list_: Element, item: str) -> bool:
    """Whether a list starts with a non-empty plain item, in the tree as in the source."""
    start = item.find("<")
    if start and type(list_[0]) is Element:
        return False  # leading white space in the source only
    first = list_[1 if start else 0]
    return type(first) is Element and len(first) > 0 and first.html == item[start:] + _ITEM_END


class RememberedLines(Bounded[str, str]):
    """Lines of list items by their HTML."""

    def add(self, written: list[str], lines: list[str]) -> None:
        for html, line in zip(written, lines, strict=True):
            if len(html) <= MAX_ITEM and not any(map(html.__contains__, _REGIONS)):
                self.keep(html, line)


class KnownList:
    """A list whose items are all cached, not yet looked up in the tree."""

    __slots__ = ("_items", "element")

    def __init__(self, element: Element) -> None:
        self.element = element
        self._items: list[Element] | None = None

    def item(self, place: int) -> Element:
        if self._items is None:
            self._items = _items(self.element)
        return self._items[place]


# Where a line begins: at a text, or at an item, possibly given by its position in a list.
First = Node | tuple[KnownList, int]


class ItemLines:
    """The items of one page's lists, looked up before and cached after reading."""

    __slots__ = ("_lists", "_reading", "_remembered", "known")

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._remembered = lists.memory.part(RememberedLines)
        self._reading: list[tuple[list[Element], list[str], int]] = []
        self.known: dict[Element, str] = {}  # in partly known lists

    def recall(self, list_: Element, number: int) -> tuple[list[str], list[First]]:
        """Return the lines and items of a list whose items are all cached; empty for other lists.

        Otherwise note that they are being read from this line number on, and which need not be.
        """
        written = self._lists.items(list_)
        lines = list(map(self._remembered.get, written))
        if None not in lines:  # cached items were split in the right places
            places = zip(repeat(KnownList(list_), len(lines)), count())
            return cast("list[str]", lines), list(places)
        items = _items(list_)
        if len(items) != len(written) or any(item.tag != "li" for item in items):
            return [], []  # possibly split in a wrong place
        if len(self._reading) < _MAX_LISTS:
            self._reading.append((items, written, number))
        if any(lines):
            pairs = zip(items, lines, strict=True)
            self.known.update({item: line for item, line in pairs if line})
        return [], []

    def remember(self, texts: list[str], firsts: list[First]) -> None:
        """Cache the items, now that all lines of the page are known."""
        for items, written, start in self._reading:
            end = start + len(items)
            own = firsts[start:end]
            if (
                len(own) == len(items)
                and all(map(_is_within, own, items))
                and not (end < len(firsts) and _is_within(firsts[end], items[-1]))
            ):
                self._remembered.add(written, texts[start:end])


def _items(list_: Element) -> list[Element]:
    return [child for child in list_ if type(child) is Element]


def _is_within(first: First, item: Element) -> bool:
    node: Node | None = first[0].element if isinstance(first, tuple) else first
    while node is not None and node is not item:
        node = node.parent
    return node is item
