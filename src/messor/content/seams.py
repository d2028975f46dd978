"""Seams: where one element ends and another begins within a line of text.

A line joins the texts of inline elements, as people read them. A number lies within one text:
"model 1" in a link and "20.90" next to it are two numbers. So patterns get a line whose seams they
cannot cross where they should not; its characters keep their positions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SEAM = "\x1f"  # matches \s, but not the space within a number
WALL = "|"


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the text pieces of a line."""

    text: str
    link: object  # the link around it, None outside links


def fenced(text: str, pieces: Iterable[Piece]) -> str:
    """Return a line with SEAM for each space between two pieces, WALL for one between two digits."""
    return _marked(text, [place for place, _ in _seams(text, pieces)], soft=SEAM)


def walled(text: str, pieces: Iterable[Piece]) -> str:
    """Return a line with WALL for a space between two digits of which only one is in a link."""
    return _marked(text, [place for place, at_link in _seams(text, pieces) if at_link], soft=" ")


def _marked(text: str, places: list[int], soft: str) -> str:
    found = list(text)
    for place in places:
        digits = text[place - 1 : place].isdigit() and text[place + 1 : place + 2].isdigit()
        found[place] = WALL if digits else soft
    return "".join(found)


def _seams(text: str, pieces: Iterable[Piece]) -> list[tuple[int, bool]]:
    """Return the spaces of a line between two pieces, and whether a link ends or starts there.

    White space was collapsed, so positions are found by counting all other characters.
    """
    ends: dict[int, bool] = {}
    size = 0
    before: Piece | None = None
    for piece in pieces:
        if before is not None:
            ends[size] = piece.link is not before.link
        size += sum(map(len, piece.text.split()))
        before = piece
    found: list[tuple[int, bool]] = []
    passed = 0
    for place, character in enumerate(text):
        if character != " ":
            passed += 1
        elif passed in ends:
            found.append((place, ends[passed]))
    return found
