"""Candidates for each field of a product, before one is chosen."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from messor.content.evidence import EvidencedField, make_field
from messor.content.page import ParsedPage
from messor.content.plain import MARK

# Maximum candidates per field; more add nothing.
MAX_CANDIDATES = 60
_MAX_LOOKS = 30

_KEY = re.compile(rf"{MARK}([\w@$.:-]{{1,60}}){MARK}\s{{0,20}}:\s{{0,20}}({MARK}?)$")
_MARK_LENGTH = 6  # length of the longest quotation mark, `&quot;`
_SHORT = 60
# Characters that are never escaped.
_ONE_WAY = re.compile(r"[ !#$%(-.0-;=-\[\]-\x7f]*")

NORMALISER_OF = {
    "product_name": "text", "description": "long_text", "price": "machine_amount",
    "list_price": "machine_amount", "currency": "currency", "availability": "availability",
    "rating": "rating", "review_count": "count", "brand": "brand", "category": "category",
    "sku": "sku", "mpn": "sku", "gtin": "gtin", "url": "url", "image": "url",
    "thumbnail": "url", "color": "text",
    "size": "text", "condition": "condition", "seller": "text",
}  # fmt: skip


@dataclass(slots=True)
class CandidatePool:
    """Candidates by field name, in order of discovery."""

    page: ParsedPage
    found: dict[str, list[EvidencedField]] = field(default_factory=lambda: defaultdict(list))
    thumbnails: dict[str, EvidencedField] = field(default_factory=dict)  # by the image's URL

    def add(
        self,
        name: str,
        source: str,
        quote: str,
        confidence: float,
        *,
        path: str = "",
        normaliser: str | None = None,
    ) -> EvidencedField | None:
        """Add a candidate; its quote must be a piece of the page."""
        if not quote:
            return None
        found = self.found[name]
        if len(found) >= MAX_CANDIDATES:
            return None
        kind = normaliser or NORMALISER_OF[name]
        candidate = source, kind, quote, confidence, path
        # The pages of a shop repeat some values, such as its currency; fields are immutable.
        is_short = len(quote) <= _SHORT and len(path) <= _SHORT
        made = self.page.memory.memo(_make)[candidate] if is_short else _make(candidate)
        if made is not None:
            found.append(made)
        return made

    def add_thumbnail(
        self, image: EvidencedField | None, source: str, quote: str, path: str
    ) -> None:
        """Add the thumbnail of an image; the first is kept."""
        if image is None or image.value in self.thumbnails:
            return
        made = self.add("thumbnail", source, quote, image.confidence, path=path)
        if made is not None and made.value != image.value:
            self.thumbnails[image.value] = made

    def best(self, name: str) -> EvidencedField | None:
        """Return the candidate with the highest confidence, the earliest among equals."""
        return max(self.found[name], key=lambda made: made.confidence, default=None)


def _make(candidate: tuple[str, str, str, float, str]) -> EvidencedField | None:
    source, kind, quote, confidence, path = candidate
    return make_field(source, kind, quote, confidence=confidence, path=path)


def quote_json(source: str, key: str, value: Any) -> str:
    """Return a key and its value, or the value alone, as in a source; empty if not found."""
    if value is True or value is False:
        return _keyed(source, key, "true" if value else "false")
    text = str(value).strip()
    keyed = (_plainly_keyed(source, key, text) or _keyed(source, key, text)) if text else ""
    if keyed:  # usually unescaped
        return keyed
    ways = _spellings(text)
    for written in ways[1:]:
        keyed = _keyed(source, key, written)
        if keyed:
            return keyed
    return next((written for written in ways if written and written in source), "")


def _plainly_keyed(source: str, key: str, written: str) -> str:
    """The same as `_keyed`, if the first such value has one of the two usual spellings."""
    at = source.find(written)
    end = at + len(written)
    if at < 0 or not source.startswith('"', end):
        return ""
    for lead in (f'"{key}": "', f'"{key}":"'):
        begin = at - len(lead)
        if begin > 0 and source.startswith(lead, begin) and source[begin - 1] != "\\":
            return source[begin : end + 1]
    return ""


def _keyed(source: str, key: str, written: str) -> str:
    """Return `"key": "value"` as in a source; the number of searches is bounded."""
    at = source.find(written)
    for _ in range(_MAX_LOOKS):
        if at < 0:
            return ""
        end = at + len(written)
        begin = max(0, at - len(key) - 40)
        named = source.rfind(key, begin, at)
        if named >= 0:  # the pattern starts at the key's quotation mark
            match = _KEY.search(source, max(begin, named - _MARK_LENGTH), at)
            if match is not None and match[1] == key and _is_whole(source, end, match[2]):
                return source[match.start() : end + len(match[2])]
        at = source.find(written, end)
    return ""


def _is_whole(source: str, end: int, mark: str) -> bool:
    """Whether a value that opened with this quotation mark, or none, ends here."""
    return source.startswith(mark, end) if mark else not source[end : end + 1].isalnum()


def _spellings(text: str) -> list[str]:
    """Return the distinct JSON and HTML spellings of a string, the unescaped one first."""
    if _ONE_WAY.fullmatch(text):
        return [text]
    escaped, pure = encode_basestring(text)[1:-1], encode_basestring_ascii(text)[1:-1]
    ways = [
        text, escaped, escaped.replace("/", "\\/"), pure, pure.replace("/", "\\/"),
        pure.replace("&", "\\u0026"), pure.replace("'", "\\u0027").replace("&", "\\u0026"),
        text.replace("&", "&amp;"),
    ]  # fmt: skip
    return list(dict.fromkeys(ways))
