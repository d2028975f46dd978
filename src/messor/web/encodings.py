"""Detects the encoding of bytes, in the order of the WHATWG standard, and decodes them.

Byte-order mark, then the header, then the document's declaration, then a guess from the bytes.
Names are the standard's, in lower case. Nothing here raises: undecodable bytes become U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import turbohtml
from turbohtml import TokenType, tokenize
from turbohtml.detect import detect

_PRESCAN = 1024
# A declaration below long comments or scripts is still found within this many bytes.
_LATE_PRESCAN = 65_536
_DETECTED = 65_536

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_CHARSET = re.compile(r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;,\"']+))", re.IGNORECASE)
_LATE_CHARSETS = (b"charset", b"CHARSET", b"Charset")
_DEFAULT = "windows-1252"
_MAX_LABEL = 64
# A document read as bytes can be neither of these, whatever it declares (HTML, 13.2.3.5).
_AS_DECLARED = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": _DEFAULT}


@lru_cache(maxsize=1024)
def encoding_for_label(label: str) -> str | None:
    """The standard's name for a label such as "latin1"; None for an unknown one."""
    try:
        name = turbohtml.parse(b"", encoding=label.strip()).encoding
    except (LookupError, ValueError):
        return None
    return name.lower() if name else None


@lru_cache(maxsize=1024)
def header_encoding(content_type: str | None) -> str | None:
    """The encoding declared by a Content-Type header."""
    match = _CHARSET.search(content_type) if content_type else None
    if match is None:
        return None
    return encoding_for_label(match[1] or match[2] or match[3] or "")


def sniff(body: bytes, content_type: str | None = None) -> str:
    """The encoding of a document."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    return header_encoding(content_type) or _declared(body) or _guessed(body)


def decode(body: bytes, content_type: str | None = None) -> tuple[str, str]:
    """The text of a document, without byte-order mark, and its encoding."""
    encoding = sniff(body, content_type)
    if encoding == "utf-8":
        text = body.decode("utf-8", "replace")
    else:
        text = body.decode(f"whatwg-{encoding}", "replace")
    return text.removeprefix("\ufeff"), encoding


def _declared(body: bytes) -> str | None:
    """The encoding a document declares."""
    found = _prescan(body[:_PRESCAN])
    if found is None and any(
        body.find(word, _PRESCAN, _LATE_PRESCAN) >= 0 for word in _LATE_CHARSETS
    ):
        found = _declared_late(body[:_LATE_PRESCAN])
    return found


def _declared_late(head: bytes) -> str | None:
    """The encoding declared by a tag, found without a tree: a kilobyte of tags may nest deeper than
    the parser allows.
    """
    for token in tokenize(head.decode("latin-1")):
        if token.tag == "meta" and token.type is TokenType.START_TAG:
            found = _named_by(dict(token.attrs or ()))
            if found is not None:
                return found
    return None


def _named_by(attributes: Mapping[str, str | None]) -> str | None:
    """The encoding that a meta element declares."""
    if "charset" in attributes:
        name = encoding_for_label((attributes["charset"] or "")[:_MAX_LABEL])
    elif (attributes.get("http-equiv") or "").lower() == "content-type":
        name = header_encoding(attributes.get("content"))
    else:
        return None
    return _AS_DECLARED.get(name, name) if name else None


def _prescan(head: bytes) -> str | None:
    document = turbohtml.parse(head, positions=False)
    name = (document.encoding or _DEFAULT).lower()
    # These two are also the parser's fallbacks; the bytes beyond the head decide then.
    is_fallback = name in (_DEFAULT, "utf-8") and document.encoding_confidence != "certain"
    return None if is_fallback else name


def _guessed(body: bytes) -> str:
    """The encoding of bytes without a declaration."""
    wide = _guessed_utf16(body[:_PRESCAN])
    if wide is not None:
        return wide
    if body.isascii():
        return _DEFAULT
    try:
        body.decode()
    except UnicodeDecodeError:
        match = detect(body[:_DETECTED])
        return match.encoding.lower() if match.encoding else _DEFAULT
    return "utf-8"


def _guessed_utf16(head: bytes) -> str | None:
    """UTF-16 without a byte-order mark shows as zero bytes on one side of nearly every pair."""
    pairs = len(head) // 2
    if pairs < 4:
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.7 * pairs and even < 0.1 * pairs:
        return "utf-16le"
    if even > 0.7 * pairs and odd < 0.1 * pairs:
        return "utf-16be"
    return None
