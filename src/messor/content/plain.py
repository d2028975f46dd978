"""Plain text of a piece of page source, unescaped: tags, entities, JSON escapes.

All patterns take linear time, as quotes are untrusted. Deriving values from the text is the job of
the normalisers in `evidence`.
"""

from __future__ import annotations

import html
import json
import re

# Elements whose tags do not separate words.
_INLINE = frozenset(
    (
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "dfn", "em",
        "font", "i", "ins", "kbd", "mark", "meta", "q", "s", "small", "span", "strong", "sub",
        "sup", "time", "tt", "u", "var", "wbr",
    )
)  # fmt: skip

# A comment, an element without visible text, or a tag. Unclosed ones extend to the end, and the
# number of attributes is bounded, so that no position is scanned repeatedly.
_MARKUP = re.compile(
    r"""<!--(?:.*?-->|.*)
    |<(?:script|style|template|noscript)\b(?:.*?</(?:script|style|template|noscript)[^>]*(?:>|\Z)|.*)
    |<[/!?]?([a-zA-Z][a-zA-Z0-9]*)[^>"']*+
        (?:(?:"[^"]*+"|'[^']*+')[^>"']*+){0,64}+(?:>|\Z)
    |<[a-zA-Z/!?][^>]*+(?:>|\Z)
    |<\Z""",
    re.VERBOSE | re.DOTALL,
)
_CLOSING = re.compile(r"</(?:p|ul|ol|li|div|span|strong|b|em|i|h[1-6]|a|table)>", re.IGNORECASE)
_JSON_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
# A quotation mark in scripts, in strings in scripts, and in attributes.
MARK = r"""(?:\\?["']|&quot;|&\#34;)"""
# A key before the value; the value's opening quotation mark, if any, is part of the match.
_JSON_KEY = re.compile(rf"{MARK}[\w@$.:-]{{1,60}}{MARK}\s{{0,20}}:\s{{0,20}}({MARK}?)")
_JSON_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}
# Soft hyphens, zero-width and direction characters.
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF, 0))
_ANY_INVISIBLE = re.compile(r"[\0\xad\u200b-\u200f\u2060\ufeff]")


def one_space(text: str) -> str:
    """Collapse white space and remove invisible characters."""
    if text.isprintable():  # only plain spaces, as cheap checks show
        return " ".join(text.split()) if "  " in text else text.strip()
    if _ANY_INVISIBLE.search(text):
        text = text.translate(_INVISIBLE)
    return " ".join(text.split())


def from_html(quote: str) -> str:
    """Return the text of a piece of HTML; entities are decoded once."""
    if "<" in quote:
        quote = _MARKUP.sub(_gap, quote)
    return html.unescape(quote) if "&" in quote else quote


def from_json(quote: str) -> str:
    """Return the text of a string's content in a script or in JSON, or of a key and its value.

    Publishers often put HTML into such strings, so tags and entities are decoded as well.
    """
    key = _JSON_KEY.match(quote)
    if key is not None:
        quote = quote[key.end() :].removesuffix(key[1])
    if "\\" in quote:
        quote = _unescaped(quote)
    plain = from_html(quote)
    # Whole paragraphs may be escaped twice; a closing tag distinguishes them from text about tags.
    return from_html(plain) if "</" in plain and _CLOSING.search(plain) else plain


def _gap(match: re.Match[str]) -> str:
    return "" if (match[1] or "").lower() in _INLINE else " "


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        joined = _JSON_ESCAPE.sub(_character, text)
        return joined.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    return _JSON_LETTERS.get(match[3], match[3])


def has_plain_spaces(text: str) -> bool:
    """Whether a text certainly has no white space other than plain spaces."""
    if not text.isascii():
        return text.isprintable()  # the plain space is the only printable white space
    # Nine `find()` calls beat a per-character scan.
    return not (
        "\n" in text
        or "\t" in text
        or "\r" in text
        or "\f" in text
        or "\v" in text
        or "\x1c" in text
        or "\x1d" in text
        or "\x1e" in text
        or "\x1f" in text
    )
