"""The body of a page: its lines outside navigation and footer, computed once per page."""

from __future__ import annotations

from messor.content.view import PageView
from messor.content.visible_lines import VisibleLines

_AROUND = ("nav", "footer")


class BodyLines:
    """The lines, where each begins (as in `VisibleLines.firsts`), and their lengths in characters."""

    __slots__ = ("firsts", "sizes", "texts")

    def __init__(self, visible: VisibleLines) -> None:
        self.texts, self.firsts = visible.outside(_AROUND)
        self.sizes = list(map(len, self.texts))


def body_of(page: PageView) -> BodyLines:
    """Return the body lines of a page."""
    return page.once(_read)


def _read(page: PageView) -> BodyLines:
    return BodyLines(page.visible_lines)
