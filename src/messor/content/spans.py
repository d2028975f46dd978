"""Where the nodes of a page stand in its decoded source, and the literal quote of a text there.

The parser counts its offsets after turning CR LF into LF; they are counted back here. A text is
looked for without regard to white space, tags and entities within it.
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
# How far beyond its beginning a line without a known end is looked for.
_REACH = 4_000


class SourceText:
    """A page's decoded text, with places in it told by the parser's nodes."""

    __slots__ = ("_breaks", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._breaks: list[int] | None = None  # found when the first offset is asked for

    def _offset(self, counted: int) -> int:
        """An offset of the parser's, as one of the text."""
        if self._breaks is None:
            # One character is found many times faster than two, and most pages have none.
            parts = self.text.split("\r\n") if "\r" in self.text else [self.text]
            ends = accumulate(map(len, parts[:-1]))
            self._breaks = [end + number for number, end in enumerate(ends)]
        return counted + bisect_left(self._breaks, counted) if self._breaks else counted

    def before(self, element: Element, *, closing: bool) -> int | None:
        """Where the element's start tag, or its end tag, begins."""
        place = place_of(element)
        if place is None:
            return None
        tag = place.end_tag if closing else place.start_tag
        return None if tag is None else self._offset(tag.start_offset)

    def after(self, element: Element, *, closing: bool) -> int | None:
        """Where the element's start tag, or its end tag, ends."""
        place = place_of(element)
        if place is None:
            return None
        tag = (place.end_tag if closing else None) or place.start_tag
        return self._offset(tag.end_offset)

    def inside(self, element: Element) -> str:
        """What stands between the element's tags; nothing where one is missing."""
        place = place_of(element)
        if place is None or place.end_tag is None:
            return ""
        begin, end = place.start_tag.end_offset, place.end_tag.start_offset
        return self.text[self._offset(begin) : self._offset(end)]

    def attribute(self, element: Element, name: str) -> str:
        """The value of an attribute as written, without its quotation marks."""
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
        """The literal text between two offsets that says `wanted`; nothing when none does."""
        begin = begin or 0
        if end is None or end < begin:
            end = min(len(self.text), begin + 2 * len(wanted) + _REACH)
        plain = self.text.find(wanted, begin, end)
        if plain >= 0:
            return wanted
        return _quote(self.text[begin:end], wanted)


def place_of(element: Element) -> SourceLocation | None:
    """Where an element stands; nowhere when its attributes' names cannot be told."""
    try:
        return element.source_location
    except UnicodeDecodeError:  # a lone surrogate in a name
        return None


def squashed(text: str) -> str:
    """The text without white space and characters that cannot be seen."""
    return "".join(text.translate(_INVISIBLE).split())


def _quote(piece: str, wanted: str) -> str:
    """The part of a piece of HTML that says a text, tags and white space aside."""
    target = squashed(wanted)
    if not target:
        return ""
    said: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _TOKEN.finditer(piece):
        token, start = match[0], match.start()
        if token.isspace() or (token[0] == "<" and len(token) > 1):
            continue
        whole = token[0] == "&"
        for place, character in enumerate(html.unescape(token) if whole else token):
            if squashed(character):
                said.append(character)
                starts.append(start if whole else start + place)
                ends.append(match.end() if whole else start + place + 1)
    found = "".join(said).find(target)
    return piece[starts[found] : ends[found + len(target) - 1]] if found >= 0 else ""
