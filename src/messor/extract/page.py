"""A page as extraction sees it: its decoded text, its tree, and where each node stands in the text.

The tree's offsets are those of the text with its line ends made one character; they are put right
here. A node without a place in the source (the parser made it up) has no quote.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate

import turbohtml
from turbohtml import Document, Element, SourceLocation

from messor.web.depth import MAX_DEPTH, is_too_deep
from messor.web.html import MAX_CHARS, TooComplexError

_SAFE_CHARS = 65_536
_CHUNK = 32_768
_PARSE_BUDGET_SECONDS = 0.25
_ATTRIBUTE = re.compile(r"""\s*[^\s=>/]+\s*=\s*(?:"([^"]*)|'([^']*)|([^\s>"']*))""")


@dataclass(slots=True, weakref_slot=True)
class Page:
    """One page: `html` is the decoded text, `document` its tree made with source locations."""

    html: str
    url: str
    document: Document
    _returns: list[int] | None = field(default=None, repr=False)

    @classmethod
    def read(cls, html: str, url: str = "", *, bounded: bool = True) -> Page:
        """Parse a page; TooComplexError when it is out of proportion, unless its process is bounded."""
        return cls(html, url, _parse(html, bounded=bounded))

    def inner(self, element: Element) -> str:
        """The source between an element's tags, empty when it cannot be told."""
        place = place_of(element)
        if place is None or place.end_tag is None:
            return self._unclosed(element)
        start, end = place.start_tag.end_offset, place.end_tag.start_offset
        return self.html[self._at(start) : self._at(end)]

    def attribute(self, element: Element, name: str) -> str:
        """The source of an attribute's value, empty when it has none."""
        place = place_of(element)
        span = None if place is None else place.attrs.get(name)
        if span is None:
            return ""
        match = _ATTRIBUTE.match(self.html, self._at(span.start_offset))
        return "" if match is None else match[1] or match[2] or match[3] or ""

    def start(self, element: Element) -> int:
        """Where an element's start tag begins in the source, -1 when it has none."""
        place = place_of(element)
        return -1 if place is None else self._at(place.start_tag.start_offset)

    def _unclosed(self, element: Element) -> str:
        """The text of an element without an end tag, when it stands there in one piece."""
        place = place_of(element)
        text = element.text.strip()
        if place is None or not text:
            return ""
        start = self._at(place.start_tag.end_offset)
        return text if self.html.startswith(text, self._skip_space(start)) else ""

    def _skip_space(self, at: int) -> int:
        end = min(len(self.html), at + 200)
        while at < end and self.html[at].isspace():
            at += 1
        return at

    def _at(self, offset: int) -> int:
        if self._returns is None:
            self._returns = _line_ends(self.html)
        return offset + bisect_left(self._returns, offset) if self._returns else offset


def place_of(element: Element) -> SourceLocation | None:
    """Where an element stands; nowhere when its attributes' names cannot be told."""
    try:
        return element.source_location
    except UnicodeDecodeError:  # a lone surrogate in a name
        return None


def _parse(html: str, *, bounded: bool) -> Document:
    """The tree with source locations, within the bounds of `web.html.parse_document`."""
    if bounded and len(html) > MAX_CHARS:
        raise TooComplexError(f"The page has more than {MAX_CHARS} characters.")
    if bounded and is_too_deep(html):
        raise TooComplexError(f"The page nests more than {MAX_DEPTH} elements within each other.")
    if not bounded or len(html) <= _SAFE_CHARS:
        return turbohtml.parse(html, positions=False, source_locations=True)
    parser = turbohtml.IncrementalParser(positions=False, source_locations=True)
    started = time.thread_time()
    for start in range(0, len(html), _CHUNK):
        parser.feed(html[start : start + _CHUNK])
        if time.thread_time() - started > _PARSE_BUDGET_SECONDS:
            raise TooComplexError("The page's markup grows out of proportion.")
    return parser.close()


def _line_ends(html: str) -> list[int]:
    """Where, in the text with one-character line ends, those stand that had two."""
    parts = html.split("\r\n")
    return [end + number for number, end in enumerate(accumulate(map(len, parts[:-1])))]
