"""How the items of a page's lists are written: the same menus and cards are on many pages of a site.

What an item is read as can thus be looked up by how it is written. Each list is written out once for
all who ask; what they make of its items is left to them.
"""

from __future__ import annotations

from turbohtml import Element

TAGS = frozenset(("ul", "ol"))
# An item that is longer is seldom met again.
MAX_ITEM = 600
# So many characters of lists are written out for a page: one within another is written twice.
_MAX_WRITTEN = 200_000
_ITEM_END = "</li>"
_LIST_ENDS = ("</ul>", "</ol>")


class Lists:
    """The lists of one page."""

    __slots__ = ("_left", "_written")

    def __init__(self) -> None:
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
        html = list_.html
        self._left -= len(html)
        written = html[html.find(">") + 1 :].split(_ITEM_END)
        return written if written.pop().lstrip() in _LIST_ENDS else []
