"""The rehearsal held against the truth of its simulated web.

Visibility is reckoned anew here, in plain Python, from the result lists of the truth: nothing of
`messor.insight` is used, so that a fault there cannot hide itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from messor.verticals.model import Scoring

RECALL, PRECISION, CLASSES, READ = 0.95, 0.9, 0.9, 0.95  # the least that will do
ROUNDING = 1e-9

Ranks = Mapping[str, int]  # the best place of each domain on one result page


@dataclass(frozen=True, slots=True)
class Check:
    """One bar: what came, what is wanted, and those who fell short."""

    name: str
    value: float
    bar: float
    passed: bool
    said: str = ""
    of: int = 0  # what a share is a share of; 0 for what is none


@dataclass(frozen=True, slots=True)
class TruePage:
    """A result page as the truth has it."""

    keyword: str
    tier: str
    ranks: Ranks


def at_least(name: str, value: float, bar: float, said: str = "") -> Check:
    return Check(name, value, bar, value >= bar, said)


def none_of(name: str, found: Collection[str]) -> Check:
    return Check(name, float(len(found)), 0.0, not found, _few(found))


def share(name: str, wanted: Collection[str], found: Collection[str], bar: float) -> Check:
    """How much of what is wanted was found."""
    missing = set(wanted) - set(found)
    value = 1 - len(missing) / len(wanted) if wanted else 1.0
    return Check(name, value, bar, value >= bar, _few(missing), len(wanted))


def equal(name: str, found: Mapping[str, float], true: Mapping[str, float]) -> Check:
    """The greatest difference of two tables, in which nothing may be missing."""
    names = {*found, *true}
    differences = {one: abs(found.get(one, 0.0) - true.get(one, 0.0)) for one in names}
    wrong = [one for one, difference in differences.items() if difference > ROUNDING]
    return Check(name, max(differences.values(), default=0.0), 0.0, not wrong, _few(wrong))


def accuracy(name: str, found: Mapping[str, str], true: Mapping[str, str], bar: float) -> Check:
    """The share of what is known that is so."""
    wrong = [f"{one} ({kind}, not {true[one]})" for one, kind in found.items() if kind != true[one]]
    value = 1 - len(wrong) / len(found) if found else 0.0
    return Check(name, value, bar, value >= bar, _few(wrong), len(found))


def pooled(checks: Iterable[Check]) -> list[Check]:
    """Shares over all webs together: of a dozen or two domains in one, a single one weighs too much."""
    by_name: defaultdict[str, list[Check]] = defaultdict(list)
    for check in checks:
        if check.of:
            by_name[check.name].append(check)
    made = []
    for name, own in by_name.items():
        count = sum(check.of for check in own)
        value = sum(check.value * check.of for check in own) / count
        made.append(Check(name, value, own[0].bar, value >= own[0].bar, "", count))
    return made


def visibility(pages: Iterable[TruePage], scoring: Scoring) -> dict[str, float]:
    """Each domain's share of the greatest possible, over the pages of a window."""
    by_keyword: defaultdict[str, list[TruePage]] = defaultdict(list)
    for page in pages:
        by_keyword[page.keyword].append(page)
    points: defaultdict[str, float] = defaultdict(float)
    greatest = 0.0
    for looks in by_keyword.values():
        for page in looks:
            weight = scoring.tier_weights[page.tier] / len(looks)  # type: ignore[index] # A, B or C
            greatest += weight * scoring.rank_weights[0]
            for domain, rank in page.ranks.items():
                if rank <= len(scoring.rank_weights):
                    points[domain] += weight * scoring.rank_weights[rank - 1]
    return {domain: value / greatest for domain, value in points.items() if greatest}


def _few(names: Collection[str], most: int = 5) -> str:
    shown = ", ".join(sorted(names)[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
