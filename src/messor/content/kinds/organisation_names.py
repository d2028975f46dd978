"""The name of the organisation behind a page, where no structured data states it.

A name whose letters are those of the site's host is the surest, then the one in a copyright line,
then the line above a postal address. Everything else is the job of `organisation`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from messor.content.dates import fold
from messor.content.evidence import EvidencedField
from messor.content.kinds.build import GUESSED, VISIBLE
from messor.content.kinds.line_hints import PLACE, page_hints
from messor.content.lines import Line
from messor.content.places import addresses_at
from messor.content.titles import letters, site_of
from messor.content.view import PageView, host_of

_MIN_LABEL = 4
_MAX_LABEL = 40
_MAX_LINE = 300
_MAX_NAME_WORDS = 7
_MAX_PLACED = 20
_MARKS = " '\u2019.&-"
_MAX_MENTIONS = 60
_FORM = r"(?:,?\s(?:Inc|LLC|L\.L\.C|Ltd|Limited|Corp|Corporation|Company|Co|PLC|GmbH|AG|BV|B\.V|NV|SA|SARL|SAS|LLP|PC|N\.A)\b\.?){0,2}"
_BEGINS = re.compile(r"(?<![\w@/.-])\w")
_TAIL = re.compile(
    r"(?:\.com\b)?(?![\w@-]|\.\w)"
    rf"(?:\s(?:(?:&|and|of)\s)?[A-Z][\w'\u2019-]+(?=[\s.,]|$)){{0,3}}{_FORM}"
)
_YEARS = r"(?:19|20)\d\d(?:\s?[-\u2013,/]\s?(?:19|20)?\d\d)*"
_WORD = r"(?:[A-Z\u00c0-\u00de0-9][\w'\u2019.&+-]*|&|and|of|the|for|de|at|und|van|von|du|la)"
_COPYRIGHT = re.compile(
    rf"(?:©|\(c\)|copyright)[\s:©]*(?:\(c\)\s*)?(?:{_YEARS})?[\s,.:|\u2013-]*(?:by\s)?"
    rf"((?:{_WORD}\s){{0,6}}{_WORD}{_FORM})",
    re.IGNORECASE,
)
_BEFORE = re.compile(rf"^((?:{_WORD}\s){{0,6}}{_WORD}{_FORM})\s*(?:©|\(c\))", re.IGNORECASE)
_RESERVED = re.compile(
    r"[\s.,|\u2013-]*\b(?:all rights?|alle rechte|tous droits|todos los derechos|tutti i diritti|terms|privacy"
    r"|powered|designed|website|web site|site by|reserved|rights|contact|home|sitemap|copyright)\b.*$",
    re.IGNORECASE,
)
_ORGANISED = re.compile(
    r"\b(?:inc|llc|ltd|limited|corp|company|co|group|bank|university|college|hospital|clinic|cent(?:er|re)|school|church"
    r"|society|association|institute|foundation|club|hotel|inn|library|museum|council|city|department|agency"
    r"|services|solutions|systems|gmbh|ag|bv|sarl|sas|lda|spa|srl|office|headquarters|cafe|restaurant|shop|store)\b",
    re.IGNORECASE,
)
_END_YEAR = re.compile(r"[\s,]*(?:19|20)\d\d\.?$")
_NOT_NAMES = frozenset(
    """
    all the copyright rights reserved home menu contact address location locations office offices
    headquarters our visit mailing corporate head main us find directions store hours
    """.split()  # noqa: SIM905 - words in a row are easier to read
)


def own_name(page: PageView) -> EvidencedField | None:
    """Return the name of the organisation whose page this is."""
    return _named_like_host(page) or _in_copyright(page) or _above_address(page) or _declared(page)


def _declared(page: PageView) -> EvidencedField | None:
    """Return the site's name that a page declares, unless it is an address."""
    for element in page.metas.get("og:site_name", ())[:1]:
        passage = page.attribute(element, "content")
        if is_name(passage.text) and "." not in passage.text:
            return passage.field("text", GUESSED)
    return None


def _named_like_host(page: PageView) -> EvidencedField | None:
    """Return the commonest spelling, in visible text, of a name with the letters of the host."""
    labels = site_of("", host_of(page.url)).labels[:-1]
    for label in sorted(labels, key=len, reverse=True):
        if not (_MIN_LABEL <= len(label) <= _MAX_LABEL and label.isascii() and label.isalnum()):
            continue
        found: Counter[str] = Counter()
        first: dict[str, Line] = {}
        for line in _lines_with(page, label):
            for name in spellings(line.text[:_MAX_LINE], label):
                found[name] += 1
                first.setdefault(name, line)
        for name, _ in found.most_common(3):
            if (field := page.passage(first[name], name).field("text", VISIBLE)) is not None:
                return field
    return None


def _lines_with(page: PageView, label: str) -> list[Line]:
    """Return the lines that hold the letters of a label; most pages have few."""
    squeezed = page.folded
    for mark in _MARKS:
        squeezed = squeezed.replace(mark, "")
    if label not in squeezed:
        return []
    kept = zip(page.lines, squeezed.split("\n"), strict=True)
    return [line for line, text in kept if label in text][:_MAX_MENTIONS]


def spellings(text: str, label: str) -> Iterator[str]:
    """Yield the names in a text with the letters of a label, with a legal form or the capitalised
    words after them; written all in lower case it is an address.
    """
    lowered = fold(text)
    if len(lowered) != len(text):
        return
    start = lowered.find(label[0])
    while start >= 0:
        end = _end_of(lowered, label, start) if _BEGINS.match(text, start) else None
        tail = None if end is None else _TAIL.match(text, end)
        if tail is not None and text[start : tail.start()] != lowered[start : tail.start()]:
            begin = start - 4 if text[max(0, start - 4) : start] == "The " else start
            yield text[begin : tail.end()].rstrip(" ,")
            start = tail.end()
        start = lowered.find(label[0], start + 1)


def _end_of(lowered: str, label: str, start: int) -> int | None:
    """Return where the letters of a label end that begin at a place, whatever marks are between."""
    at = start
    for letter in label:
        while at < len(lowered) and lowered[at] in _MARKS and at > start:
            at += 1
        if at >= len(lowered) or lowered[at] != letter:
            return None
        at += 1
    return at


def _in_copyright(page: PageView) -> EvidencedField | None:
    for line in reversed(page.lines):
        text = line.text
        if len(text) > _MAX_LINE or not (
            "©" in text or "opyright" in text or "(c)" in text.lower()
        ):
            continue
        for name in _copyright_names(text):
            if (field := page.passage(line, name).field("text", VISIBLE)) is not None:
                return field
    return None


def _copyright_names(text: str) -> Iterator[str]:
    for match in (_COPYRIGHT.search(text), _BEFORE.search(text)):
        name = (
            ""
            if match is None
            else _END_YEAR.sub("", _RESERVED.sub("", match[1])).strip(" ,|-\u2013&")
        )
        if is_name(name):
            yield name


def _above_address(page: PageView) -> EvidencedField | None:
    """Return the line above the street of the first address, if it is a name."""
    placed = [
        line for line, hints in zip(page.lines, page_hints(page), strict=True) if hints & PLACE
    ]
    for line in placed[:_MAX_PLACED]:
        for address in addresses_at(page.lines, line.number):
            if address.street is None or address.street.line.number == 0:
                continue
            above = page.lines[address.street.line.number - 1]
            if is_name(above.text) and _ORGANISED.search(above.text):
                return page.passage(above).field("text", GUESSED)
    return None


def is_name(text: str) -> bool:
    """Whether a text may be the name of an organisation: capitalised words, no label."""
    words = text.split()
    if not 0 < len(words) <= _MAX_NAME_WORDS or len(letters(text)) < 3:
        return False
    if not words[0][0].isupper() or any(mark in text for mark in "?!@:;|"):
        return False
    if all(fold(word).strip(".,") in _NOT_NAMES for word in words):
        return False
    return not text.replace(" ", "").isdigit() and sum(
        word[0].isupper() for word in words
    ) * 2 >= len(words)
