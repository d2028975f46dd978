"""What an element's names say about its part in a page: its tag, class, id, role and properties.

A cue is a hint by the page's author and may be wrong or far too wide (a class on the whole body);
how much text a cue may remove is left to those who weigh it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from string import ascii_lowercase, digits

from turbohtml import Document, Element

from messor.content.main.names import STEMS

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
WHOLE_BODY = 1 << 18  # said to be it in so many words

# What sets an inline element apart from the text around it.
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
# Longer names are cut before they are looked up, so that none of them is remembered whole.
MAX_NAME = 200
# A site has a hundred or so, and hundreds of sites may be read in turns.
_REMEMBERED = 32_768
_REMEMBERED_DULL = 32_768
_words = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])").findall
# The same words, of names without capitals: all that is none of their letters becomes a space.
_SPACED = "".join(
    sign if sign in ascii_lowercase + digits else " " for sign in map(chr, range(128))
)
_UNSHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")

_CELLS = ("td", "th")
_SPAN = re.compile(r"[1-9][0-9]?")

_whole: dict[str, int] = {}
_stems: dict[str, dict[str, int]] = {}  # by the two letters they begin with
_pairs: dict[str, dict[str, int]] = {}  # by their first word, stems of the second
_dull: set[str] = set()  # words met before that mean nothing, as most do


def _learn(term: str, cue: int) -> None:
    first, _, second = term.removesuffix("$").partition("-")
    word = first + second
    table = _whole if term.endswith("$") else _stems.setdefault(word[:2], {})
    table[word] = table.get(word, 0) | cue
    if second:
        following = _pairs.setdefault(first, {})
        following[second] = following.get(second, 0) | cue


for _role, _terms in STEMS.items():
    for _term in _terms.split():
        _learn(_term, _BY_NAME[_role])


@lru_cache(maxsize=_REMEMBERED)
def _meaning(word: str) -> tuple[int, dict[str, int] | None]:
    """The cues of one word, and what they become with the word after it."""
    low = word.lower()
    found = _whole.get(low, 0)
    for stem, cue in _stems.get(low[:2], {}).items():
        if low.startswith(stem):
            found |= cue
    following = _pairs.get(low)
    if not found and following is None:
        if len(_dull) >= _REMEMBERED_DULL:
            _dull.clear()
        _dull.add(word)
    return found, following


def cues_of_name(name: str) -> int:
    """The cues in the words of one class list or id of at most MAX_NAME characters."""
    if "hentry" in name or "type-post" in name:
        return ARTICLE  # the rest are the labels of the post, not of its part in the page
    is_plain = name.isascii() and name.islower()
    found = 0
    following: dict[str, int] | None = None
    for word in name.translate(_SPACED).split() if is_plain else _words(name):
        if following is not None:
            second = word.lower()
            for stem, cue in following.items():
                if second.startswith(stem):
                    found |= cue
            following = None
        if word not in _dull:
            cues, following = _meaning(word)
            found |= cues
    return found


class _Names(dict[str | None, int]):
    """The cues of names met before, 0 for no name; to look one up costs less than any call."""

    def __missing__(self, name: str | None) -> int:
        cues = cues_of_name(name[:MAX_NAME]) if name else 0
        if not name or len(name) <= MAX_NAME:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[name] = cues
        return cues


NAMES = _Names()

# Told in one, they are looked for in less time than one by one.
_DECLARING = ":is([role], [itemprop], [hidden], [aria-hidden], [style], [id], [rowspan], [colspan])"


def declared_cues(
    root: Document | Element,
) -> tuple[dict[Element, int], dict[Element, int], dict[Element, tuple[int, int]]]:
    """The cues of those elements that have any besides their classes: by role, property and the
    like; these together with the ones of ids; and the rows and columns of cells that span several.
    """
    declared: dict[Element, int] = {}
    named: dict[Element, int] = {}
    spans: dict[Element, tuple[int, int]] = {}
    for element in root.select(_DECLARING):  # few elements have any, so none is asked for its own
        if element.tag in _CELLS:
            span = _span(element.attr("rowspan")), _span(element.attr("colspan"))
            if span != (1, 1):
                spans[element] = span
        cues = _declared(element)
        if cues:
            declared[element] = named[element] = cues
        own = NAMES[element.attr("id")]
        if own:
            named[element] = cues | own
    if isinstance(root, Element) and (own := NAMES[root.attr("id")]):
        named[root] = named.get(root, 0) | own
    return declared, named, spans


def _span(written: str | None) -> int:
    """How many rows or columns a cell is said to span; what is no number of a few is one."""
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
    if style and _UNSHOWN.search(style.lower()):
        return True
    return (
        element.attr("hidden") is not None or (element.attr("aria-hidden") or "").lower() == "true"
    )
