"""Blocks of a snapshot's markdown that a tile may quote: headings, paragraphs, list items.

Only whole pieces of visible text are used, so that every quote occurs in the page. Their meaning is
left to `extraction`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

MAX_CHARS = 200_000  # of a page; a tile summarises its beginning
MAX_LINE = 2_000

_HEADING = re.compile(r"(#{1,6}) +(.+)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)]) +(?:\[[ xX]\] )?(.+)")
_OTHER = re.compile(r"\||>|[-*_=]{3,}\s*$|\[[^\]]{1,100}\]:")  # tables, quotes, rules, references
_FENCE = re.compile(r" {0,3}(```|~~~)")
_IMAGE = re.compile(r"!\[[^\]]{0,300}\]\([^()]{0,1000}\)")
_LINK = re.compile(
    r"(?<!!)\[(?:#{1,6} )?([^\[\]]{0,500})\]"
    r"\((?:<([^<>]{0,1000})>|((?:[^()\s<>]|\([^()\s<>]{0,200}\)){0,1000}))(?:\s[^()]{0,300})?\)"
)
_CODE = re.compile(r"(?<![\\`])`([^`]{1,500})`(?!`)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# Where markup would run into a word the reader writes tags.
_TAG = re.compile(r"</?(?:em|strong|b|i|u|s|del|code|sub|sup|br)\b[^<>]{0,100}>")
_UNSURE = re.compile(r"<[a-zA-Z/!?]|\]\(|``|^> |\[[^\]]*\Z")
_MARKS = re.compile(r"\*+|`+|~~|(?<![^\W_])_+|_+(?![^\W_])")
# Escaped characters and code are moved to Unicode's private area while markup is removed.
_KEPT = 0xE000
_SET_APART = re.compile("[\ue000-\ue07f]")


@dataclass(frozen=True, slots=True)
class TextBlock:
    kind: str  # heading, paragraph, item
    text: str
    level: int = 0  # of a heading
    href: str | None = None  # target, if the whole block is one link


def blocks_of(markdown: str) -> Iterator[TextBlock]:
    """The blocks in page order."""
    fenced = False
    paragraph: list[str] = []
    for line in markdown[:MAX_CHARS].splitlines():
        fence = _FENCE.match(line) is not None
        fenced ^= fence
        other = None if fence or fenced or not line.strip() else _block(line[:MAX_LINE])
        if other is not None and other.kind == "paragraph":
            paragraph.append(other.text)
            continue
        yield from _joined(paragraph)
        paragraph = []
        if other is not None and other.text:
            yield other
    yield from _joined(paragraph)


def _joined(lines: list[str]) -> Iterator[TextBlock]:
    text = " ".join(line for line in lines if line)
    if text:
        yield TextBlock("paragraph", text)


def _block(line: str) -> TextBlock:
    """Classify one line; tables, quotes and rules are blocks without text."""
    line = line.strip()
    if found := _HEADING.match(line):
        return TextBlock("heading", plain(found[2]), len(found[1]))
    if found := _ITEM.match(line):
        heading = _HEADING.match(found[1])
        return (
            TextBlock("heading", plain(heading[2]), len(heading[1])) if heading else _item(found[1])
        )
    if _OTHER.match(line):
        return TextBlock("other", "")
    return TextBlock("paragraph", plain(line))


def _item(text: str) -> TextBlock:
    whole = _LINK.fullmatch(text.strip())
    return TextBlock("item", plain(text), href=(whole[2] or whole[3]) if whole else None)


def plain(text: str) -> str:
    """Inline markdown as visible text, or an empty string where that is uncertain."""
    if _SET_APART.search(text):
        return ""
    text = _CODE.sub(_set_apart, text)
    text = _ESCAPED.sub(_set_apart, text)
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    text = _LINK.sub(r"\1", text)  # a link around an image
    text = unescape(_TAG.sub("", text.rstrip().removesuffix("\\")))
    if _UNSURE.search(text):
        return ""
    text = _SET_APART.sub(lambda found: chr(ord(found[0]) - _KEPT), _MARKS.sub("", text))
    text = " ".join(text.split())
    return text if any(map(str.isalnum, text)) else ""


def _set_apart(found: re.Match[str]) -> str:
    return "".join(chr(_KEPT + ord(char)) if char.isascii() else char for char in found[1])
