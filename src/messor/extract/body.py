"""The body of a page: its lines outside of navigation and footer, told once for all who ask."""

from __future__ import annotations

from messor.extract.shown import Shown
from messor.extract.view import PageView

_AROUND = ("nav", "footer")


class Body:
    """The lines, where each begins, as `Shown.firsts` has it, and how many characters it has."""

    __slots__ = ("firsts", "sizes", "texts")

    def __init__(self, shown: Shown) -> None:
        self.texts, self.firsts = shown.outside(_AROUND)
        self.sizes = list(map(len, self.texts))


def body_of(page: PageView) -> Body:
    """The body of a page."""
    known = page.notes.get("body")
    if not isinstance(known, Body):
        known = page.notes["body"] = Body(page.shown)
    return known
