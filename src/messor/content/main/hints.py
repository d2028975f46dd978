"""Role hints from an element's names: its tag, class, id, role and properties.

A hint comes from the page's author and may be wrong or far too broad (a class on the whole body);
callers decide how much text a hint may remove.
"""

from __future__ import annotations

import re
from string import ascii_lowercase, digits
from typing import NamedTuple

from turbohtml import Document, Element

from messor.content.memory import MAX_ENTRIES, Bounded, Memo
from messor.core.words import load

COMMENTS = 1 << 0
RELATED = 1 << 1
SHARE = 1 << 2
SIGNUP = 1 << 3
ADVERT = 1 << 4
NAVIGATION = 1 << 5
FOOTER = 1 << 6
SIDEBAR = 1 << 7
BYLINE = 1 << 8
CAPTION = 1 << 9
HIDDEN = 1 << 10
FORM = 1 << 11
DIALOG = 1 << 12
CONSENT = 1 << 13
WIDGET = 1 << 14
BODY = 1 << 15
ARTICLE = 1 << 16
MAIN = 1 << 17
WHOLE_BODY = 1 << 18  # explicitly declared as the article body

# Hints that separate an inline element from the text around it.
APART = COMMENTS | RELATED | SHARE | ADVERT | BYLINE | CAPTION | HIDDEN | DIALOG

BY_TAG = {
    "address": BYLINE,
    "article": ARTICLE,
    "aside": SIDEBAR,
    "dialog": DIALOG,
    "fieldset": FORM,
    "figcaption": CAPTION,
    "footer": FOOTER,
    "form": FORM,
    "main": MAIN,
    "menu": NAVIGATION,
    "nav": NAVIGATION,
    "search": FORM,
}
_BY_ROLE = {
    "alert": DIALOG,
    "alertdialog": DIALOG,
    "article": ARTICLE,
    "complementary": SIDEBAR,
    "contentinfo": FOOTER,
    "dialog": DIALOG,
    "main": MAIN,
    "menu": NAVIGATION,
    "menubar": NAVIGATION,
    "navigation": NAVIGATION,
    "search": FORM,
    "tablist": NAVIGATION,
    "toolbar": SHARE,
    "tooltip": DIALOG,
}
_BY_PROPERTY = {
    "articlebody": BODY | WHOLE_BODY,
    "author": BYLINE,
    "breadcrumb": NAVIGATION,
    "caption": CAPTION,
    "comment": COMMENTS,
    "datemodified": BYLINE,
    "datepublished": BYLINE,
    "keywords": BYLINE,
}

_BY_NAME = {
    "comments": COMMENTS, "related": RELATED, "share": SHARE, "signup": SIGNUP, "advert": ADVERT,
    "navigation": NAVIGATION, "footer": FOOTER, "sidebar": SIDEBAR, "byline": BYLINE,
    "caption": CAPTION, "dialog": DIALOG, "hidden": HIDDEN, "form": FORM, "body": BODY,
    "article": ARTICLE, "main": MAIN, "widget": WIDGET, "consent": CONSENT,
}  # fmt: skip
# Longer names are truncated before the lookup, so that none is cached in full.
MAX_NAME = 200
_words = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])").findall
# Words of lower-case names: every other character becomes a space.
_SPACED = "".join(
    sign if sign in ascii_lowercase + digits else " " for sign in map(chr, range(128))
)
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")

_CELLS = ("td", "th")
_SPAN = re.compile(r"[1-9][0-9]?")
_NUMBER = re.compile(r"[0-9]{1,6}")

_Terms = dict[str, dict[str, int]]
_Meaning = tuple[int, dict[str, int] | None]  # of a word; of stems of the word after it


def _terms() -> tuple[dict[str, int], _Terms, _Terms]:
    """Return whole words, stems by their first two letters, and stems by the word before them."""
    whole: dict[str, int] = {}
    stems: _Terms = {}
    pairs: _Terms = {}
    for role, terms in load("messor.content", "class_names").items():
        for term in terms.split():
            first, _, second = term.removesuffix("$").partition("-")
            word = first + second
            table = whole if term.endswith("$") else stems.setdefault(word[:2], {})
            table[word] = table.get(word, 0) | _BY_NAME[role]
            if second:
                following = pairs.setdefault(first, {})
                following[second] = following.get(second, 0) | _BY_NAME[role]
    return whole, stems, pairs


_WHOLE, _STEMS, _PAIRS = _terms()


def _meaning(word: str) -> _Meaning:
    low = word.lower()
    found = _WHOLE.get(low, 0)
    for stem, hint in _STEMS.get(low[:2], {}).items():
        if low.startswith(stem):
            found |= hint
    return found, _PAIRS.get(low)


class _Meanings(Memo[str, _Meaning]):
    """Meanings of words; a site has about a hundred, and hundreds of sites may be read in turn."""

    limit = 2 * MAX_ENTRIES


class Names(Bounded[str | None, int]):
    """Hints by class list or id, 0 for no name; there are about as many as words."""

    __slots__ = ("_meanings",)
    limit = 2 * MAX_ENTRIES

    def __init__(self) -> None:
        super().__init__()
        self._meanings = _Meanings(_meaning)

    def __missing__(self, name: str | None) -> int:
        hints = self._read(name[:MAX_NAME]) if name else 0
        if not name or len(name) <= MAX_NAME:
            self.keep(name, hints)
        return hints

    def _read(self, name: str) -> int:
        if "hentry" in name or "type-post" in name:
            return ARTICLE  # the rest are tags of the post, not its role in the page
        is_plain = name.isascii() and name.islower()
        meanings = self._meanings
        found = 0
        following: dict[str, int] | None = None
        for word in name.translate(_SPACED).split() if is_plain else _words(name):
            if following is not None:
                second = word.lower()
                for stem, hint in following.items():
                    if second.startswith(stem):
                        found |= hint
            hints, following = meanings[word]
            found |= hints
        return found


# One combined selector is faster than one per attribute.
_DECLARING = ":is([role], [itemprop], [hidden], [aria-hidden], [style], [id], [rowspan], [colspan], ol[start])"


class DeclaredHints(NamedTuple):
    """What elements declare besides their class, by element."""

    own: dict[Element, int]  # hints from role, property and the like
    named: dict[Element, int]  # these, and hints from ids
    spans: dict[Element, tuple[int, int]]  # rows and columns of cells that span several
    numbers: dict[Element, int]  # the first number of ordered lists that state one


def declared_hints(root: Document | Element, names: Names) -> DeclaredHints:
    """Return what the elements of a page declare."""
    found = DeclaredHints({}, {}, {}, {})
    own, named, spans, numbers = found
    # Few elements match, so attributes are read only for these.
    for element in root.select(_DECLARING):
        tag = element.tag
        if tag in _CELLS:
            span = _span(element.attr("rowspan")), _span(element.attr("colspan"))
            if span != (1, 1):
                spans[element] = span
        elif tag == "ol" and (first := element.attr("start")) and _NUMBER.fullmatch(first):
            numbers[element] = int(first)
        hints = _declared(element)
        if hints:
            own[element] = named[element] = hints
        of_id = names[element.attr("id")]
        if of_id:
            named[element] = hints | of_id
    if isinstance(root, Element) and (of_id := names[root.attr("id")]):
        named[root] = named.get(root, 0) | of_id
    return found


def _span(written: str | None) -> int:
    """Parse a row or column span; anything but a small number is 1."""
    return int(written) if written and _SPAN.fullmatch(written) else 1


def _declared(element: Element) -> int:
    attr = element.attr
    role, properties = attr("role"), attr("itemprop")
    found = _BY_ROLE.get(role.lower(), 0) if role else 0
    if properties:
        for word in properties.lower().split():
            found |= _BY_PROPERTY.get(word, 0)
    return found | HIDDEN if _is_hidden(element) else found


def _is_hidden(element: Element) -> bool:
    style = element.attr("style")
    if style and _INVISIBLE.search(style.lower()):
        return True
    return (
        element.attr("hidden") is not None or (element.attr("aria-hidden") or "").lower() == "true"
    )
