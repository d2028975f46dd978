"""Highlights: matches of a search query in a text, in the text's original spelling.

PostgreSQL marks words in the folded text; the marks are mapped back to the original, so that "café"
is shown as written though "cafe" was searched for.
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
# Accents, points and invisible characters: soft hyphens, zero-width letters.
_MARKS = re.compile(
    "[\u0300-\u036f\u00ad\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
# Letters of languages without spaces between words, with their sound marks.
_UNSPACED = re.compile(
    "([\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\U00020000-\U0003ffff][\u3099\u309a]?)"
)
_SPACE = re.compile(r"\s+")
_EDGE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a text, and the parts of it that match the query."""

    text: str
    marks: tuple[tuple[int, int], ...]

    def shown(self, start: str, stop: str) -> str:
        """The piece with its marks written out; the caller escapes it."""
        pieces, last = [], 0
        for begin, end in self.marks:
            pieces += [self.text[last:begin], start, self.text[begin:end], stop]
            last = end
        return "".join(pieces) + self.text[last:]


def unaccented(text: str) -> str:
    """A text without accents."""
    if text.isascii():
        return text
    return _MARKS.sub("", unicodedata.normalize("NFKD", text)).translate(_SINGLE)


def fold(text: str) -> str:
    """As `messor.fold` does: plain letters, with each unspaced letter as a word."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", unaccented(text))


def is_unspaced(text: str) -> bool:
    """Whether letters of this text are words of their own."""
    return not text.isascii() and _UNSPACED.search(unaccented(text)) is not None


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
    """Positions of the folded text mapped to the original."""
    if original.isascii() or not spans:
        return spans
    starts: list[
        int
    ] = []  # by position in the folded text: the position of the letter it comes from
    for at, letter in enumerate(original):
        starts.extend([at] * len(fold(letter)))
        if len(starts) >= spans[-1][1]:
            break
    return _joined(
        [(starts[begin], _after(original, starts[end - 1])) for begin, end in spans], original
    )


def _joined(places: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Single-letter words joined into the words they form; where there are any, only those."""
    joined: list[tuple[int, int]] = []
    for begin, end in places:
        if joined and joined[-1][1] == begin:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((begin, end))
    if len(joined) == len(places):
        return places
    return [(b, e) for b, e in joined if e - b > 1 or not is_unspaced(text[b:e])]


def _after(text: str, at: int) -> int:
    """The end of the letter at this position, with its combining marks."""
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
    """The piece on one line, with its marks moved accordingly."""
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
