"""A learned ranking of the values a page offers for a field.

Without one, the value with the most reliable sources is chosen. Reviewers' corrections show where
that fails: a ranking adds, per field, the learned weight of sources and positions. It starts from
the default order and deviates only as far as the examples justify (a conditional logit model,
regularised towards its start), so few examples change little.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SURENESS = "sureness"
_ROUNDS = 300
_STEP = 0.5
_PENALTY = 0.02
_SUREST = 0.995

Features = Mapping[str, float]
Weights = Mapping[str, float]


def features_of(score: float, sources: Sequence[str], place: int, offered: int) -> dict[str, float]:
    """Return the features of an offered value: score, sources, position, and number of
    alternatives.
    """
    sure = min(max(score, 1.0 - _SUREST), _SUREST)
    known = {f"from:{source}": 1.0 for source in set(sources)}
    known[SURENESS] = math.log(sure / (1.0 - sure))
    known["first"] = 1.0 if place == 0 else 0.0
    known["alone"] = 1.0 if offered == 1 else 0.0
    known["supported"] = min(len(set(sources)) - 1, 3) / 3
    return known


@dataclass(frozen=True, slots=True)
class Ranking:
    """Learned weights by field; other fields keep the default order."""

    version: int
    fields: Mapping[str, Weights]

    def order(self, name: str, offered: Sequence[Features]) -> list[float] | None:
        """Return a score for each offered value, higher is better; None for the default order."""
        weights = self.fields.get(name)
        return None if weights is None else [_score(weights, each) for each in offered]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Ranking:
        return cls(int(value["version"]), value["fields"])


@dataclass(frozen=True, slots=True)
class RankingExample:
    """A page's offers for a field, and the one a reviewer confirmed."""

    name: str
    domain: str
    offered: tuple[Features, ...]
    usual: int  # the one chosen without a ranking
    right: int


@dataclass(frozen=True, slots=True)
class TrainedRanking:
    """The result of training one field, measured on unseen domains."""

    name: str
    examples: int
    domains: int
    usual: float  # accuracy in the default order
    learnt: float  # accuracy in the learned order
    weights: Weights

    @property
    def is_better(self) -> bool:
        return self.learnt > self.usual


# Minimum examples and domains for training.
FEWEST_EXAMPLES = 20
FEWEST_DOMAINS = 4
_FOLDS = 5


def learn(examples: Sequence[RankingExample]) -> list[TrainedRanking]:
    """Train each field with enough examples, and measure it by cross-validation over domains."""
    by_name: dict[str, list[RankingExample]] = defaultdict(list)
    for example in examples:
        if len(example.offered) > 1:  # a single offer leaves no choice
            by_name[example.name].append(example)
    return [
        _measured(name, own)
        for name, own in sorted(by_name.items())
        if len(own) >= FEWEST_EXAMPLES and len({e.domain for e in own}) >= FEWEST_DOMAINS
    ]


def _measured(name: str, examples: Sequence[RankingExample]) -> TrainedRanking:
    domains = sorted({example.domain for example in examples})
    fold_of = {domain: index % _FOLDS for index, domain in enumerate(domains)}
    right = 0
    for fold in range(min(_FOLDS, len(domains))):
        weights = fit([e for e in examples if fold_of[e.domain] != fold])
        tried = [e for e in examples if fold_of[e.domain] == fold]
        right += sum(_choice(weights, e) == e.right for e in tried)
    usual = sum(e.usual == e.right for e in examples)
    count = len(examples)
    return TrainedRanking(name, count, len(domains), usual / count, right / count, fit(examples))


def fit(examples: Sequence[RankingExample]) -> dict[str, float]:
    """Return maximum-likelihood weights, by plain gradient ascent."""
    weights = {SURENESS: 1.0}
    for _ in range(_ROUNDS):
        slope: dict[str, float] = defaultdict(float)
        for example in examples:
            for share, features in zip(_shares(weights, example), example.offered, strict=True):
                for name, value in features.items():
                    slope[name] -= share * value
            for name, value in example.offered[example.right].items():
                slope[name] += value
        for name, rise in slope.items():
            held = _PENALTY * (weights.get(name, 0.0) - (name == SURENESS))
            weights[name] = weights.get(name, 0.0) + _STEP * (rise / len(examples) - held)
    return {name: round(value, 4) for name, value in sorted(weights.items())}


def _shares(weights: Weights, example: RankingExample) -> list[float]:
    scores = [_score(weights, each) for each in example.offered]
    top = max(scores)
    raised = [math.exp(score - top) for score in scores]
    total = sum(raised)
    return [each / total for each in raised]


def _choice(weights: Weights, example: RankingExample) -> int:
    scores = [_score(weights, each) for each in example.offered]
    return scores.index(max(scores))


def _score(weights: Weights, features: Features) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())
