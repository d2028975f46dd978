"""Source positions of a page's nodes, and the literal quote of a text there.

The parser counts offsets after converting CR LF to LF; they are converted back here. Texts are
matched regardless of white space, tags and entities inside them.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from itertools import accumulate

from turbohtml import Element, SourceLocation

# A comment, a tag, an entity, white space or anything else; linear on any input.
_TOKEN = re.compile(
    r"<!--(?:.*?-->|.*)|<[a-zA-Z/!?][^>]*+(?:>|\Z)|&(?:#?[0-9a-zA-Z]{1,32}+);?|\s++|[^<&\s]++|.",
    re.DOTALL,
)
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, 0))
_ATTRIBUTE = re.compile(r"[^=]*+=\s*+", re.DOTALL)
# Search range after the start of a line without a known end.
_REACH = 4_000


class SourceText:
    """A page's decoded text, addressed by the parser's nodes."""

    __slots__ = ("_breaks", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._breaks: list[int] | None = None  # computed on first use

    def _offset(self, counted: int) -> int:
        """Convert a parser offset to a text offset."""
        if self._breaks is None:
            # Searching one character is many times faster than two, and most pages have none.
            parts = self.text.split("\r\n") if "\r" in self.text else [self.text]
            ends = accumulate(map(len, parts[:-1]))
            self._breaks = [end + number for number, end in enumerate(ends)]
        return counted + bisect_left(self._breaks, counted) if self._breaks else counted

    def before(self, element: Element, *, closing: bool) -> int | None:
        """Return where the element's start tag or end tag begins."""
        place = place_of(element)
        if place is None:
            return None
        tag = place.end_tag if closing else place.start_tag
        return None if tag is None else self._offset(tag.start_offset)

    def after(self, element: Element, *, closing: bool) -> int | None:
        """Return where the element's start tag or end tag ends."""
        place = place_of(element)
        if place is None:
            return None
        tag = (place.end_tag if closing else None) or place.start_tag
        return self._offset(tag.end_offset)

    def inside(self, element: Element) -> str:
        """Return the source between the element's tags; empty if one is missing."""
        place = place_of(element)
        if place is None or place.end_tag is None:
            return ""
        begin, end = place.start_tag.end_offset, place.end_tag.start_offset
        return self.text[self._offset(begin) : self._offset(end)]

    def attribute(self, element: Element, name: str) -> str:
        """Return the value of an attribute as written, without quotation marks."""
        place = place_of(element)
        span = place.attrs.get(name) if place else None
        if span is None:
            return ""
        written = self.text[self._offset(span.start_offset) : self._offset(span.end_offset)]
        named = _ATTRIBUTE.match(written)
        value = written[named.end() :] if named else ""
        if value[:1] in ("'", '"'):
            value = value[1:].removesuffix(value[0])
        return value

    def quote(self, wanted: str, begin: int | None, end: int | None) -> str:
        """Return the literal text between two offsets that reads as `wanted`; empty if there is
        none.
        """
        begin = begin or 0
        if end is None or end < begin:
            end = min(len(self.text), begin + 2 * len(wanted) + _REACH)
        plain = self.text.find(wanted, begin, end)
        if plain >= 0:
            return wanted
        return _quote(self.text[begin:end], wanted)


def place_of(element: Element) -> SourceLocation | None:
    """Return an element's source location; None if its attribute names cannot be decoded."""
    try:
        return element.source_location
    except UnicodeDecodeError:  # a lone surrogate in a name
        return None


def squashed(text: str) -> str:
    """Return the text without white space and invisible characters."""
    return "".join(text.translate(_INVISIBLE).split())


def _quote(piece: str, wanted: str) -> str:
    """Return the part of a piece of HTML that reads as a text, ignoring tags and white space."""
    target = squashed(wanted)
    if not target:
        return ""
    characters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _TOKEN.finditer(piece):
        token, start = match[0], match.start()
        if token.isspace() or (token[0] == "<" and len(token) > 1):
            continue
        whole = token[0] == "&"
        for place, character in enumerate(html.unescape(token) if whole else token):
            if squashed(character):
                characters.append(character)
                starts.append(start if whole else start + place)
                ends.append(match.end() if whole else start + place + 1)
    found = "".join(characters).find(target)
    return piece[starts[found] : ends[found + len(target) - 1]] if found >= 0 else ""
