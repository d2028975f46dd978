"""Lines of list items that were read before, looked up by how the items are written.

Only items are kept that are one line each, with no region of the page within.
"""

from __future__ import annotations

from collections.abc import Sequence

from turbohtml import Element, Node

from messor.extract.lists import MAX_ITEM, Lists

_KNOWN: dict[str, str] = {}
_REMEMBERED = 16_384
_REGIONS = ("<nav", "<footer", "<header", "<aside")
# Lists of a page that are kept; to do so takes a look at what is around them.
_MOST_LISTS = 500


class ItemLines:
    """The items of one page's lists, looked up before they are read and kept after."""

    __slots__ = ("_lists", "_reading", "known")

    def __init__(self, lists: Lists) -> None:
        self._lists = lists
        self._reading: list[tuple[list[Element], list[str], int]] = []
        self.known: dict[Element, str] = {}  # in lists that are new in part

    def recall(self, list_: Element, number: int) -> tuple[Sequence[str], list[Element]]:
        """The lines of a list whose items are all known, and the items; nothing of other lists.

        Else it is noted that they are read now, the first line having this number, and which of
        them need not be.
        """
        written = self._lists.items(list_)
        items = [child for child in list_ if type(child) is Element] if written else []
        if not items or len(items) != len(written):
            return (), []
        lines = [_KNOWN.get(each, "") for each in written]
        if all(lines):
            return lines, items
        if len(self._reading) < _MOST_LISTS:
            self._reading.append((items, written, number))
        if any(lines):
            pairs = zip(items, lines, strict=True)
            self.known.update({item: line for item, line in pairs if line})
        return (), []

    def remember(self, texts: list[str], firsts: list[Node]) -> None:
        """Keep what the items were read as, now that all lines of the page are known."""
        for items, written, start in self._reading:
            end = start + len(items)
            own = firsts[start:end]
            if (
                len(own) == len(items)
                and all(map(_is_within, own, items))
                and not (end < len(firsts) and _is_within(firsts[end], items[-1]))
                and all(item.tag == "li" for item in items)
            ):
                _keep(written, texts[start:end])


def _keep(written: list[str], lines: list[str]) -> None:
    for html, line in zip(written, lines, strict=True):
        if len(html) <= MAX_ITEM and not any(map(html.__contains__, _REGIONS)):
            if len(_KNOWN) >= _REMEMBERED:
                _KNOWN.clear()
            _KNOWN[html] = line


def _is_within(node: Node | None, item: Element) -> bool:
    while node is not None and node is not item:
        node = node.parent
    return node is item
