"""Authors in the byline at a headline, where neither structured data nor the head names them."""

from __future__ import annotations

import re

from turbohtml import Element

from messor.content.datelines import headline_line, names_around
from messor.content.dates import fold, read_date
from messor.content.view import PageView
from messor.content.visible_lines import first_text
from messor.core.words import load

_ABOVE, _BELOW = 4, 16  # lines around the headline
_MAX_LINE = 140
# An initial or a title ends in a dot; any other word that does ends a sentence.
_PART = r"[^\W\d_a-z](?:\w{0,3}\.|[\w'\u2019-]*)(?!\w)"
_NAME = rf"{_PART}(?:\s(?:(?:van|von|de|der|den|di|da|del|la|le|bin|al)\s)*{_PART}){{1,3}}"
_NAMES = rf"{_NAME}(?:(?:,\s|,?\s(?:and|und|et|y|&)\s){_NAME}){{0,5}}"
_BY = re.compile(
    r"(?:^|[|\u2022\u00b7\u2013-]\s|\s)(?i:(?:written|posted|words|story|reviewed|published|article)?\s?by|authors?|von|par|por|di|door|text|autor(?:in)?)"
    rf"(?::\s?|\s)({_NAMES})"
)
_ALONE = re.compile(_NAMES)
_NAMED = re.compile(r"author|byline|writer|contributor|autor|verfasser", re.IGNORECASE)
# Words of the line that follow a name.
_AFTER = re.compile(
    r"\s(?:View|See|Read|Follow|Updated|Published|Posted|On|In|Last|Share|Contributor|Staff|Editor|Reviewed)\b.*$"
)
# A line of its own above the name.
_LABEL = re.compile(
    r"(?i:(?:written|posted|words|story|reviewed|published|article|text)?\s?by|authors?|autor(?:in)?|von|par|por|di)\s?:?"
)
_LINKED = (
    ':is(a[href*="/author/" i], a[href*="/authors/" i], [class*="author" i] a,'
    ' [class*="author-name" i], [class~="u-author"], [class~="p-author"])'
)
_AUTHORED = re.compile(r"/authors?/|(?:^|[\s_-])[up]?-?authors?(?:$|[\s_-])", re.IGNORECASE)
_ASIDE = "footer, nav, aside, [class*='comment' i], [class*='related' i]"
_MAX_LINKED = 60
_FEW = 2  # authors of one page, found by links alone
# A name beside a date: "Jane Doe, 1 May 2024", "01.05.2024 - Jane Doe".
_DATED = re.compile(
    rf"({_NAMES})(?:,\s|\s[|\u2022\u00b7\u2013-]\s)(?=[^|]*\b(?:19|20)\d\d\b)|[^|]{{0,25}}\b(?:19|20)\d\d(?:,\s|\s[|\u2022\u00b7\u2013-]\s)({_NAMES})$"
)
_MAX_DATED = 60
_OF_DATES = frozenset(
    word
    for name in ("months", "days")
    for words in load("messor.content", name).values()
    for word in words.split()
)
# A line that says nothing else, wherever it stands.
_SIGNED = re.compile(
    rf"(?:[Ww]ritten [Bb]y|Authors?:|Author [Nn]ame:)\s({_NAMES})(?=$|,|\s[|\u2022\u00b7(])"
)
# One name, as of an account, between "by" and the date.
_ACCOUNT = re.compile(
    r"\b(?i:posted|submitted|written|shared|published)\sby\s(\w[\w.-]+)(?=$|\son\s|\s\d|\sfrom\s)|^(?:[Bb]y|BY|[Vv]on)\s([^\W\d]\w+)(?=$|,|\s[|\u2022\u00b7])"
)
_JOINTS = re.compile(r",\s|,?\s(?:and|und|et|y|&)\s")


def written_authors(page: PageView, headline: str) -> list[str]:
    """Return the names in the byline: after "by", or alone in an element named after authors."""
    texts = page.visible_lines.texts
    title = headline_line(texts, headline)
    if title is None:
        return []
    near = range(max(0, title - _ABOVE), min(len(texts), title + _BELOW + 1))
    for number in sorted(near, key=lambda each: (each < title, abs(each - title))):
        if number != title and (names := _names_in(page, number)):
            return [name for each in _JOINTS.split(names) if (name := _AFTER.sub("", each))]
    return []


def _names_in(page: PageView, number: int) -> str:
    """Return the names that a line states as authors."""
    texts = page.visible_lines.texts
    text = " ".join(texts[number].split())
    if len(text) > _MAX_LINE:
        return ""
    if stated := _BY.search(text):
        return stated[1]
    if account := _ACCOUNT.search(text):
        return account[1] or account[2]
    if _ALONE.fullmatch(text) is None:
        return _beside_date(text)
    if number and _LABEL.fullmatch(texts[number - 1].strip()):
        return text
    parent = first_text(page.visible_lines.firsts[number]).parent
    around = names_around(parent) if isinstance(parent, Element) else ""
    return text if _NAMED.search(around) else ""


def _beside_date(text: str) -> str:
    """Return the names beside a date in a line that says nothing else."""
    dated = _DATED.match(text) if len(text) <= _MAX_DATED else None
    if dated is None:
        return ""
    names = dated[1] or dated[2]
    words = set(fold(names).replace(",", " ").split())
    return "" if read_date(text) is None or words & _OF_DATES else names


def linked_authors(page: PageView) -> list[str]:
    """Return the authors whose own pages are linked, or who signed the page away from its headline.

    They count if they are few: a list of pages has one for each entry.
    """
    found: dict[str, None] = {}
    for element in page.document.select(_LINKED)[:_MAX_LINKED]:
        text = " ".join(element.text.split())
        if _ALONE.fullmatch(text) and _is_authored(element) and element.closest(_ASIDE) is None:
            found.setdefault(text)
    if not found:
        for text in page.visible_lines.texts:
            signed = _SIGNED.match(text) if len(text) <= _MAX_LINE else None
            if signed is not None:
                found.update(dict.fromkeys(_JOINTS.split(signed[1])))
    return list(found) if len(found) <= _FEW else []


def _is_authored(element: Element) -> bool:
    """Whether a link or the classes around it name an author, and not an authorisation."""
    parent = element.parent
    around = (parent.attr("class") or "") if isinstance(parent, Element) else ""
    return any(
        _AUTHORED.search(text)
        for text in (element.attr("href") or "", element.attr("class") or "", around)
    )
