"""Bylines: who wrote a page and when it was published and modified, as the page states.

Sources by trust: structured data, then meta elements, then marked-up text. Each attribute selector
walks the whole tree. One combined walk finds out whether a page has any of the marked-up elements
(bylines, authors, breadcrumbs), and most have few.
"""

from __future__ import annotations

import re

from turbohtml import Element

from messor.content.dates import read_date
from messor.content.items import PageItem
from messor.content.view import PageView
from messor.web.text import one_line

BYLINES = '[class*="byline" i], [rel~="author"]'
AUTHORS = '[rel~="author"], [itemprop~="author"]'
CRUMBS = (
    '[aria-label*="breadcrumb" i], [class~="breadcrumb" i], [class~="breadcrumbs" i],'
    ' [id="breadcrumb" i], [id="breadcrumbs" i]'
)
# A superset of the selectors above: shorter lists are faster.
_ANY = (
    ':is([rel~="author"], [itemprop~="author"], [class*="byline" i], [class*="breadcrumb" i],'
    ' [aria-label*="breadcrumb" i], [id*="breadcrumb" i])'
)
_FEW = 12
MAX_AUTHORS = 20
_MAX_NAME = 100

_WRITTEN = frozenset(
    (
        "Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "OpinionNewsArticle",
        "AnalysisNewsArticle", "BackgroundNewsArticle", "ReviewNewsArticle", "TechArticle",
        "ScholarlyArticle", "LiveBlogPosting", "SocialMediaPosting", "Report", "CreativeWork",
        "Recipe", "Review", "WebPage", "ItemPage", "VideoObject",
    )
)  # fmt: skip
_PUBLISHED = (
    "article:published_time", "og:published_time", "og:article:published_time", "datepublished",
    "publish-date", "publishdate", "parsely-pub-date", "sailthru.date", "dcterms.created",
    "dcterms.issued", "dc.date.issued", "citation_publication_date", "pubdate", "dc.date",
    "dcterms.date", "date",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time", "og:updated_time", "og:modified_time", "datemodified",
    "dcterms.modified", "dc.date.modified", "last-modified", "lastmod",
)  # fmt: skip
_AUTHORS = (
    "author", "article:author", "og:article:author", "parsely-author", "sailthru.author",
    "dc.creator", "dcterms.creator", "citation_author", "byl",
)  # fmt: skip
_TIMES = "time[pubdate], article time[datetime], main time[datetime], header time[datetime]"
_URL_DATE = re.compile(r"/((?:19|20)\d{2})[/-](\d{2})[/-](\d{2})(?!\d)")
_BY = re.compile(r"^(?:by|von|par|por|di|da|door|av|af|przez|автор)[:\s]+", re.IGNORECASE)


def marked(page: PageView, marks: str) -> list[Element]:
    """Return what one of this module's selectors matches, in page order."""
    known = page.once(_any)
    if len(known) > _FEW:
        return page.document.select(marks)
    return [element for element in known if element.matches(marks)]


def _any(page: PageView) -> list[Element]:
    return page.document.select(_ANY)


def written_items(page: PageView) -> list[PageItem]:
    """Return the page's authored items (articles, reviews and the like), as input for the functions
    below.
    """
    return page.items_of(_WRITTEN)


def modified(page: PageView, written: list[PageItem]) -> str | None:
    """Return when the page was last modified."""
    return _date(page, written, "dateModified", _MODIFIED)


def _date(page: PageView, written: list[PageItem], name: str, names: tuple[str, ...]) -> str | None:
    for item in written:
        for passage in item.texts(name):
            if stated := read_date(passage.text):
                return stated
    metas = page.metas
    for meta in names:
        if meta in metas and (stated := read_date(page.meta_text(meta))):
            return stated
    return None


def published(page: PageView, written: list[PageItem]) -> str | None:
    """Return when the page was published; the date in its URL is the last resort."""
    stated = _date(page, written, "datePublished", _PUBLISHED)
    if stated:
        return stated
    for element in page.document.select(_TIMES)[:3] if page.document.find("time") else ():
        if stated := read_date(element.attr("datetime") or element.text):
            return stated
    dated = _URL_DATE.search(page.path)
    return read_date("-".join(dated.groups())) if dated else None


def authors(page: PageView, written: list[PageItem]) -> list[str]:
    """Return the authors of the page."""
    found: dict[str, None] = {}
    for item in written:
        for name in _names(item, "author") or _names(item, "creator"):
            found.setdefault(name)
        if found:
            return list(found)[:MAX_AUTHORS]
    for meta in _AUTHORS:
        for element in page.metas.get(meta, ())[:MAX_AUTHORS]:
            for name in _split_names(element.attr("content") or ""):
                found.setdefault(name)
        if found:
            return list(found)[:MAX_AUTHORS]
    for element in marked(page, AUTHORS)[:MAX_AUTHORS]:
        for name in _split_names(element.text):
            found.setdefault(name)
    return list(found)[:MAX_AUTHORS]


def _names(item: PageItem, role: str) -> list[str]:
    stated = [passage.text for passage in item.texts(role)]
    for person in item.items(role)[:MAX_AUTHORS]:
        name = person.text("name")
        stated.extend([name.text] if name else [])
    return [name for text in stated for name in _split_names(text)]


def _split_names(text: str) -> list[str]:
    text = _BY.sub("", one_line(text, 4 * _MAX_NAME))
    names = [name.strip() for name in text.split(";" if ";" in text else ",")]
    return [name for name in names if 1 < len(name) <= _MAX_NAME and not name.startswith("http")]
