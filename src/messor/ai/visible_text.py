"""The text a visitor can see on a page, with the source position of every character.

Comments, attributes, scripts, hidden elements and zero-width characters are left out, and nothing
matches across the gap of a hidden element: these are neither sent to a model nor accepted as proof.
`hidden` finds hidden elements, `injections` lines that address a machine.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from turbohtml import Element

from messor.ai.hidden import hidden_spans
from messor.ai.injections import injection_lines
from messor.content.plain import one_space
from messor.content.spans import SourceText
from messor.content.view import PageView
from messor.content.visible_lines import INLINE

GAP = "\ufffc"
MAX_PLACES = 50  # maximum occurrences of a text that are checked
MAX_WANTED = 2_000

# Between two element tags: comments, tags the parser skipped, entities, invisible characters; the
# rest is text. The end of a skipped tag with attributes is uncertain, so text up to the next known
# tag is not read. Linear on any input.
_PIECE = re.compile(
    r"(?P<passed><!--(?:.*?-->|.*)|<[!?][^>]*+(?:>|\Z)|</[^a-zA-Z][^>]*+(?:>|\Z)"
    r"|</?[a-zA-Z][a-zA-Z0-9:-]*+\s*+/?>|</?[a-zA-Z].*)"
    r"|(?P<entity>&(?:\#?[0-9a-zA-Z]{1,32}+);?)"
    r"|(?P<thin>[\u00ad\u200b-\u200f\u2060\ufeff\0]++)"
    r"|(?P<smuggled>[\u202a-\u202e\u2061-\u206f\ue000-\uf8ff\ufff9-\ufffc\U000e0000-\U000e0fff]++)"
    r"|[^<&\u00ad\u200b-\u200f\u2060\ufeff\0\u202a-\u202e\u2061-\u206f\ue000-\uf8ff"
    r"\ufff9-\ufffc\U000e0000-\U000e0fff]++|.",
    re.DOTALL,
)
_ALIKE = {"'": "['\u2018\u2019\u02bc`]", '"': '["\u201c\u201d\u201e\u00ab\u00bb]',
          "-": "[-\u2010-\u2015\u2212]", "\u2019": "['\u2018\u2019]", "\u2013": "[-\u2010-\u2015]",
          "\u2026": "(?:\u2026|\\.\\.\\.)"}  # fmt: skip


@dataclass(slots=True)
class VisibleText:
    """The visible text of a page; `find` returns where a text is in the source."""

    source: str
    text: str
    _at: list[int]  # start of each run in the text
    _from: list[tuple[int, int, bool]]  # its start and end in the source, and whether it is literal
    _withheld: list[tuple[int, int]] = field(default_factory=list)  # spans of the text
    withheld: int = 0  # number of withheld lines

    @classmethod
    def of(cls, page: PageView) -> VisibleText:
        """Read a page that was parsed with source locations."""
        if not _is_sound(page.source.text):
            return cls(page.source.text, "", [], [])
        at, where, parts, length = [], [], [], 0
        for text, begin, end, literal in _runs(page):
            at.append(length)
            where.append((begin, end, literal))
            parts.append(text)
            length += len(text)
        seen = cls(page.source.text, "".join(parts), at, where)
        seen._withhold()
        return seen

    def _withhold(self) -> None:
        lines = self.text.split("\n")
        injected = injection_lines([_displayed(line) for line in lines])
        position = 0
        for number, line in enumerate(lines):
            if number in injected:
                self._withheld.append((position, position + len(line)))
            position += len(line) + 1
        self.withheld = len(injected)

    def lines(self) -> list[str]:
        """Return the lines that may be sent to a model."""
        found, position, spans = [], 0, set(self._withheld)
        for line in self.text.split("\n"):
            span = (position, position + len(line))
            position += len(line) + 1
            if span not in spans and (displayed := _displayed(line)):
                found.append(displayed)
        return found

    def find(self, wanted: str) -> Iterator[tuple[int, int]]:
        """Yield the source spans of a text, visible and as whole words."""
        pattern = _pattern(wanted)
        if pattern is None:
            return
        for number, match in enumerate(pattern.finditer(self.text)):
            if number >= MAX_PLACES:
                return
            begin, end = match.span()
            if _is_whole(self.text, begin, end) and not self._is_withheld(begin, end):
                yield self._source(begin, end)

    def _is_withheld(self, begin: int, end: int) -> bool:
        place = bisect_right(self._withheld, (end, 0))
        return any(b < end and begin < e for b, e in self._withheld[max(0, place - 2) : place + 1])

    def _source(self, begin: int, end: int) -> tuple[int, int]:
        first = bisect_right(self._at, begin) - 1
        last = bisect_right(self._at, end - 1) - 1
        start, _, literal = self._from[first]
        if literal:
            start += begin - self._at[first]
        stop_start, stop, literal = self._from[last]
        if literal:
            stop = stop_start + end - self._at[last]
        return start, stop


def _is_sound(text: str) -> bool:
    """Whether a text has no lone surrogates, so that every name can be decoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _displayed(line: str) -> str:
    return one_space(line.replace(GAP, " "))


def _runs(page: PageView) -> Iterator[tuple[str, int, int, bool]]:
    """Yield runs of visible text: the text, its source span, and whether it is literal."""
    source, at = page.source.text, 0
    for begin, end, mark in _marks(page):
        if begin < at:  # inside something left out, or a tag already read
            at = max(at, end) if mark == GAP else at
            continue
        yield from _pieces(source, at, begin)
        if mark:
            yield mark, begin, begin, False
        at = end
    yield from _pieces(source, at, len(source))


def _marks(page: PageView) -> list[tuple[int, int, str]]:
    """Return tags and hidden spans in order, with their replacement in the text."""
    found = set[tuple[int, int, str]]()
    # The parser counts CR LF as one character; without any, its offsets are exact.
    literal = "\r\n" not in page.source.text
    for element in page.document.select("*"):
        mark = "" if element.tag in INLINE else "\n"
        if element.tag == "br":
            mark = " "
        found.update(
            (begin, end, mark) for begin, end in _tags(page.source, element, literal=literal)
        )
    hidden = ((begin, end, GAP) for begin, end in hidden_spans(page.document, page.source))
    # At the same position, hidden spans come first, the longest before others.
    return sorted(chain(found, hidden), key=lambda mark: (mark[0], mark[2] != GAP, -mark[1]))


def _tags(source: SourceText, element: Element, *, literal: bool) -> Iterator[tuple[int, int]]:
    """Yield the positions of an element's start and end tags, if they exist."""
    place = element.source_location
    if place is None:
        return
    start, end = place.start_tag, place.end_tag
    if literal:
        yield start.start_offset, start.end_offset
        if end is not None:
            yield end.start_offset, end.end_offset
        return
    for closing in (False, True) if end is not None else (False,):
        begin, after = (
            source.before(element, closing=closing),
            source.after(element, closing=closing),
        )
        if begin is not None and after is not None:
            yield begin, after


def _pieces(source: str, begin: int, end: int) -> Iterator[tuple[str, int, int, bool]]:
    for match in _PIECE.finditer(source, begin, end):
        kind = match.lastgroup
        if kind is None:
            yield match[0].replace("\n", " ").replace("\r", " "), match.start(), match.end(), True
        elif kind == "entity":
            decoded = html.unescape(match[0])
            visible = decoded if one_space(decoded) or decoded.isspace() else ""
            yield visible.replace("\n", " "), match.start(), match.end(), False
        elif kind == "smuggled":
            yield GAP, match.start(), match.end(), False


def _pattern(wanted: str) -> re.Pattern[str] | None:
    words = one_space(wanted.replace(GAP, " ")).split()
    if not words or len(wanted) > MAX_WANTED:
        return None
    spelt = ("".join(_ALIKE.get(c) or re.escape(c) for c in word) for word in words)
    return re.compile(r"\s+".join(spelt), re.IGNORECASE)


def _is_whole(text: str, begin: int, end: int) -> bool:
    """Whether a match is not part of a longer word or number."""
    first, last = text[begin], text[end - 1]
    before, after = text[max(0, begin - 2) : begin], text[end : end + 2]
    if before and before[-1].isalnum() and first.isalnum():
        return False
    if after and after[0].isalnum() and last.isalnum():
        return False
    if first.isdigit() and len(before) == 2 and before[1] in ".,'" and before[0].isdigit():
        return False
    if not last.isdigit():
        return True
    return not (after[:1] == "%" or (after[:1] in (".", ",", "'") and after[1:2].isdigit()))
