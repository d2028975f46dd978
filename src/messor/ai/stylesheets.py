"""Declarations in a page's own styles as browsers read them: escapes decoded, variables resolved.

A variable may have several values by selector and media; instead of resolving which applies, each
is tried. External files are not fetched.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote_to_bytes

from turbohtml import Document

MAX_STYLES = 500_000  # maximum characters of style sheets
_MAX_VALUES = 8  # maximum values of one variable
_MAX_ROUNDS = 4  # maximum nesting of variables
_MAX_VARIANTS = 32
_MAX_STYLED = 5_000
_MAX_DECLARED = 5_000

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_VARIABLE = re.compile(r"(--[\w-]{1,100})\s*:\s*([^;{}]{0,200})")
# The innermost one; its second group is the fallback.
_USE = re.compile(r"var\(\s*(--[\w-]{1,100})\s*(?:,([^()]{0,200}))?\)")
_NUMBER = re.compile(r"calc\(\s*([-+]?[\d.]{1,20}[a-z%]{0,4})\s*\)")
_AROUND = re.compile(r"<!--|-->")  # legacy browser syntax; others ignore it
_IMPORT = re.compile(r"@import\s+(?:url\(\s*)?[\"']?(data:text/css[^\"')\s]+)", re.IGNORECASE)
_SHEET_URL = re.compile(r"data:text/css[^,]{0,100},", re.IGNORECASE)

Variables = dict[str, list[str]]


def plain(declared: str) -> str:
    """Return declarations in lower case, without comments and escapes."""
    text = _COMMENT.sub("", declared[:_MAX_DECLARED]) if "/*" in declared else declared
    text = (_ESCAPE.sub(_character, text) if "\\" in text else text).lower()
    return _NUMBER.sub(r"\1", text) if "calc(" in text else text


def _character(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[2]
    code = int(match[1], 16)
    return chr(code) if 0 < code < 0xD800 or 0xE000 <= code < 0x110000 else "\ufffd"


def sheets(document: Document) -> list[str]:
    """Return the page's own style sheets without comments: style elements, and links with data
    URLs.
    """
    texts = [style.text for style in document.select("style")]
    texts += [
        text
        for link in document.select('link[href^="data:text/css"]')
        if (text := _from_url(link.attr("href") or "")) is not None
    ]
    imports = (url for text in texts for url in _IMPORT.findall(text[:MAX_STYLES]))
    texts += [text for url in imports if (text := _from_url(url)) is not None]
    found, left = [], MAX_STYLES
    for text in texts:
        found.append(_AROUND.sub("", _COMMENT.sub("", text[:left])))
        left -= min(left, len(text))
    return found


def _from_url(url: str) -> str | None:
    head = _SHEET_URL.match(url)
    if head is None:
        return None
    data = unquote_to_bytes(url[head.end() : MAX_STYLES])
    try:
        data = base64.b64decode(data) if ";base64" in head[0].lower() else data
    except (binascii.Error, ValueError):
        return None
    return data.decode("utf-8", "replace")


def variables(document: Document, texts: list[str]) -> Variables:
    """Return every value the page gives to each custom property."""
    found: Variables = {}
    if not any("--" in text for text in texts) and not document.select('[style*="--"]'):
        return found
    styled = (each.attr("style") or "" for each in document.select('[style*="--"]')[:_MAX_STYLED])
    for text in (*texts, *styled):
        for name, value in _VARIABLE.findall(text):
            values = found.setdefault(name.lower(), [])
            if len(values) < _MAX_VALUES and (declared := plain(value).strip()) not in values:
                values.append(declared)
    return found


def resolved(declared: str, known: Variables) -> Iterator[str]:
    """Yield plain declarations with variables resolved: one text per combination."""
    variants = [declared]
    for _ in range(_MAX_ROUNDS):
        if not any("var(" in each for each in variants):
            break
        variants = list(islice(_replaced(variants, known), _MAX_VARIANTS))
    yield from variants


def _replaced(variants: list[str], known: Variables) -> Iterator[str]:
    for each in variants:
        use = _USE.search(each)
        if use is None:
            yield each
            continue
        values = known.get(use[1], [])
        for value in [*values, *([use[2].strip()] if use[2] is not None else [])]:
            yield each[: use.start()] + value + each[use.end() :]
        if not values and use[2] is None:  # set by an external file, if at all
            yield each[: use.start()] + "unknown" + each[use.end() :]
