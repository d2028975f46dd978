"""The date of publication that stands in a page's text, URL or scripts, where no head states one.

A date counts as the page's if it is close to the headline, in an element named after dates, or
labelled as the date of publication. Dates of comments, related pages and copyright lines are
further from the headline than the page's own; dates of modification are the last resort.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from turbohtml import Element

from messor.content.dates import fold, read_date
from messor.content.titles import letters
from messor.content.view import PageView, host_of
from messor.content.visible_lines import INLINE, first_text
from messor.core.words import load, phrases

_MAX_DATELINE = 160  # characters of a line that states a date and little else
_MAX_BEFORE = 60  # characters before the date at the start of a paragraph
_ABOVE, _BELOW = 6, 14  # lines around the headline
_AT_HEADLINE = 14.0  # greatest rank of a date that belongs to the headline for certain
_NEAR = 27.0
_MODIFIED = 50.0
_LISTED = 3  # different dates
_PRODUCTS = frozenset(("Product", "ProductGroup"))
_MAX_CANDIDATES = 60
_MAX_MARKED = 200
_DIGITS = "0000"  # of a line that may hold a date, as marks
_MAX_SCRIPT = 400_000
_MAX_SCRIPTS = 40

_WORDS = load("messor.content", "datelines")
# A year, or a date whose year has two digits.
_may_hold_date = re.compile(r"(?:19|20)\d\d|(?<!\d)\d\d?[./]\d\d?[./]\d\d(?!\d)").search
_NAMED = re.compile(
    r"date|datum|publi|posted|created|timestamp|pubtime|erstell|fecha|\btime\b", re.IGNORECASE
)
_NEAR_NAMED = re.compile(
    r"meta|byline|author|autor|info|submitted|dachzeile|tagline|topline", re.IGNORECASE
)
_MODIFIED_NAMED = re.compile(r"modif|updated|changed|lastmod", re.IGNORECASE)
_OTHERS = re.compile(
    r"comment|kommentar|related|teaser|sidebar|widget|(?<![a-z]-)footer|copyright|archive|calendar",
    re.IGNORECASE,
)
_PUBLISHED_LABEL, _MODIFIED_LABEL = (
    re.compile(rf"(?<!\w)(?:{'|'.join(phrases(_WORDS[name]))})(?!\w)")
    for name in ("published", "modified")
)
_COPYRIGHT = re.compile(r"©|\(c\)|copyright", re.IGNORECASE)
_URL_DATE = re.compile(r"/((?:19|20)\d{2})[/-]?(\d{2})[/-]?(\d{2})(?!\d)")
_URL_DAY_FIRST = re.compile(r"[/-](\d{2})-?(\d{2})-?((?:19|20)\d{2})(?!\d)")
_SCRIPT_DATE = re.compile(
    r"""["']?(?:date_?published|published?_?(?:at|on|date|time)|publication_?date|publishing_?date|"""
    r"""cmspublishingdate|pub_?date|created_?(?:at|date|on))["']?\s*:\s*"""
    r"""["'](\d{4}-\d{2}-\d{2}[^"']{0,20}|\d{1,2}\.\d{1,2}\.\d{4}[^"']{0,10})["']""",
    re.IGNORECASE,
)
_SCRIPT_KEYS = ("ublish", "created", "ublication", "pub_date", "pubdate", "pubDate")
_ATTRIBUTES = ('="20', "='20", '="19', "='19")  # how dates in attributes start, as good as always
_has_year = re.compile(r"""=["'](?:19|20)\d\d""").search
_MARKED = (
    'time, abbr[title], [class*="date" i], [class*="publish" i], [class*="updated" i],'
    ' [property*="date" i], [itemprop*="date" i]'
)
# Where the month comes first: the United States and the Philippines.
_MONTH_FIRST = frozenset(("us", "ph"))
_DAY_FIRST_TOPS = frozenset(("uk", "au", "nz", "ie", "in", "za", "eu"))


@dataclass(frozen=True, slots=True)
class _Dated:
    """A date in a line: the lower the rank, the likelier it is the page's."""

    rank: float
    date: str


def is_day_first(page: PageView, language: str) -> bool:
    """Whether the day comes first in a date of numbers, by the language and country of a page."""
    top = host_of(page.url).rpartition(".")[2].lower()
    name, _, region = language.lower().partition("-")
    if name and name != "en":
        return True
    if region:
        return region not in _MONTH_FIRST
    return len(top) == 2 and top not in _MONTH_FIRST


def url_date(page: PageView) -> str | None:
    """Return the date in the path of a page's URL."""
    if dated := _URL_DATE.search(page.path):
        return read_date("-".join(dated.groups()))
    if dated := _URL_DAY_FIRST.search(page.path):
        day, month, year = dated.groups()
        return read_date(f"{year}-{month}-{day}")
    return None


def written_date(
    page: PageView, headline: str, language: str, *, at_headline: bool = False
) -> str | None:
    """Return the date of publication in a page's text; None without one.

    With `at_headline`, only a date right at the headline or marked as that of publication counts.
    """
    day_first = is_day_first(page, language)
    # Dates away from the headline would only be left out again.
    lines = _lines_near if at_headline or is_product(page) else _lines
    found = [*_marked(page, day_first), *lines(page, headline, day_first)]
    best = min(found, key=lambda each: each.rank, default=None)
    if best is None or (at_headline and best.rank > _AT_HEADLINE):
        return None
    return None if best.rank > _NEAR and _is_of_others(page, found) else best.date


def _is_of_others(page: PageView, found: list[_Dated]) -> bool:
    """Whether dates away from the headline are those of reviews, or of the entries of a list."""
    days = {each.date[:10] for each in found if each.rank < _MODIFIED}
    return len(days) >= _LISTED or is_product(page)


def is_product(page: PageView) -> bool:
    """Whether a page states a product: its dates are those of reviews."""
    return not _PRODUCTS.isdisjoint(page.types)


def script_date(page: PageView) -> str | None:
    """Return the first date of publication in the state that a page's scripts hold."""
    for script in page.document.find_all("script")[:_MAX_SCRIPTS]:
        text = script.text[:_MAX_SCRIPT]
        # Most scripts name none of the keys, and find() is much faster than the pattern.
        if any(key in text for key in _SCRIPT_KEYS):
            stated = _SCRIPT_DATE.search(text)
            if stated is not None:
                return read_date(stated[1])
    return None


def _marked(page: PageView, day_first: bool) -> Iterator[_Dated]:
    """Yield dates in attributes of elements named after dates."""
    source = page.source.text
    if not (any(start in source for start in _ATTRIBUTES) and _has_year(source)):
        return
    for place, element in enumerate(page.document.select(_MARKED)[:_MAX_MARKED]):
        stated = element.attr("datetime") or element.attr("content") or element.attr("title") or ""
        date = read_date(stated, day_first=day_first) if _may_hold_date(stated) else None
        if date is None:
            continue
        names = names_around(element)
        if _OTHERS.search(names) or element.closest("aside, footer, nav") is not None:
            continue
        rank = 20.0 + place / 10
        rank -= 6 if "published" in names.lower() or element.attr("pubdate") is not None else 0
        rank += 30 if _MODIFIED_NAMED.search(names) else 0
        yield _Dated(rank, date)


def _lines(page: PageView, headline: str, day_first: bool) -> Iterator[_Dated]:
    """Yield dates in visible lines."""
    texts = page.visible_lines.texts
    title = headline_line(texts, headline)
    tries = 0
    for number, (text, marks) in enumerate(zip(texts, page.marks, strict=True)):
        if _DIGITS not in marks or not _may_hold_date(text):
            continue
        tries += 1
        if tries > _MAX_CANDIDATES:
            return
        yield from _dated(page, number, title, day_first)


def _lines_near(page: PageView, headline: str, day_first: bool) -> Iterator[_Dated]:
    """Yield dates in the lines around the headline."""
    texts = page.visible_lines.texts
    title = headline_line(texts, headline)
    if title is not None:
        for number in range(max(0, title - _ABOVE), min(len(texts), title + _BELOW + 1)):
            if _may_hold_date(texts[number]):
                yield from _dated(page, number, title, day_first)


def _dated(page: PageView, number: int, title: int | None, day_first: bool) -> Iterator[_Dated]:
    """Yield the date of a line, if it may be the page's."""
    text = page.visible_lines.texts[number]
    date = _date_at_start(text, day_first)
    if date is None or _COPYRIGHT.search(text[:200]):
        return
    parent = first_text(page.visible_lines.firsts[number]).parent
    names = names_around(parent) if isinstance(parent, Element) else ""
    folded = fold(text[: 2 * _MAX_DATELINE])
    rank = _rank(folded, names, None if title is None else number - title)
    if rank is not None:
        yield _Dated(rank + number / 1e5, date)


def _date_at_start(text: str, day_first: bool) -> str | None:
    """Return the date of a short line, or one at the start of a paragraph."""
    if len(text) > _MAX_DATELINE:
        return read_date(text[:_MAX_BEFORE], day_first=day_first)
    return read_date(text, day_first=day_first, short_years=True)


def _rank(folded: str, names: str, distance: int | None) -> float | None:
    """Return how unlikely a date is the page's own; None if it is not."""
    rank = 40.0
    if distance is not None and -_ABOVE <= distance <= _BELOW:
        rank = 12.0 + (distance if distance >= 0 else 2 - distance)
    elif distance is not None and distance < 0:
        rank = 60.0  # above the headline: today's date, or another page's
    if _OTHERS.search(names) and rank >= 40.0:
        return None
    is_short = len(folded) <= _MAX_DATELINE
    if _MODIFIED_LABEL.search(folded[:_MAX_DATELINE]) or _MODIFIED_NAMED.search(names):
        rank += 30
    elif is_short and _PUBLISHED_LABEL.search(folded):
        rank -= 12
    elif _NAMED.search(names):
        rank -= 8
    elif _NEAR_NAMED.search(names):
        rank -= 4
    rank += len(folded) / 40 if is_short else 10
    return rank


def headline_line(texts: list[str], headline: str) -> int | None:
    """Return the first line that is the headline."""
    wanted = letters(headline)
    if len(wanted) < 3:
        return None
    least, most = len(headline) - 40, len(headline) + 60
    begins = (headline[0], headline[0].lower(), headline[0].upper())
    for number, text in enumerate(texts):
        if (
            least <= len(text) <= most
            and text.lstrip().startswith(begins)
            and (letters(text).startswith(wanted))
        ):
            return number
    return None


def names_around(element: Element) -> str:
    """Return the class names and ids of an element and the two around it."""
    found = []
    node: Element | None = element
    blocks = 0
    while node is not None and blocks < 2:
        found.append(
            f"{node.attr('class') or ''} {node.attr('id') or ''} {node.attr('itemprop') or ''}"
        )
        blocks += node.tag not in INLINE
        parent = node.parent
        node = parent if isinstance(parent, Element) and parent.tag != "body" else None
    return " ".join(found)
