"""Checks of a rehearsal against the ground truth of its simulated web.

Visibility is recomputed here in plain Python from the true result lists, without
`messor.insight`, so that a bug there cannot hide itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from messor.verticals.model import Scoring

RECALL, PRECISION, CLASSES, READ = 0.95, 0.9, 0.9, 0.95  # minimum shares
ROUNDING = 1e-9

Ranks = Mapping[str, int]  # the best rank of each domain on one result page


@dataclass(frozen=True, slots=True)
class Check:
    """One check: measured value, threshold, and the cases that failed."""

    name: str
    value: float
    bar: float
    passed: bool
    said: str = ""
    of: int = 0  # the size of the population of a share; 0 if the value is not a share


@dataclass(frozen=True, slots=True)
class TruePage:
    """A result page by the ground truth."""

    keyword: str
    tier: str
    ranks: Ranks


def at_least(name: str, value: float, bar: float, said: str = "") -> Check:
    return Check(name, value, bar, value >= bar, said)


def none_of(name: str, found: Collection[str]) -> Check:
    return Check(name, float(len(found)), 0.0, not found, _few(found))


def share(name: str, wanted: Collection[str], found: Collection[str], bar: float) -> Check:
    """Check the share of wanted items that were found."""
    missing = set(wanted) - set(found)
    value = 1 - len(missing) / len(wanted) if wanted else 1.0
    return Check(name, value, bar, value >= bar, _few(missing), len(wanted))


def equal(name: str, found: Mapping[str, float], true: Mapping[str, float]) -> Check:
    """Check that two tables are equal; the value is their largest difference."""
    names = {*found, *true}
    differences = {one: abs(found.get(one, 0.0) - true.get(one, 0.0)) for one in names}
    wrong = [one for one, difference in differences.items() if difference > ROUNDING]
    return Check(name, max(differences.values(), default=0.0), 0.0, not wrong, _few(wrong))


def accuracy(name: str, found: Mapping[str, str], true: Mapping[str, str], bar: float) -> Check:
    """Check the share of found values that are correct."""
    wrong = [f"{one} ({kind}, not {true[one]})" for one, kind in found.items() if kind != true[one]]
    value = 1 - len(wrong) / len(found) if found else 0.0
    return Check(name, value, bar, value >= bar, _few(wrong), len(found))


def pooled(checks: Iterable[Check]) -> list[Check]:
    """Pool shares over all webs: with a dozen or two domains each, a single one weighs too much."""
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
    """Return each domain's share of the maximum possible points, over the pages of a window."""
    by_keyword: defaultdict[str, list[TruePage]] = defaultdict(list)
    for page in pages:
        by_keyword[page.keyword].append(page)
    points: defaultdict[str, float] = defaultdict(float)
    maximum = 0.0
    for snapshots in by_keyword.values():
        for page in snapshots:
            weight = scoring.tier_weights[page.tier] / len(snapshots)  # type: ignore[index] # A, B or C
            maximum += weight * scoring.rank_weights[0]
            for domain, rank in page.ranks.items():
                if rank <= len(scoring.rank_weights):
                    points[domain] += weight * scoring.rank_weights[rank - 1]
    return {domain: value / maximum for domain, value in points.items() if maximum}


def _few(names: Collection[str], limit: int = 5) -> str:
    listed = ", ".join(sorted(names)[:limit])
    return f"{listed} and {len(names) - limit} more" if len(names) > limit else listed
