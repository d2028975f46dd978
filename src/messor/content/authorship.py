"""Authorship: who wrote a page, as it states.

Sources by trust: structured data, then meta elements, then the visible byline and marked-up names. A
head may name who runs the site: a name that visitors do not see gives way to one that they see.
"""

from __future__ import annotations

import re

from turbohtml import Element

from messor.content.author_lines import linked_authors, written_authors
from messor.content.bylines import AUTHORS, REVIEWS, WRITTEN, is_declared_article, marked
from messor.content.datelines import is_product
from messor.content.dates import fold
from messor.content.items import PageItem
from messor.content.page_type import page_type
from messor.content.thread_opener import is_thread, opener
from messor.content.titles import Site
from messor.content.view import PageView
from messor.web.text import one_line

_FEW_AUTHORS = 3  # elements that may all be authors of one page
_MAX_WORDS = 5  # of a name
# Addresses, numbers of accounts and paths are no names.
_NO_NAME = re.compile(r"@|://|^/|^www\.|^[\d\s.-]+$|^[a-z]+-[a-z\d-]+$")
_NICKNAME = re.compile(r"^(.+) \(\1\)$", re.IGNORECASE)
MAX_AUTHORS = 20
_MAX_NAME = 100
_AUTHORS = (
    "author", "article:author", "og:article:author", "parsely-author", "sailthru.author",
    "dc.creator", "dcterms.creator", "citation_author", "byl",
)  # fmt: skip
_OF_OTHERS = frozenset(("home", "listing", "product", "search", "cart", "login", "error"))
_LISTS = frozenset(("CollectionPage", "ItemList", "OfferCatalog", "SearchResultsPage"))
_PUBLISHERS = frozenset(("Organization", "Corporation", "NewsMediaOrganization"))
_JOINT = re.compile(r"^(?:and|und|et|y|e|i|og|och|&)\s+(?=\S+\s)")
_BY = re.compile(r"^(?:by|von|par|por|di|da|door|av|af|przez|автор)[:\s]+", re.IGNORECASE)


def authors(page: PageView, written: list[PageItem], headline: str, site: Site) -> list[str]:
    """Return the authors of the page; of a thread, the one who began it."""
    is_home = page.path.partition("?")[0] == "/"
    if is_home or not (_LISTS.isdisjoint(page.types) or is_declared_article(page)):
        return []  # it names those of other pages
    stated = _stated_authors(page, written, site)
    if stated and any(_is_shown(page, name) for name in stated):
        return stated
    if is_thread(page):
        name = opener(page, headline)
        return stated or ([name] if name else [])
    if is_product(page) or page_type(page).name in _OF_OTHERS:
        return stated  # bylines there are those of reviews and of other pages
    shown = written_authors(page, headline)
    if stated and any(site.may_be_named(name) for name in shown):
        return stated
    return shown or stated or _marked_authors(page) or linked_authors(page)


def _is_shown(page: PageView, name: str) -> bool:
    """Whether visitors see a name; a head may name who runs the site."""
    return " ".join(fold(name).split()) in page.folded


def _stated_authors(page: PageView, written: list[PageItem], site: Site) -> list[str]:
    """Return the authors in structured data, else in the head."""
    remarks = REVIEWS if is_product(page) or _is_reviewed(written) else frozenset[str]()
    for item in (each for each in written if not each.is_a(remarks)):
        names = _distinct(_names(item, "author") or _names(item, "creator"))
        if found := [name for name in names if not _is_publisher(item, name, site)]:
            return found
    reviewers = {name for item in written if item.is_a(REVIEWS) for name in _names(item, "author")}
    for meta in _AUTHORS:
        stated = [each.attr("content") or "" for each in page.metas.get(meta, ())[:MAX_AUTHORS]]
        split = _in_order if meta == "citation_author" else _split_names
        names = _distinct([name for text in stated for name in split(text)])
        if found := [name for name in names if name not in reviewers]:
            return found
    return []


def _is_publisher(item: PageItem, name: str, site: Site) -> bool:
    """Whether an author is the organisation whose site this is."""
    return site.may_be_named(name) and any(
        each.is_a(_PUBLISHERS) for each in item.items("author")[:MAX_AUTHORS]
    )


def _is_reviewed(written: list[PageItem]) -> bool:
    """Whether a page holds several reviews: they are by others, of what it is about."""
    return sum(item.is_a(REVIEWS) for item in written) > 1


def _marked_authors(page: PageView) -> list[str]:
    """Return the authors that elements are marked as; where there are many, each wrote a remark."""
    found: list[str] = []
    elements = [each for each in marked(page, AUTHORS)[:MAX_AUTHORS] if _is_of_page(each)]
    for element in elements:
        named = element.select_one('[itemprop~="name"], a') or element
        found += [name for name in _split_names(named.text) if len(name.split()) <= _MAX_WORDS]
    distinct = _distinct(found)
    return distinct[:1] if len(elements) > _FEW_AUTHORS else distinct


def _is_of_page(element: Element) -> bool:
    """Whether the innermost item around a marked author is one that a page can be."""
    scope = element.parent.closest("[itemtype]") if isinstance(element.parent, Element) else None
    kind = "" if scope is None else (scope.attr("itemtype") or "").rpartition("/")[2]
    return not kind or (kind in WRITTEN and kind not in REVIEWS)


def _distinct(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))[:MAX_AUTHORS]


def _names(item: PageItem, role: str) -> list[str]:
    stated = [passage.text for passage in item.texts(role)]
    for person in item.items(role)[:MAX_AUTHORS]:
        name = person.text("name")
        stated.extend([name.text] if name else [])
    return [name for text in stated for name in _split_names(text)]


def _in_order(text: str) -> list[str]:
    """Return a name of a citation, where the family's comes first: "Berger, Emery D."."""
    family, _, given = text.partition(",")
    return _split_names(f"{given.strip()} {family.strip()}" if given else text)


def _split_names(text: str) -> list[str]:
    text = _BY.sub("", one_line(text, 4 * _MAX_NAME))
    parts = text.split(";" if ";" in text else ",")
    names = [_NICKNAME.sub(r"\1", _JOINT.sub("", part.strip())) for part in parts]
    return [name for name in names if 1 < len(name) <= _MAX_NAME and not _NO_NAME.search(name)]
