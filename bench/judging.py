"""How well judges find what a vertical looks for, and classes tell sites apart, on simulated markets.

Run as `python -m bench.judging --seeds 1-5`. Keywords of each shipped vertical go through the index of
a market, results through the panel, pages through the reader: pure functions, no database. A domain is
taken when its best result reaches the threshold, each address being judged once at its best place, as
discovery does. What is right is the market's truth, which knows nothing of judges.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from messor.insight.class_features import features_of
from messor.insight.classes import judge as judge_class
from messor.parsers.page_reading import read_records
from messor.scout import keywords
from messor.scout.engines.model import RawAnswer
from messor.scout.engines.serper import Serper
from messor.scout.judges.model import Judgement, SearchResult
from messor.scout.judges.panel import Panel
from messor.scout.serps import domain_of
from messor.verticals import files
from messor.verticals.model import Vertical
from messor.web.html import read_page
from simweb.engines.google import SerperStandIn
from simweb.engines.index import SearchIndex
from simweb.sites import Site
from simweb.tradehost import PageHost
from simweb.truth import Truth
from simweb.world import World

NOW = datetime(2026, 11, 16, tzinfo=UTC)
JUDGED_BLOCKS = frozenset({"organic", "local_pack", "featured"})


@dataclass(slots=True)
class Outcome:
    """How one vertical went on the market of one seed."""

    vertical: str
    seed: int
    keywords: int = 0
    reachable: int = 0  # relevant domains that some page shows
    found: int = 0  # of these, taken
    taken: int = 0
    classed: int = 0
    classed_well: int = 0
    results_taken: int = 0
    results_right: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    misclassed: list[str] = field(default_factory=list)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def recall(self) -> float:
        return self.found / self.reachable if self.reachable else 1.0

    @property
    def precision(self) -> float:
        return self.found / self.taken if self.taken else 1.0

    @property
    def result_precision(self) -> float:
        return self.results_right / self.results_taken if self.results_taken else 1.0

    @property
    def accuracy(self) -> float:
        return self.classed_well / self.classed if self.classed else 1.0

    def figures(self) -> dict[str, Any]:
        return {
            "vertical": self.vertical,
            "seed": self.seed,
            "keywords": self.keywords,
            "recall": round(self.recall, 4),
            "precision": round(self.precision, 4),
            "result_precision": round(self.result_precision, 4),
            "class_accuracy": round(self.accuracy, 4),
            "judges": self.scores,
        }


class Market:
    """A market, its index and its truth, with the result pages of a vertical's keywords."""

    def __init__(self, vertical: Vertical, seed: int) -> None:
        self.vertical = vertical
        self.world = World("market", seed, market=vertical.name)
        self.index = SearchIndex(self.world)
        self.truth = Truth(self.world, self.index)
        self.phrases = keywords.generate(vertical).phrases
        self.locations = sorted({profile.location for profile in vertical.profiles.values()})
        self.seen: dict[str, set[str]] = defaultdict(set)  # services, by domain
        self.words: Counter[str] = Counter()  # keywords, by domain
        self.local: set[str] = set()

    def results(self) -> list[SearchResult]:
        """Every address once, at its best place, as Serper's answer shows it."""
        engine = SerperStandIn(self.index)
        found: list[tuple[int, str, SearchResult]] = []
        for phrase in self.phrases:
            named: set[str] = set()
            for location in self.locations:
                page = engine.look(phrase.text, place=location)
                body = msgspec.json.encode(engine.page({"q": phrase.text}, page))
                for one in Serper.parse(RawAnswer("serper", 200, {}, body)).results:
                    domain = domain_of(one.url)
                    if one.url is None or domain is None or one.block.value not in JUDGED_BLOCKS:
                        continue
                    result = SearchResult(
                        one.url, domain, one.title, one.snippet, "serper", phrase.text,
                        one.rank, one.published_at,
                    )  # fmt: skip
                    found.append((one.rank, phrase.text, result))
                    named.add(domain)
                    self.seen[domain].add(phrase.service)
                    if one.block.value == "local_pack":
                        self.local.add(domain)
            self.words.update(named)
        found.sort(key=lambda row: row[:2])
        best: dict[str, SearchResult] = {}
        for _, _, result in found:
            best.setdefault(result.url, result)
        return list(best.values())

    def facts(self, site: Site) -> dict[str, Any]:
        """What the database would say of a site that was read whole."""
        assert isinstance(site.responder, PageHost)
        types: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        organisations: set[str] = set()
        brands: set[str] = set()
        for path in site.responder.pages:
            html = self.world.respond(site.host, path).body.decode()
            extraction = read_records(html, f"{site.base}{path}")
            types[extraction.page_type.name] += 1
            for record in extraction.records:
                kinds[record.kind] += 1
                if record.kind == "organisation" and record.value("name"):
                    organisations.add(str(record.value("name")).lower())
                if record.kind == "product" and record.value("brand"):
                    brands.add(str(record.value("brand")).lower())
        home = read_page(self.world.respond(site.host, "/").body.decode(), site.start_url)
        text = "\n".join((home.title[:300], home.description[:1000], home.markdown[:6000]))
        return {
            "domain": site.domain,
            "serp_keywords": self.words[site.domain],
            "serp_verticals": 1 if site.domain in self.seen else 0,
            "serp_services": len(self.seen.get(site.domain, ())),
            "serp_local": site.domain in self.local,
            "pages": sum(types.values()),
            "page_types": dict(types),
            "record_kinds": dict(kinds),
            "organisations": len(organisations),
            "brands": len(brands),
            "text": text,
            "data_types": sorted(_types(home.structured))[:50],
        }


def _types(value: Any) -> set[str]:
    """Every "@type" below a value."""
    if isinstance(value, list):
        return set().union(*map(_types, value))
    if not isinstance(value, dict):
        return set()
    own = value.get("@type")
    named = {own} if isinstance(own, str) else {t for t in own or () if isinstance(t, str)}
    return named.union(*map(_types, value.values()))


def measure(name: str, seed: int, *, classes: bool = True) -> Outcome:
    """How the vertical's judges and the classes do on the market of a seed."""
    vertical = files.shipped(name).vertical
    market = Market(vertical, seed)
    panel = Panel(vertical, now=lambda: NOW)
    judged = [(result, panel.judge(result)) for result in market.results()]
    outcome = Outcome(name, seed, keywords=len(market.phrases))
    _judged(outcome, market.truth, judged)
    if classes:
        _classed(outcome, market)
    return outcome


def _judged(
    outcome: Outcome, truth: Truth, judged: Sequence[tuple[SearchResult, Judgement]]
) -> None:
    best: dict[str, tuple[SearchResult, Judgement]] = {}
    for result, judgement in judged:
        held = best.get(result.domain)
        if held is None or judgement.confidence_score > held[1].confidence_score:
            best[result.domain] = (result, judgement)
        if judgement.should_crawl:
            outcome.results_taken += 1
            outcome.results_right += truth.domains[result.domain].relevant
    for domain, (result, judgement) in sorted(best.items()):
        is_relevant, is_taken = truth.domains[domain].relevant, judgement.should_crawl
        outcome.reachable += is_relevant
        outcome.taken += is_taken
        outcome.found += is_relevant and is_taken
        if is_relevant != is_taken:
            said = f"{truth.domains[domain].kind} {domain} | {result.title} | {result.snippet} | {judgement.reasoning}"
            (outcome.missed if is_relevant else outcome.wrong).append(said)
    outcome.scores = _contributions(truth, best.values())


def _contributions(
    truth: Truth, best: Iterable[tuple[SearchResult, Judgement]]
) -> dict[str, dict[str, float]]:
    """The mean score of each judge for relevant and for other domains, where it counted."""
    sums: dict[str, dict[bool, list[float]]] = defaultdict(lambda: {True: [], False: []})
    for result, judgement in best:
        for score in judgement.judge_scores:
            if score.weight > 0:
                sums[score.judge_name][truth.domains[result.domain].relevant].append(score.score)
    return {
        name: {"relevant": _mean(by[True]), "other": _mean(by[False])} for name, by in sums.items()
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 3) if values else 0.0


def _classed(outcome: Outcome, market: Market) -> None:
    for site in market.world.sites:
        wanted = market.truth.domains[site.domain].domain_class
        found = judge_class(site.domain, features_of(market.facts(site)), {})
        outcome.classed += 1
        outcome.classed_well += found.name == wanted
        if found.name != wanted:
            said = f"{site.domain} is {wanted}, called {found.name}: {', '.join(found.features)}"
            outcome.misclassed.append(said)


def _seeds(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=_seeds, default=_seeds("1-5"), help="such as 1-5")
    parser.add_argument("--verticals", nargs="*", default=list(files.SHIPPED))
    parser.add_argument("--no-classes", action="store_true")
    parser.add_argument("--show", action="store_true", help="what was missed, and why")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    made = []
    for name in given.verticals:
        for seed in given.seeds:
            one = measure(name, seed, classes=not given.no_classes)
            made.append(one)
            if not given.json:
                _print(one, show=given.show)
    if given.json:
        print(json.dumps([one.figures() for one in made], indent=1))
    else:
        _print_judges(made)


def _print(one: Outcome, *, show: bool) -> None:
    print(
        f"{one.vertical:<20} seed {one.seed:<4} recall {one.recall:.3f} of {one.reachable:<3}"
        f" precision {one.precision:.3f} of {one.taken:<3} by result {one.result_precision:.3f}"
        f" classes {one.accuracy:.3f} of {one.classed}"
    )
    if show:
        for label, lines in (
            ("missed", one.missed),
            ("wrong", one.wrong),
            ("class", one.misclassed),
        ):
            for line in lines:
                print(f"    {label}: {line}")


def _print_judges(made: Sequence[Outcome]) -> None:
    print("\nmean score of each judge on a domain's best result, relevant against other")
    names = {name: None for one in made for name in one.scores}
    for name in names:
        held = [one.scores[name] for one in made if name in one.scores]
        relevant = _mean([by["relevant"] for by in held])
        other = _mean([by["other"] for by in held])
        print(f"  {name:<20} {relevant:.2f} against {other:.2f}")


if __name__ == "__main__":
    main()
