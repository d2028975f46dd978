"""What was found for each field of a product, before one of them is chosen."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from messor.content.evidence import EvidencedField, make_field
from messor.content.page import ParsedPage
from messor.content.plain import MARK

# More candidates of a field than these say nothing new.
MAX_CANDIDATES = 60
_MAX_LOOKS = 30

_KEY = re.compile(rf"{MARK}([\w@$.:-]{{1,60}}){MARK}\s{{0,20}}:\s{{0,20}}({MARK}?)$")
_MARK_LENGTH = 6  # of the longest quotation mark, `&quot;`
_SHORT = 60
# No sign in it is ever escaped.
_ONE_WAY = re.compile(r"[ !#$%(-.0-;=-\[\]-\x7f]*")

NORMALISER_OF = {
    "product_name": "text", "description": "long_text", "price": "machine_amount",
    "list_price": "machine_amount", "currency": "currency", "availability": "availability",
    "rating": "rating", "review_count": "count", "brand": "brand", "category": "category",
    "sku": "sku", "mpn": "sku", "gtin": "gtin", "url": "url", "image": "url", "color": "text",
    "size": "text", "condition": "condition", "seller": "text",
}  # fmt: skip


@dataclass(slots=True)
class CandidatePool:
    """Candidates by the name of their field, in the order they were found."""

    page: ParsedPage
    found: dict[str, list[EvidencedField]] = field(default_factory=lambda: defaultdict(list))

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
        """Take in a candidate; its quote has to be a piece of the page."""
        if not quote:
            return None
        found = self.found[name]
        if len(found) >= MAX_CANDIDATES:
            return None
        kind = normaliser or NORMALISER_OF[name]
        make = _known if len(quote) <= _SHORT and len(path) <= _SHORT else _make
        made = make(source, kind, quote, confidence, path)
        if made is not None:
            found.append(made)
        return made

    def best(self, name: str) -> EvidencedField | None:
        """The surest candidate, the earliest among equals."""
        return max(self.found[name], key=lambda made: made.confidence, default=None)


def _make(
    source: str, kind: str, quote: str, confidence: float, path: str
) -> EvidencedField | None:
    return make_field(source, kind, quote, confidence=confidence, path=path)


# What a shop's pages repeat, such as its currency, need not be made anew; no value can be changed.
_known = lru_cache(maxsize=4096)(_make)


def quote_json(source: str, key: str, value: Any) -> str:
    """How a key and its value are written in a source, or the value alone; empty when not found."""
    if value is True or value is False:
        return _keyed(source, key, "true" if value else "false")
    text = str(value).strip()
    keyed = (_plainly_keyed(source, key, text) or _keyed(source, key, text)) if text else ""
    if keyed:  # as a rule it is written as it is
        return keyed
    ways = _spellings(text)
    for written in ways[1:]:
        keyed = _keyed(source, key, written)
        if keyed:
            return keyed
    return next((written for written in ways if written and written in source), "")


def _plainly_keyed(source: str, key: str, written: str) -> str:
    """The same as `_keyed`, where the first such value is written in one of the two usual ways."""
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
    """`"key": "value"` as it stands in a source; a value is looked for a bounded number of times."""
    at = source.find(written)
    for _ in range(_MAX_LOOKS):
        if at < 0:
            return ""
        end = at + len(written)
        begin = max(0, at - len(key) - 40)
        named = source.rfind(key, begin, at)
        if named >= 0:  # the pattern is tried from the key's own quotation mark on
            match = _KEY.search(source, max(begin, named - _MARK_LENGTH), at)
            if match is not None and match[1] == key and _is_whole(source, end, match[2]):
                return source[match.start() : end + len(match[2])]
        at = source.find(written, end)
    return ""


def _is_whole(source: str, end: int, mark: str) -> bool:
    """Whether a value that opened with a quotation mark, or with none, ends here."""
    return source.startswith(mark, end) if mark else not source[end : end + 1].isalnum()


def _spellings(text: str) -> list[str]:
    """The ways JSON and publishers write a string, each once; as it is comes first."""
    if _ONE_WAY.fullmatch(text):
        return [text]
    escaped, pure = encode_basestring(text)[1:-1], encode_basestring_ascii(text)[1:-1]
    ways = [
        text, escaped, escaped.replace("/", "\\/"), pure, pure.replace("/", "\\/"),
        pure.replace("&", "\\u0026"), pure.replace("'", "\\u0027").replace("&", "\\u0026"),
        text.replace("&", "&amp;"),
    ]  # fmt: skip
    return list(dict.fromkeys(ways))
