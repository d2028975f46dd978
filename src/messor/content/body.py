"""The body of a page: its lines outside of navigation and footer, told once for all who ask."""

from __future__ import annotations

from messor.content.shown import VisibleLines
from messor.content.view import PageView

_AROUND = ("nav", "footer")


class BodyLines:
    """The lines, where each begins, as `VisibleLines.firsts` has it, and how many characters it has."""

    __slots__ = ("firsts", "sizes", "texts")

    def __init__(self, shown: VisibleLines) -> None:
        self.texts, self.firsts = shown.outside(_AROUND)
        self.sizes = list(map(len, self.texts))


def body_of(page: PageView) -> BodyLines:
    """The body of a page."""
    known = page.notes.get("body")
    if not isinstance(known, BodyLines):
        known = page.notes["body"] = BodyLines(page.shown)
    return known
