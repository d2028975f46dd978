"""A word index of the simulated web's pages.

It does not depend on what Messor looks for: pages are ranked by the rarity of the words they share
with a query. Positions drift a little from epoch to epoch, some firms buy ads, and those with
premises are in the local pack.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from simweb.documents import modified_at
from simweb.epochs import share
from simweb.sites import Site
from simweb.tradehost import PageHost
from simweb.world import World

LOCAL_KINDS = frozenset({"clinic", "restaurant", "firm", "relief"})
BUYERS = frozenset({"shop", "firm", "clinic"})
DRIFT = 0.25  # of a page's score, from epoch to epoch
MOST = 100
OF_ONE_DOMAIN = 2
DATED = frozenset({"press", "forum", "reviewer"})  # whose pages have a date, in a market

_WORD = re.compile(r"[a-zà-öø-ÿß]+", re.IGNORECASE)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL | re.IGNORECASE)
_DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)"', re.IGNORECASE)
_NOT_TEXT = re.compile(
    r"<(script|style|nav|header|footer)\b.*?</\1>|<[^>]+>", re.DOTALL | re.IGNORECASE
)
_PASSAGE = re.compile(r"<(p|dd|summary)\b[^>]*>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")
_NOINDEX = re.compile(r'<meta name="robots"[^>]*noindex', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """A page in the index."""

    url: str
    host: str
    domain: str
    kind: str
    title: str
    description: str
    text: str
    modified: str  # ISO date
    sentences: tuple[str, ...] = ()
    is_dated: bool = True  # whether engines show its date

    def published(self, hour: str = "") -> str | None:
        return f"{self.modified}{hour}" if self.is_dated else None

    def snippet(self, words: set[str]) -> str:
        """A sentence with one of the words, or the description."""
        for sentence in self.sentences:
            if words & set(_words(sentence)) and 40 <= len(sentence) <= 300:
                return sentence
        return self.description or self.text[:160]

    @property
    def home(self) -> str:
        scheme, _, rest = self.url.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}/"


@dataclass(slots=True)
class Page:
    """The result of a search."""

    organic: list[Entry]
    local: list[Entry] = field(default_factory=list)
    ads: list[Entry] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    related: list[str] = field(default_factory=list)
    words: set[str] = field(default_factory=set)
    total: int = 0


def _words(text: str) -> list[str]:
    return [_stem(word.lower()) for word in _WORD.findall(text)]


def _sentences(html: str) -> Iterator[str]:
    """The sentences of a page's passages; menus have none."""
    for passage in _PASSAGE.finditer(html):
        text = unescape(" ".join(_TAG.sub(" ", passage[2]).split()))
        yield from re.split(r"(?<=[.!?])\s+", text)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _spread(ranked: list[Entry]) -> list[Entry]:
    """At most two pages of a domain before all others had their turn."""
    seen: Counter[str] = Counter()
    first: list[Entry] = []
    rest: list[Entry] = []
    for entry in ranked:
        seen[entry.domain] += 1
        (first if seen[entry.domain] <= OF_ONE_DOMAIN else rest).append(entry)
    return first + rest


class SearchIndex:
    """The pages of a world at an epoch; built when an epoch is first searched."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._epochs: dict[int, _Postings] = {}

    def search(
        self, query: str, epoch: int = 0, page: int = 1, size: int = 10, place: str = ""
    ) -> Page:
        """Results for a searcher at that place, which matters in a market only."""
        postings = self._epochs.get(epoch)
        if postings is None:
            postings = self._epochs[epoch] = _Postings(self._entries(epoch))
        if self._world.market is None:
            ranked = postings.ranked(query, self._world.seed, epoch)
        else:
            place = ",".join(part.strip().lower() for part in place.split(","))
            ranked = _spread(postings.ranked(query, self._world.seed, epoch, place))
        shown = ranked[(page - 1) * size : page * size]
        found = Page(shown, words=set(_words(query)), total=len(ranked))
        if page == 1:
            self._adorn(found, query, ranked[:MOST], epoch)
        return found

    def _adorn(self, found: Page, query: str, ranked: list[Entry], epoch: int) -> None:
        firsts: dict[str, Entry] = {}
        for entry in ranked:
            firsts.setdefault(entry.domain, entry)
        found.local = [e for e in firsts.values() if e.kind in LOCAL_KINDS][:3]
        seed = self._world.seed
        found.ads = [
            entry
            for entry in firsts.values()
            if entry.kind in BUYERS and share(seed, "ad", query, entry.domain, epoch) < 0.3
        ][:2]
        heads = list(dict.fromkeys(entry.title.partition(" · ")[0] for entry in ranked))
        found.questions = [f"What does {head.lower()} cost?" for head in heads[:4]]
        first = query.partition(" ")[0]
        found.related = [f"{head.lower()} {first}" for head in heads[4:10] if first]

    def _entries(self, epoch: int) -> list[Entry]:
        return [
            entry
            for site in self._world.sites
            if isinstance(site.responder, PageHost)
            for path in site.responder.pages
            if (entry := self._entry(site, path, epoch)) is not None
        ]

    def _entry(self, site: Site, path: str, epoch: int) -> Entry | None:
        response = self._world.respond(site.host, path, epoch=epoch)
        if response.status != 200:
            return None
        html = response.body.decode("utf-8", "replace")
        title = _TITLE.search(html)
        if title is None or _NOINDEX.search(html):
            return None
        described = _DESCRIPTION.search(html)
        return Entry(
            f"{site.base}{path}",
            site.host,
            site.domain,
            site.kind,
            unescape(" ".join(title[1].split())),
            unescape(described[1]) if described else "",
            unescape(" ".join(_NOT_TEXT.sub(" ", html).split())),
            f"{modified_at(min(epoch, 50)):%Y-%m-%d}",
            tuple(_sentences(html)),
            self._world.market is None or site.kind in DATED,
        )


class _Postings:
    """Words to pages, with the weight of each word in each page."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = entries
        self._pages: dict[str, dict[int, float]] = defaultdict(dict)
        for number, entry in enumerate(entries):
            counts = Counter(_words(entry.text))
            for word in _words(f"{entry.title} {entry.description}"):
                counts[word] += 4
            for word, count in counts.items():
                self._pages[word][number] = count / (count + 2)

    def ranked(self, query: str, seed: int, *asked_at: object) -> list[Entry]:
        scores: dict[int, float] = defaultdict(float)
        for word in set(_words(query)):
            pages = self._pages.get(word, {})
            rarity = math.log(1 + len(self._entries) / (1 + len(pages)))
            for number, weight in pages.items():
                scores[number] += rarity * weight
        best = max(scores.values(), default=0.0)
        kept = {number: score for number, score in scores.items() if score >= best * 0.35}

        def place(number: int) -> tuple[float, str]:
            url = self._entries[number].url
            return -kept[number] * (1 + DRIFT * share(seed, "drift", *asked_at, query, url)), url

        return [self._entries[number] for number in sorted(kept, key=place)]
