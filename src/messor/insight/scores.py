"""Score components: values between 0 and 1, each with its weight, contribution and a sentence.

An unknown component is left out: no data is not zero. `insight.scoring` gathers the facts and
applies scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Literal

from messor.errors import UsageError
from messor.frontier.cadence import INTERVALS
from messor.verticals.model import SCORE_PARTS

Level = Literal["A", "B", "C", "D"]
# The minimum score of each.
LEVELS: tuple[tuple[Level, float], ...] = (("A", 0.65), ("B", 0.45), ("C", 0.25), ("D", 0.0))
COST_OF_NOTHING = (
    0.01  # a good page that costs this much, in the ledger's currency, is worth nothing
)
DAYS = {word: every / timedelta(days=1) for word, every in INTERVALS.items()}


@dataclass(frozen=True, slots=True)
class SubjectFacts:
    """Facts about a domain, or about all domains of an organisation together."""

    pages: int = 0  # with good content
    changed: int = 0  # of these, changed in the window
    extracted: int = 0
    yielding: int = 0  # pages that state a record of the vertical's kinds
    records: int = 0
    confidence: float = 0.0  # summed over the records
    risk: float | None = None  # of the riskiest host, 0 to 100; None: never visited
    good_fetches: int = 0
    cost: float = 0.0
    visibility: float | None = None  # None: not measured
    leader: float = 0.0  # the greatest visibility of its vertical

    def __add__(self, other: SubjectFacts) -> SubjectFacts:
        risks = [one.risk for one in (self, other) if one.risk is not None]
        return SubjectFacts(
            self.pages + other.pages,
            self.changed + other.changed,
            self.extracted + other.extracted,
            self.yielding + other.yielding,
            self.records + other.records,
            self.confidence + other.confidence,
            max(risks, default=None),
            self.good_fetches + other.good_fetches,
            self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True)
class ScorePart:
    name: str
    value: float | None  # None: unknown and not counted
    weight: float
    contribution: float  # to the score
    sentence: str


@dataclass(frozen=True, slots=True)
class Score:
    """A score with its components; contributions add up to it."""

    value: float
    level: Level
    parts: tuple[ScorePart, ...]

    def as_json(self) -> list[dict[str, Any]]:
        return [asdict(part) for part in self.parts]


def score(facts: SubjectFacts, weights: Mapping[str, float]) -> Score | None:
    """The score from known facts; None if none with any weight is known."""
    values = {name: measure(facts) for name, measure in MEASURES.items()}
    total = sum(weights[name] for name, (value, _) in values.items() if value is not None)
    if total <= 0:
        return None
    parts = tuple(
        ScorePart(
            name,
            value,
            weights[name],
            0.0 if value is None else weights[name] * value / total,
            sentence,
        )
        for name, (value, sentence) in values.items()
    )
    whole = min(max(sum(part.contribution for part in parts), 0.0), 1.0)
    return Score(whole, level_of(whole), parts)


def level_of(value: float) -> Level:
    # Nine decimals: a score exactly at a level's minimum must not miss it by rounding.
    return next(name for name, least in LEVELS if round(value, 9) >= least)


def checked_weights(given: Mapping[str, float], usual: Mapping[str, float]) -> dict[str, float]:
    """The default weights with some of them changed."""
    unknown = sorted(set(given) - set(SCORE_PARTS))
    if unknown:
        raise UsageError(
            f"Unknown score component {unknown[0]!r}; available are {', '.join(SCORE_PARTS)}."
        )
    for name, weight in given.items():
        if not 0 <= weight <= 100:
            raise UsageError(f"The weight of {name} must be between 0 and 100, not {weight}.")
    merged = {**usual, **given}
    if sum(merged.values()) <= 0:
        raise UsageError("At least one weight must exceed 0.")
    return merged


def _visibility(facts: SubjectFacts) -> tuple[float | None, str]:
    if facts.visibility is None:
        return None, "the window has no good result page of its vertical"
    if facts.leader <= 0:
        return 0.0, "no domain of its vertical appears on result pages"
    value = min(facts.visibility / facts.leader, 1.0)
    return value, f"visibility {facts.visibility:.4f}; the leader has {facts.leader:.4f}"


def _share(part: int, whole: int, sentence: str, unknown: str) -> tuple[float | None, str]:
    if whole <= 0:
        return None, unknown
    return min(part / whole, 1.0), sentence.format(part=part, whole=whole)


def _content_change(facts: SubjectFacts) -> tuple[float | None, str]:
    sentence = "{part} of {whole} pages changed in the window"
    return _share(facts.changed, facts.pages, sentence, "none of its pages was read yet")


def _record_yield(facts: SubjectFacts) -> tuple[float | None, str]:
    sentence = "{part} of {whole} extracted pages state a wanted record"
    return _share(facts.yielding, facts.extracted, sentence, "none of its pages was extracted yet")


def _quality(facts: SubjectFacts) -> tuple[float | None, str]:
    if not facts.records:
        return None, "it has no records to measure quality"
    value = min(facts.confidence / facts.records, 1.0)
    return value, f"its {facts.records} records have an average confidence of {value:.2f}"


def _friction(facts: SubjectFacts) -> tuple[float | None, str]:
    if facts.risk is None:
        return None, "none of its hosts was ever visited"
    return 1 - min(
        facts.risk, 100.0
    ) / 100, f"its riskiest host has a risk of {facts.risk:.0f} of 100"


def _cost(facts: SubjectFacts) -> tuple[float | None, str]:
    if not facts.good_fetches:
        return None, "none of its pages was fetched successfully in the window"
    each = facts.cost / facts.good_fetches
    return max(0.0, 1 - each / COST_OF_NOTHING), f"a good page cost {each:.4f} on average"


MEASURES = {
    "visibility": _visibility,
    "content_change": _content_change,
    "record_yield": _record_yield,
    "quality": _quality,
    "friction": _friction,
    "cost": _cost,
}
