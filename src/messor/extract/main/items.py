"""Items of lists that were read before: the same menus and cards are on many pages of a site.

How an item is written says all about how it is read, as long as no mark around it goes on in it.
Only items that are one block without a box within are kept, and none of them is long.
"""

from __future__ import annotations

from turbohtml import Element

from messor.extract.main.blocks import MAX_BLOCKS, MAX_BOXES, Layout, Markup

# By how they are written: their cues, text, characters in links, and markup.
_KNOWN: dict[str, tuple[int, str, int, Markup | None]] = {}
_REMEMBERED = 2_048
_MAX_ITEM = 600
# So many characters of items are written out for a page: one within another is written twice.
_MAX_WRITTEN = 200_000


class Items:
    """The items of one page, looked up before they are read and kept after."""

    __slots__ = ("_layout", "_left", "reading")

    def __init__(self, layout: Layout, *, whole: bool) -> None:
        """For the page of a layout; one that is read whole is read anew, for it is read otherwise."""
        self._layout = layout
        self._left = 0 if whole else _MAX_WRITTEN
        self.reading: list[tuple[int, str]] = []  # places of boxes, the innermost last, as written

    def recall(self, item: Element, parent: int) -> bool:
        """Add an item as it was read before, if it was; else note that it is being read now."""
        boxes, blocks = self._layout.boxes, self._layout.blocks
        number, start = len(boxes.tags), len(blocks.texts)
        if self._left <= 0 or number + 1 >= MAX_BOXES or start + 1 >= MAX_BLOCKS:
            return False
        html = item.html
        self._left -= len(html)
        known = _KNOWN.get(html)
        if known is None:
            if len(html) <= _MAX_ITEM:
                self.reading.append((number, html))
            return False
        cues, text, linked, markup = known
        boxes.tags.append("li")
        boxes.parents.append(parent)
        boxes.starts.append(start)
        boxes.ends.append(start + 1)
        if cues:
            boxes.cues[number] = cues
        if markup is not None:
            blocks.markup[start] = markup
        blocks.kinds.append("li")
        blocks.boxes.append(number)
        blocks.texts.append(text)
        blocks.linked.append(linked)
        return True

    def remember(self) -> None:
        """Keep what the innermost item was read as, now that it is at its end."""
        box, html = self.reading.pop()
        boxes, blocks = self._layout.boxes, self._layout.blocks
        start = boxes.starts[box]
        if box + 1 != len(boxes.tags) or start + 1 != len(blocks.texts):
            return
        if len(_KNOWN) >= _REMEMBERED:
            _KNOWN.clear()
        cues, markup = boxes.cues.get(box, 0), blocks.markup.get(start)
        _KNOWN[html] = (cues, blocks.texts[start], blocks.linked[start], markup)
