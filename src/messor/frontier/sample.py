"""Sampling: which pages of a site to read when only a few may be read.

The homepage first, then the key pages of each category in turn, shallow before deep, in the
homepage's language; pages that only repeat others are left out. The same candidates give the same
choice in any order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from messor.frontier.categories import FORMAL, HOME, is_language
from messor.frontier.depth import UNKNOWN_DEPTH
from messor.frontier.traps import pattern_key, trap_of
from messor.web.urls import Url, canonical, parse

LIGHT_LIMIT = 12
STANDARD_LIMIT = 25
# Key pages of every business first, then those that only some have.
ORDER = ("about", "services", "contact", "pricing", "products", "menu", "faq", None)

_NO_TIME = datetime.min.replace(tzinfo=UTC)
_ARCHIVE = re.compile(
    r"/(?:tags?|author|authors|archives?|label|search|feed|rss|amp|print"
    r"|wp-json|wp-content|cdn-cgi|trackback)(?:/|\.|$)",
    re.IGNORECASE,
)
_NO_PAGE = re.compile(
    r"\.(?:pdf|jpe?g|png|gif|webp|avif|svg|ico|css|js|json|xml|rss|atom|gz|zip|rar|7z|exe|dmg|apk"
    r"|mp[34]|m4[av]|avi|mov|webm|wav|ogg|docx?|xlsx?|pptx?|csv|ics|vcf|woff2?|ttf)$",
    re.IGNORECASE,
)
# Lists of a shop or blog: worth reading, but after self-contained pages.
_MINOR = FORMAL | {"category", "categories", "kategorie", "categorie", "categoria"}
_WORD = re.compile(r"[a-z]+")
_LANGUAGE_QUERY = re.compile(r"(?:lang|language|locale|hl|lng|l)=[\w-]+\Z")


@dataclass(frozen=True, slots=True)
class SampleCandidate:
    """A candidate page, and what is known of it without reading it."""

    url: str
    category: str | None = None
    score: float = 0.0  # confidence of its category; a landing page above those below it
    depth: int = 0
    found_by: str = "link"
    anchor: str = ""
    priority: float | None = None  # according to a sitemap
    lastmod: datetime | None = None


class PageOrigin(StrEnum):
    """How a page came to be read; the words beside it are for people."""

    HOMEPAGE = "homepage"
    REQUESTED = "requested"
    REDIRECT = "redirect"  # another page that was read redirects to it
    SAMPLED = "sampled"


@dataclass(frozen=True, slots=True)
class SampledPage:
    """A page to read, and why it was chosen, in a few words."""

    candidate: SampleCandidate
    reason: str
    origin: PageOrigin = PageOrigin.SAMPLED


@dataclass(frozen=True, slots=True)
class _Page:
    candidate: SampleCandidate
    url: Url
    language: str
    core: str  # the path without its language

    @property
    def category(self) -> str | None:
        return self.candidate.category


def sample(candidates: Sequence[SampleCandidate], limit: int, year: int) -> list[SampledPage]:
    """At most `limit` pages in reading order; `year` is the current one."""
    pages = _distinct(candidates, year)
    if not pages or limit <= 0:
        return []
    home = min(pages, key=_home_rank)
    chosen = [_home(home)]
    language = _main_language(home, pages)
    ranked = sorted((page for page in pages if page is not home), key=_rank)
    own = [page for page in ranked if page.language in (language, home.language)]
    shown = {page.core for page in (home, *own)}
    foreign = [page for page in ranked if page.language not in (language, home.language)]
    translations = _one_each(page for page in foreign if page.core not in shown)
    seeds = [page for page in own if page.candidate.found_by == "seed"]
    chosen += [SampledPage(page.candidate, "asked for", PageOrigin.REQUESTED) for page in seeds]
    chosen += _in_turn([page for page in own if page.candidate.found_by != "seed"])
    chosen += _in_turn(translations)
    return chosen[:limit]


def _distinct(candidates: Iterable[SampleCandidate], year: int) -> list[_Page]:
    """The distinct candidates in a fixed order."""
    pages: dict[str, _Page] = {}
    for candidate in sorted(candidates, key=lambda each: (each.url, each.found_by != "seed")):
        url = parse(candidate.url)
        if url is None or (candidate.found_by != "seed" and _is_repetition(url, year)):
            continue
        language, core = _split_language(url.path)
        pages.setdefault(_same_page(url), _Page(candidate, url, language, core))
    return list(pages.values())


def _same_page(url: Url) -> str:
    """One key for http and https, with or without "www.", a final slash or index."""
    _, _, rest = canonical(url).partition("://")
    rest = re.sub(r"/(?:index\.\w+)?$", "", rest.removeprefix("www."))
    return rest or "/"


def _is_repetition(url: Url, year: int) -> bool:
    """Whether a page repeats what others show: lists, archives, variants, files."""
    return (
        pattern_key(url.href) is not None
        or trap_of(url.href, year) is not None
        or _ARCHIVE.search(url.path) is not None
        or _NO_PAGE.search(url.path) is not None
        or _LANGUAGE_QUERY.match(url.query) is not None
    )


def _split_language(path: str) -> tuple[str, str]:
    """The language prefix of a path, and the rest."""
    _, first, *rest = path.split("/")
    if first and is_language(first):
        return first.lower(), "/" + "/".join(rest).rstrip("/")
    return "", path.rstrip("/") or "/"


def _home_rank(page: _Page) -> tuple[bool, bool, bool, int, int, str]:
    """Rank as homepage: the root, else a language root, else the nearest page."""
    return (
        page.category != HOME,
        page.core != "/" or bool(page.language),
        page.candidate.found_by != "seed",
        page.candidate.depth,
        page.url.path.count("/"),
        page.url.href,
    )


def _home(home: _Page) -> SampledPage:
    if home.category == HOME or home.url.path == "/":
        return SampledPage(home.candidate, "homepage", PageOrigin.HOMEPAGE)
    return SampledPage(home.candidate, "nearest page")


def _main_language(home: _Page, pages: Sequence[_Page]) -> str:
    """The homepage's language; for a bare root, that of most pages."""
    if home.language:
        return home.language
    counts = Counter(page.language for page in pages if page is not home)
    if counts[""] or not counts:
        return ""
    return min(counts, key=lambda language: (-counts[language], language))


def _rank(page: _Page) -> tuple[bool, bool, float, int, int, float, float, str]:
    """Best first: no formality or list, no query, most certain category, shallow, important, fresh."""
    candidate = page.candidate
    modified = candidate.lastmod or _NO_TIME
    if modified.tzinfo is None:
        modified = modified.replace(tzinfo=UTC)
    return (
        not _MINOR.isdisjoint(_WORD.findall(page.core.lower())),
        bool(page.url.query),
        -round(candidate.score, 1),
        candidate.depth,
        page.core.count("/"),
        -(0.5 if candidate.priority is None else candidate.priority),
        -(modified - _NO_TIME).total_seconds(),
        page.url.href,
    )


def _one_each(pages: Iterable[_Page]) -> list[_Page]:
    """One language version of each page, the first."""
    first: dict[str, _Page] = {}
    for page in pages:
        first.setdefault(page.core, page)
    return list(first.values())


def _in_turn(pages: Sequence[_Page]) -> list[SampledPage]:
    """One page of each category after another, round by round."""
    kinds: dict[str | None, list[_Page]] = {kind: [] for kind in ORDER}
    for page in pages:
        kinds[page.category if page.category in kinds else None].append(page)
    rounds = max(map(len, kinds.values()))
    return [
        SampledPage(kinds[kind][turn].candidate, _reason(kind, turn, kinds[kind][turn]))
        for turn in range(rounds)
        for kind in ORDER
        if turn < len(kinds[kind])
    ]


def _reason(kind: str | None, turn: int, page: _Page) -> str:
    place = f"{kind or 'other'} page, number {turn + 1} of its kind"
    language = f", language {page.language}" if page.language else ""
    depth = page.candidate.depth
    far = "unknown depth" if depth == UNKNOWN_DEPTH else f"depth {depth}"
    return f"{place}, {far}, found by {page.candidate.found_by}{language}"
