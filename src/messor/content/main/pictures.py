"""Pictures of main content: those with an alternative text that stand beside kept blocks.

Pages load pictures late: the address is then in another attribute, in a set of sources, or in the
element around it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from turbohtml import Element

from messor.content.main.blocks import Layout

_MAX_TEXT = 300
_MAX_PICTURES = 500
_LATE = ("data-src", "data-lazy-src", "data-original", "data-lazy")
_SETS = ("srcset", "data-srcset", "data-lazy-srcset")


class Picture(NamedTuple):
    """A picture before a block, in a box."""

    place: int
    box: int
    text: str
    address: str


def pictures(layout: Layout, kept: Sequence[int]) -> Iterator[Picture]:
    """Yield the pictures among the kept blocks, in page order.

    One stands among them if the block behind it is kept, or the one before it and any later one.
    """
    seen: set[str] = set()
    for place, box, element in layout.images:
        index = bisect_left(kept, place)
        if index == len(kept):
            return
        if kept[index] != place and (not index or kept[index - 1] != place - 1):
            continue
        text = " ".join((element.attr("alt") or "").split())[:_MAX_TEXT]
        address = _address(element) if text else ""
        if address and address not in seen and not _is_in_cell(layout, box):
            seen.add(address)
            yield Picture(place, box, text, address)
            if len(seen) >= _MAX_PICTURES:
                return


def _address(element: Element) -> str:
    """Return the address of a picture as written, empty without one."""
    stated = (element.attr("src") or "").strip()
    if stated and not stated.startswith("data:"):
        late = next((value for name in _LATE if (value := element.attr(name))), "")
        return late.strip() or stated
    for name in _LATE:
        if value := (element.attr(name) or "").strip():
            return value
    around = element.parent
    sources = [element]
    if isinstance(around, Element) and around.tag == "picture":
        sources += [each for each in around if isinstance(each, Element) and each.tag == "source"]
    sets = (each.attr(name) for each in sources for name in _SETS)
    return next((found for each in sets if each and (found := _first(each))), "")


def _first(stated: str) -> str:
    """Return the first address of a set of sources."""
    words = stated.split(None, 1)
    address = words[0].rstrip(",") if words else ""
    return "" if address.startswith("data:") else address


def _is_in_cell(layout: Layout, box: int) -> bool:
    """Whether a box is in a table, whose cells hold text alone."""
    tags, parents = layout.boxes.tags, layout.boxes.parents
    while box > 0:
        if tags[box] == "table":
            return True
        box = parents[box]
    return False
