"""Cache of list items read before, keyed by their serialised HTML.

The HTML determines how an item is read, as long as no mark around it continues inside. Only lists
are cached in which each item is one block without inner boxes, and only short items.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, groupby
from operator import not_

from turbohtml import Element

from messor.content.lists import MAX_ITEM, Lists
from messor.content.main.blocks import MAX_BLOCKS, MAX_BOXES, Layout, Markup
from messor.content.memory import Bounded

# Hints, class list, text, characters in links, and markup of an item.
_Item = tuple[int, str, str, int, Markup | None]


class RememberedItems(Bounded[str, _Item]):
    """Items by their HTML."""


class Items:
    """The items of one page, looked up before and cached after reading."""

    __slots__ = ("_known", "_layout", "_lists", "_runs", "reading")

    def __init__(self, layout: Layout, lists: Lists | None) -> None:
        """Without `lists`, all items are read anew."""
        self._layout = layout
        self._lists = lists
        self._known = RememberedItems() if lists is None else lists.memory.part(RememberedItems)
        # Runs of known items by their first element, with their number of nodes.
        self._runs: dict[Element, tuple[Sequence[_Item | None], int]] = {}
        self.reading: list[tuple[int, list[str]]] = []  # boxes of lists, innermost last; items

    def recall_list(self, list_: Element, box: int) -> bool:
        """Add all items of a list from the cache, if all are known.

        Otherwise note that they are being read now, and which need not be.
        """
        written = self._lists.items(list_) if self._lists is not None else []
        if not written:
            return False
        known = list(map(self._known.get, written))
        if None not in known and self._add(known, box):
            return True
        self.reading.append((box, written))
        if any(known):
            self._find_runs(list_, known)
        return False

    def _find_runs(self, list_: Element, known: Sequence[_Item | None]) -> None:
        items = [(place, child) for place, child in enumerate(list_) if isinstance(child, Element)]
        if len(items) != len(known) or any(child.tag != "li" for _, child in items):
            return  # possibly split in a wrong place
        start = 0
        for is_new, group in groupby(known, not_):
            run = list(group)
            end = start + len(run)
            if not is_new:
                place, first = items[start]
                self._runs[first] = run, items[end - 1][0] - place + 1
            start = end

    def recall(self, item: Element, parent: int) -> int:
        """Add an item and its successors from the cache; return their number of nodes.

        Returns 0 if the item is unknown.
        """
        run = self._runs.get(item)
        return run[1] if run is not None and self._add(run[0], parent) else 0

    def _add(self, items: Sequence[_Item | None], parent: int) -> bool:
        """Add items in sequence, each a box with a block, if there is room."""
        boxes, blocks = self._layout.boxes, self._layout.blocks
        number, start, count = len(boxes.tags), len(blocks.texts), len(items)
        if not count or number + count >= MAX_BOXES or start + count >= MAX_BLOCKS:
            return False
        hints, names, texts, linked, markup = zip(*items, strict=True)
        boxes.tags += ["li"] * count
        boxes.parents += [parent] * count
        boxes.starts += range(start, start + count)
        boxes.ends += range(start + 1, start + count + 1)
        if any(hints):
            boxes.hints.update(compress(enumerate(hints, number), hints))
        if any(names):
            boxes.names.update(compress(enumerate(names, number), names))
        blocks.kinds += ["li"] * count
        blocks.boxes += range(number, number + count)
        blocks.texts += texts
        blocks.linked += linked
        blocks.markup.update(compress(enumerate(markup, start), markup))
        return True

    def remember(self) -> None:
        """Cache the items of the innermost list, now that it has ended."""
        box, written = self.reading.pop()
        boxes, blocks = self._layout.boxes, self._layout.blocks
        first, start, count = box + 1, boxes.starts[box], len(written)
        if (images := self._layout.images) and images[-1][0] >= start and images[-1][1] >= box:
            return  # the cache holds no pictures
        if not (
            len(boxes.tags) - first == len(blocks.texts) - start == count
            and boxes.tags[first:] == ["li"] * count
            and boxes.parents[first:] == [box] * count
            and blocks.boxes[start:] == list(range(first, first + count))
        ):
            return
        for place, html in enumerate(written):
            if len(html) <= MAX_ITEM and html not in self._known:
                number = start + place
                item = (
                    boxes.hints.get(first + place, 0),
                    boxes.names.get(first + place, ""),
                    blocks.texts[number],
                    blocks.linked[number],
                    blocks.markup.get(number),
                )
                self._known.keep(html, item)
