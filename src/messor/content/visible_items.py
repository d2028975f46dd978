"""Cache of lines of list items, keyed by their serialised HTML.

Only items that are one line each, without a page region inside, are cached.
"""

from __future__ import annotations

from itertools import count, repeat
from typing import cast

from turbohtml import Element, Node

from messor.content.lists import MAX_ITEM, Lists
from messor.content.memory import Bounded

_REGIONS = ("<nav", "<footer", "<header", "<aside")
# Maximum lists cached per page; caching checks their surroundings.
_MAX_LISTS = 500


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
