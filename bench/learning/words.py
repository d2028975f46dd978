"""Scores of words, learnt site by site: how much of the text they name or begin was content."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from bench.learning.cases import Case

from messor.content.main.lexicon import (
    MAX_HEADING,
    MAX_SHORT,
    Lexicon,
    class_words,
    heading_words,
    pack_class,
    pack_text,
    short_words,
)
from messor.content.memory import Memo

KINDS = ("classes", "short", "headings")
_MIN_SITES = 3
_MAX_WORD = 20
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
# As if a word had also been seen on this many sites, with this share of content.
_PRIOR_SITES = 4
_PRIOR = {"classes": 0.5, "short": 0.35, "headings": 0.5}

Rates = dict[str, dict[str, dict[str, float]]]  # kind, word, site: share of content


def learn_rates(cases: Iterable[Case]) -> Rates:
    """Return the shares of content by kind, word and site."""
    sums: dict[str, dict[str, dict[str, list[float]]]] = {
        kind: defaultdict(lambda: defaultdict(lambda: [0.0, 0.0])) for kind in KINDS
    }
    for case in cases:
        sizes = [each.total() + 1 for each in case.bags]
        for kind, words in zip(KINDS, _words_of(case), strict=True):
            for own, share, size in zip(words, case.shares, sizes, strict=True):
                for word in own:
                    entry = sums[kind][word][case.site]
                    entry[0] += share * size
                    entry[1] += size
    return {
        kind: {
            word: {site: kept / size for site, (kept, size) in sites.items()}
            for word, sites in words.items()
            if len(sites) >= _MIN_SITES and 2 <= len(word) <= _MAX_WORD
        }
        for kind, words in sums.items()
    }


def _words_of(case: Case) -> tuple[list[set[str]], list[set[str]], list[set[str]]]:
    boxes, blocks = case.layout.boxes, case.layout.blocks
    inherited: list[set[str]] = []
    for box, parent in enumerate(boxes.parents):
        own = class_words(boxes.names[box]) if box in boxes.names else set()
        inherited.append(inherited[parent] | own if parent >= 0 else own)
    classes = [inherited[box] for box in blocks.boxes]
    short = [short_words(text) if len(text) <= MAX_SHORT else set() for text in blocks.texts]
    headings, last = [], set[str]()
    for kind, text in zip(blocks.kinds, blocks.texts, strict=True):
        if kind in _HEADINGS:
            last = heading_words(text[:MAX_HEADING])
        headings.append(last)
    return classes, short, headings


def score(rates: Rates, kind: str, word: str, without: str = "") -> int | None:
    """Return a word's score from 0 to 14, as seen on all sites but one; None if it is too rare."""
    sites = rates[kind].get(word)
    if sites is None:
        return None
    others = [share for site, share in sites.items() if site != without]
    if len(others) < _MIN_SITES - 1:
        return None
    prior = _PRIOR[kind] * _PRIOR_SITES
    return round((sum(others) + prior) / (len(others) + _PRIOR_SITES) * 14)


def lexicon_without(rates: Rates, site: str) -> Lexicon:
    """Return the lexicon as it would be without a site, so that a page does not describe itself."""
    known = {kind: Memo[str, int | None](_scorer(rates, kind, site)) for kind in KINDS}

    def scored(kind: str, words: set[str]) -> list[int]:
        return [value for word in words if (value := known[kind][word]) is not None]

    return Lexicon(
        Memo(lambda name: pack_class(scored("classes", class_words(name)))),
        Memo(lambda text: pack_text(scored("short", short_words(text)))),
        Memo(lambda text: pack_text(scored("headings", heading_words(text)))),
    )


def _scorer(rates: Rates, kind: str, site: str) -> Callable[[str], int | None]:
    return lambda word: score(rates, kind, word, site)


def final_words(rates: Rates) -> dict[str, dict[str, int]]:
    """Return the words to store: those that say something."""
    found: dict[str, dict[str, int]] = {}
    for kind in KINDS:
        scores = {word: score(rates, kind, word) for word in sorted(rates[kind])}
        found[kind] = {word: value for word, value in scores.items() if value is not None}
    return found
