"""Metadata: what a page states about itself in its head, structured data and headings.

Nothing is guessed: each value is one the page states, from the most trustworthy source. Page
content is the job of the record readers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
from turbohtml import Element

from messor.content.authorship import authors
from messor.content.bylines import (
    CRUMBS,
    is_declared_article,
    marked,
    modified,
    published,
    written_items,
)
from messor.content.items import PageItem
from messor.content.languages import written_in
from messor.content.plain import one_space
from messor.content.titles import Titled, headline, site_name, site_of
from messor.content.view import PageView, host_of
from messor.web.text import one_line, storable
from messor.web.urls import address

MAX_TITLE = 1_000
MAX_DESCRIPTION = 4_000
MAX_HEADINGS = 200
MAX_LINKS = 500
_MAX_NAME = 100
_SENTENCE = 40  # characters of a line that is more than a name
_PLENTY = 2_000

_FEEDS = {
    "application/rss+xml": "rss",
    "application/atom+xml": "atom",
    "application/feed+json": "json",
}
_KEYWORDS = frozenset(("keywords", "news_keywords", "article:tag"))
_TRAILS = frozenset(("BreadcrumbList",))
_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_position = attrgetter("position")
_LANGUAGE = re.compile(
    r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?![A-Za-z])"
)


class Heading(msgspec.Struct, frozen=True):  # a page has many, and structs are cheap to create
    level: int
    text: str


class Crumb(NamedTuple):
    name: str
    url: str | None


class Feed(NamedTuple):
    url: str
    kind: str  # rss, atom or json
    title: str


@dataclass(slots=True)
class Metadata:
    """Metadata of a page; dates are ISO 8601, URLs absolute, languages BCP 47."""

    title: str = ""  # as browsers show it, often with the site's name
    headline: str = ""
    description: str = ""
    language: str = ""  # as the page claims
    text_language: str = ""  # as detected in its text
    site_name: str = ""
    canonical: str | None = None
    published: str | None = None
    modified: str | None = None
    authors: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    image: str | None = None
    opengraph: dict[str, str] = field(default_factory=dict)
    headings: list[Heading] = field(default_factory=list)
    breadcrumbs: list[Crumb] = field(default_factory=list)
    feeds: list[Feed] = field(default_factory=list)
    hreflang: dict[str, str] = field(default_factory=dict)
    favicon: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return all known values as JSON-compatible data; unknown ones are left out."""
        found: dict[str, Any] = {
            name: value for name in self.__slots__ if (value := getattr(self, name))
        }
        if self.headings:
            found["headings"] = [{"level": each.level, "text": each.text} for each in self.headings]
        for name in ("breadcrumbs", "feeds"):
            if name in found:
                found[name] = [each._asdict() for each in found[name]]
        return found


def read_metadata(page: PageView) -> Metadata:
    """Read the metadata of a page."""
    found = Metadata()
    found.opengraph = _opengraph(page)
    found.headings = _headings(page)
    found.title = _title(page, found)
    found.description = _meta(
        page, MAX_DESCRIPTION, "description", "og:description", "dc.description"
    )
    found.site_name = _meta(page, _MAX_NAME, "og:site_name", "application-name")
    found.language = _language(page)
    found.text_language = written_in(_running_text(page))
    found.keywords = _keywords(page)
    found.image = _absolute(page, found.opengraph.get("image", ""))
    _read_links(page, found)
    written = written_items(page)
    _read_headline(page, found)
    language = found.language or found.text_language
    found.published = published(page, written, found.headline, language)
    found.modified = modified(page, written)
    found.authors = authors(
        page, written, found.headline, site_of(found.site_name, host_of(page.url))
    )
    found.breadcrumbs = _breadcrumbs(page)
    return found


def normal_language(text: str) -> str:
    """Return a language tag in canonical form: "DE_de" is "de-DE"; empty if it is none."""
    if len(text) == 2 and text.isascii() and text.isalpha():  # the usual form
        return text.lower()
    match = _LANGUAGE.match(text.strip())
    if match is None:
        return ""
    language, script, region = match.groups()
    parts = [language.lower(), (script or "").capitalize(), (region or "").upper()]
    return "-".join(part for part in parts if part)


def _meta(page: PageView, limit: int, *names: str) -> str:
    return one_line(page.meta_text(*names), limit)


def _absolute(page: PageView, href: str) -> str | None:
    href = href.strip()
    return address(href, page.base) if href else None


def _opengraph(page: PageView) -> dict[str, str]:
    return {
        storable(name[3:]): storable(elements[0].attr("content") or "")
        for name, elements in page.metas.items()
        if name.startswith("og:")
    }


def _title(page: PageView, found: Metadata) -> str:
    for element in page.document.select("title")[:20]:
        text = element.text
        if text.strip() and element.closest("svg") is None:
            return one_line(text, MAX_TITLE)
    first = next((heading.text for heading in found.headings if heading.level == 1), "")
    return one_line(found.opengraph.get("title", "") or first, MAX_TITLE)


def _read_headline(page: PageView, found: Metadata) -> None:
    """Tell the headline from the site's name."""
    site = site_of(found.site_name, host_of(page.url))
    stated = (each.text for item in page.items for each in item.texts("headline"))
    titles = [found.title, found.opengraph.get("title", ""), next(stated, "")]
    headings = [Titled(each.level, each.text) for each in found.headings]
    is_article = is_declared_article(page)
    found.headline = one_line(headline(titles, headings, site, is_article=is_article), MAX_TITLE)
    found.site_name = found.site_name or one_line(site_name(found.title, site), _MAX_NAME)


def _headings(page: PageView) -> list[Heading]:
    found = []
    for element in _heading_elements(page)[: 2 * MAX_HEADINGS]:
        text = one_space(element.text)
        if len(text) > MAX_TITLE or not text.isascii():  # otherwise it can be stored unchanged
            text = one_line(text, MAX_TITLE)
        if text:
            found.append(Heading(_LEVELS[element.tag], text))
    return found[:MAX_HEADINGS]


def _heading_elements(page: PageView) -> list[Element]:
    """Return the headings in source order, where content misplaced in a table is still inside it."""
    find_all = page.document.find_all
    # The tree indexes elements by tag; finding all levels at once would walk all of it.
    found = [element for name in _LEVELS for element in find_all(name)]
    if None in map(_position, found):  # parsed without source locations
        return list(page.document.iter_elements(_LEVELS))
    return sorted(found, key=_position)


def _language(page: PageView) -> str:
    root = page.document.find("html")
    stated = "" if root is None else root.attr("lang") or root.attr("xml:lang") or ""
    return (
        normal_language(stated)
        or normal_language(_meta(page, 64, "content-language", "language", "dc.language"))
        or normal_language(_meta(page, 64, "og:locale"))
        or normal_language(
            next((p.text for item in page.items for p in item.texts("inLanguage")), "")
        )
    )


def _running_text(page: PageView) -> str:
    """Return enough of the longer lines to detect a language."""
    text = ""
    body = page.body
    for line, size in zip(body.texts, body.sizes, strict=True):
        if size > _SENTENCE:
            text += f"{line}\n"
            if len(text) > _PLENTY:
                break
    return text


def _keywords(page: PageView) -> list[str]:
    if _KEYWORDS.isdisjoint(page.metas):
        return []
    words = _meta(page, MAX_DESCRIPTION, "keywords", "news_keywords").split(",")
    tags = [(element.attr("content") or "") for element in page.metas.get("article:tag", ())]
    found = dict.fromkeys(one_line(word, _MAX_NAME) for word in words + tags)
    return [word for word in found if word][:50]


def _read_links(page: PageView, found: Metadata) -> None:
    for link in page.document.select("link[rel][href]")[:MAX_LINKS]:
        rel = (link.attr("rel") or "").lower().split()
        if "canonical" in rel:
            found.canonical = found.canonical or _target(page, link)
        elif "alternate" in rel:
            _read_alternate(page, link, found)
        elif "icon" in rel or "apple-touch-icon" in rel:
            found.favicon = found.favicon or _target(page, link)


def _target(page: PageView, link: Element) -> str | None:
    return _absolute(page, link.attr("href") or "")


def _read_alternate(page: PageView, link: Element, found: Metadata) -> None:
    kind = _FEEDS.get((link.attr("type") or "").strip().lower())
    hreflang = (link.attr("hreflang") or "").strip()
    default = hreflang.lower() == "x-default"
    language = "x-default" if default else normal_language(hreflang)
    url = _target(page, link) if kind or language else None
    if url is None:
        return
    if kind:
        found.feeds.append(Feed(url, kind, one_line(link.attr("title") or "", _MAX_NAME)))
    else:
        found.hreflang.setdefault(language, url)


def _breadcrumbs(page: PageView) -> list[Crumb]:
    for item in page.items_of(_TRAILS):
        crumbs = [_crumb(page, each) for each in item.items("itemListElement")[:50]]
        if found := [crumb for crumb in crumbs if crumb.name]:
            return found
    anchors = [
        Crumb(one_line(each.text, _MAX_NAME), _absolute(page, each.attr("href") or ""))
        for trail in marked(page, CRUMBS)[:1]
        for each in trail.select("a[href]")[:20]
    ]
    return [crumb for crumb in anchors if crumb.name]


def _crumb(page: PageView, element: PageItem) -> Crumb:
    target = element.item("item")
    name = element.text("name") or (target.text("name") if target else None)
    url = element.text("item") or (target.text("@id", "id", "url") if target else None)
    return Crumb(
        one_line(name.text, _MAX_NAME) if name else "",
        _absolute(page, url.text) if url else None,
    )
