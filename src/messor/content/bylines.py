"""Bylines: what marks them on a page, and when it was published and modified, as it states.

Sources by trust: structured data, then meta elements, then marked-up text. Each attribute selector
walks the whole tree. One combined walk finds out whether a page has any of the marked-up elements
(bylines, authors, breadcrumbs), and most have few.
"""

from __future__ import annotations

from datetime import date

from turbohtml import Element

from messor.content.datelines import is_product, script_date, url_date, written_date
from messor.content.dates import read_date
from messor.content.items import PageItem
from messor.content.view import PageView

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

WRITTEN = frozenset(
    (
        "Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "OpinionNewsArticle",
        "AnalysisNewsArticle", "BackgroundNewsArticle", "ReviewNewsArticle", "TechArticle",
        "ScholarlyArticle", "LiveBlogPosting", "SocialMediaPosting", "DiscussionForumPosting", "Question", "Report", "CreativeWork",
        "Recipe", "Review", "WebPage", "ItemPage", "VideoObject",
    )
)  # fmt: skip
_PUBLISHED = (
    "article:published_time", "og:published_time", "og:article:published_time", "datepublished",
    "publish-date", "publishdate", "parsely-pub-date", "sailthru.date", "dcterms.created",
    "dcterms.issued", "dc.date.issued", "citation_publication_date", "pubdate", "dc.date.created", "citation_online_date", "citation_date",
    "bepress_citation_date", "article.published", "article:published", "published_at", "published",
    "publication_date", "article_date_original", "og:pubdate", "pub_date",
)  # fmt: skip
# Of the page as a file: often that of its template.
_MADE = ("dc.date", "dcterms.date", "dc:date", "creation_date", "date")
_MODIFIED = (
    "article:modified_time", "og:updated_time", "og:modified_time", "datemodified",
    "dcterms.modified", "dc.date.modified", "last-modified", "lastmod",
)  # fmt: skip
_PAGES = frozenset(("WebPage", "ItemPage"))  # which often describe the template
REVIEWS = frozenset(("Review", "VideoObject"))  # of a product
REMARKS = frozenset(("Comment", "Answer", "UserReview", "Rating", "Review", "VideoObject"))


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
    return page.items_of(WRITTEN)


def is_declared_article(page: PageView) -> bool:
    """Whether a page says that it is an article."""
    return (
        "article:published_time" in page.metas
        or page.meta_text("og:type").lower() == "article"
        or any(each.endswith(("Article", "BlogPosting")) for each in page.types)
    )


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


def published(page: PageView, written: list[PageItem], headline: str, language: str) -> str | None:
    """Return when the page was published, from the most trustworthy source that says so."""
    reviews = REVIEWS if is_product(page) else frozenset[str]()
    articles = [item for item in written if not (item.is_a(_PAGES) or item.is_a(reviews))]
    pages = [item for item in written if item.is_a(_PAGES)]
    stated = _date(page, articles, "datePublished", _PUBLISHED)
    if stated is None and (of_page := _date(page, pages, "datePublished", _MADE)):
        stated = written_date(page, headline, language, at_headline=True) or of_page
    in_url = url_date(page)
    if stated:
        return in_url if in_url and _is_next_day(stated, in_url) else stated
    return (
        in_url
        or written_date(page, headline, language)
        or _date(page, _others(page), "datePublished", ())
        or (None if is_product(page) else script_date(page))
    )


def _is_next_day(stated: str, in_url: str) -> bool:
    """Whether a time in UTC and the local date in a URL mean the same moment."""
    if not stated.endswith("+00:00") or stated[:10] == in_url[:10]:
        return False
    apart = date.fromisoformat(stated[:10]) - date.fromisoformat(in_url[:10])
    return abs(apart.days) == 1


def _others(page: PageView) -> list[PageItem]:
    """Return the items that are neither authored nor somebody else's comment."""
    return [item for item in page.items if not (item.is_a(WRITTEN) or item.is_a(REMARKS))]
