"""Highlights: the places of a text that answer a question, in the text's own letters.

PostgreSQL marks words in the folded text; here the marks are carried back to the original, so
that "café" is shown as it is written though "cafe" was asked for.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

START, STOP = "\x02", "\x03"
AROUND = 80  # characters before the first mark of a fragment
LENGTH = 240  # of a fragment
FRAGMENTS = 2

_SINGLE = str.maketrans(
    {
        **dict(zip("łŁøØđĐħĦıŧŦðÐ", "lLoOdDhHitTdD", strict=True)),
        "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE",
    }
)  # fmt: skip
_MARKS = re.compile("[\u0300-\u036f]")
_SPACE = re.compile(r"\s+")
_EDGE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a text, and which parts of it answer the question."""

    text: str
    marks: tuple[tuple[int, int], ...]

    def shown(self, start: str, stop: str) -> str:
        """The piece with its marks written out; escaping is for whoever shows it."""
        pieces, last = [], 0
        for begin, end in self.marks:
            pieces += [self.text[last:begin], start, self.text[begin:end], stop]
            last = end
        return "".join(pieces) + self.text[last:]


def fold(text: str) -> str:
    """As `messor.fold` does it."""
    if text.isascii():
        return text
    return _MARKS.sub("", unicodedata.normalize("NFKD", text)).translate(_SINGLE)


def fragments(original: str, marked: str) -> list[Fragment]:
    """The best pieces of a text, given its folded form with marks.

    A text that does not fold to what was marked is shown in its folded form.
    """
    plain, spans = _spans(marked)
    text = original if fold(original) == plain else plain
    places = _carried(text, spans) if text is original else spans
    pieces: list[Fragment] = []
    used = 0
    for begin, _ in places:
        if begin < used or len(pieces) == FRAGMENTS:
            continue
        low, high = _window(text, begin, used)
        inside = [(b, e) for b, e in places if b >= low and e <= high]
        pieces.append(_tidy(text[low:high], [(b - low, e - low) for b, e in inside]))
        used = high
    return pieces or ([_tidy(text[:LENGTH], [])] if text.strip() else [])


def _spans(marked: str) -> tuple[str, list[tuple[int, int]]]:
    plain: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    for number, piece in enumerate(re.split(f"[{START}{STOP}]", marked)):
        if number % 2:
            spans.append((length, length + len(piece)))
        plain.append(piece)
        length += len(piece)
    return "".join(plain), spans


def _carried(original: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places of the folded text as places of the original."""
    if original.isascii() or not spans:
        return spans
    starts: list[int] = []  # by place in the folded text: the place of the letter it comes from
    for at, letter in enumerate(original):
        starts.extend([at] * len(fold(letter)))
        if len(starts) >= spans[-1][1]:
            break
    return [(starts[begin], _after(original, starts[end - 1])) for begin, end in spans]


def _after(text: str, at: int) -> int:
    """The end of the letter at this place, its combining marks included."""
    end = at + 1
    while end < len(text) and _MARKS.match(text[end]):
        end += 1
    return end


def _window(text: str, begin: int, used: int) -> tuple[int, int]:
    """From the start of a word before the mark to the end of one after it."""
    low = max(begin - AROUND, used)
    if low > 0 and (edge := _EDGE.search(text, low, begin)):
        low = edge.end()
    high = min(low + LENGTH, len(text))
    while high < len(text) and high - low < LENGTH + 40 and not text[high].isspace():
        high += 1
    return low, high


def _tidy(piece: str, marks: list[tuple[int, int]]) -> Fragment:
    """The piece on one line, its marks moved along."""
    text: list[str] = []
    moved: list[tuple[int, int]] = []
    length = last = 0
    for begin, end in [*marks, (len(piece), len(piece))]:
        before = _SPACE.sub(" ", piece[last:begin])
        inside = piece[begin:end]
        text += [before, inside]
        length += len(before)
        moved.append((length, length + len(inside)))
        length += len(inside)
        last = end
    return Fragment("".join(text), tuple(moved[:-1]))
