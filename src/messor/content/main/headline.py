"""Finds a page's headline: the first heading that matches its title."""

from __future__ import annotations

import re

from messor.content.main import hints
from messor.content.main.blocks import Layout

HEADINGS = frozenset(("h1", "h2", "h3"))
_MAX_TITLE = 500
# Shorter headings ("News") are a prefix of too many titles.
_TELLING = 15
_MAX_DATELINE = 120
_DATELINE_REACH = 8
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_words = re.compile(r"\w+").findall


def plain(title: str) -> str:
    """Normalise a title to its words, for comparison."""
    text = title[:_MAX_TITLE].casefold()
    words = text.split()
    # Text of only letters, digits and spaces is split without a pattern.
    return " ".join(words if "".join(words).isalnum() else _words(text))


def is_title(heading: str, titles: tuple[str, ...]) -> bool:
    """Whether a heading equals a title, or a title is the heading plus a site name."""
    if len(heading) > _MAX_TITLE:
        return False
    # Most headings end in a word that no title contains; nothing more needs checking.
    last = heading.rpartition(" ")[2]
    if last.isascii() and last.isalnum():
        low = last.lower()
        for title in titles:
            if low in title:
                break
        else:
            return False
    text = plain(heading)
    return text in titles or (len(text) >= _TELLING and any(text in title for title in titles))


def find_headline(layout: Layout, titles: tuple[str, ...]) -> int | None:
    """Return the block index of the headline: one like a title, else the only h1.

    A heading that is a link usually leads to another page, so it comes last.
    """
    blocks = layout.blocks
    tops: list[int] = []
    linked: list[int] = []
    for place, kind in enumerate(blocks.kinds):
        if kind not in HEADINGS:
            continue
        if blocks.linked[place] * 2 >= blocks.sizes[place]:
            if kind != "h3" and is_title(blocks.texts[place], titles):
                linked.append(place)
        elif is_title(blocks.texts[place], titles):
            return place
        elif kind == "h1":
            tops.append(place)
    return tops[0] if len(tops) == 1 else next(iter(linked), None)


def has_dateline(layout: Layout, headline: int | None) -> bool:
    """Whether author or date closely follow the headline, as in articles."""
    if headline is None:
        return False
    blocks = layout.blocks
    near = slice(headline + 1, headline + 1 + _DATELINE_REACH)
    return any(
        len(text) <= _MAX_DATELINE
        and layout.boxes.hints.get(box, 0) & hints.BYLINE
        and _YEAR.search(text)
        for text, box in zip(blocks.texts[near], blocks.boxes[near], strict=True)
    )
