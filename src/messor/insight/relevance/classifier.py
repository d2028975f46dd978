"""A small classifier trained on reviewers' decisions: logistic regression over words.

The rules' score is one of its features, so it starts from them and learns what they miss.
Cross-validation never trains and tests on pages of the same domain, and the classifier is only
activated if it beats the rules on the same pages.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from messor.insight.relevance.words import features_of

MIN_DECISIONS = 40
MIN_EACH = 10  # relevant ones, and others
MIN_DOMAINS = 4
MIN_BALANCED = 0.7
MIN_GAIN = 0.01  # in balanced accuracy over the rules
FOLDS = 5
MAX_FEATURES = 20_000
_MIN_PAGES = 3  # minimum pages, of two domains, that a word must occur on to be learned
_EPOCHS = 15
_RATE = 0.3
_SHRINK = 1e-3
_STRONGEST = 12
RULES = "rules:score"


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page with a reviewer's decision."""

    domain: str
    title: str
    text: str
    lexical: float
    relevant: bool


@dataclass(frozen=True, slots=True)
class Measure:
    """Quality of a judge on pages it was not trained on."""

    accuracy: float
    balanced: float  # the mean of its accuracy on relevant and on other pages
    f1: float

    @classmethod
    def of(cls, pairs: Sequence[tuple[bool, bool]]) -> Measure:
        """From pairs of truth and judgement."""
        counts = Counter(pairs)
        hit, missed = counts[True, True], counts[True, False]
        false, right = counts[False, True], counts[False, False]
        sides = (hit / max(hit + missed, 1), right / max(right + false, 1))
        f1 = 2 * hit / max(2 * hit + missed + false, 1)
        return cls(
            round((hit + right) / max(len(pairs), 1), 4), round(sum(sides) / 2, 4), round(f1, 4)
        )


@dataclass(frozen=True, slots=True)
class Classifier:
    """Weights by feature."""

    bias: float
    weights: dict[str, float]

    def score(self, title: str, text: str, lexical: float) -> float:
        """The probability that a page is relevant, 0 to 1."""
        return _squash(self.bias + sum(self._parts(title, text, lexical).values()))

    def reasons(self, title: str, text: str, lexical: float, most: int = 6) -> tuple[str, ...]:
        """The strongest terms of this page."""
        parts = sorted(self._parts(title, text, lexical).items(), key=lambda part: -abs(part[1]))
        return tuple(f"learnt: {name} ({weight:+.2f})" for name, weight in parts[:most])

    def strongest(self, most: int = _STRONGEST) -> dict[str, list[str]]:
        """The strongest terms for and against relevance."""
        ranked = sorted(self.weights.items(), key=lambda part: part[1])
        return {
            "for": [name for name, weight in reversed(ranked[-most:]) if weight > 0],
            "against": [name for name, weight in ranked[:most] if weight < 0],
        }

    def _parts(self, title: str, text: str, lexical: float) -> dict[str, float]:
        found = features_of(title, text)
        known = sorted(name for name in found if name in self.weights)
        scale = _scale(len(known))
        parts = {name: self.weights[name] * scale for name in known}
        parts[RULES] = self.weights.get(RULES, 0.0) * _centred(lexical)
        return parts

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Trained:
    """A classifier with its quality; `reason` says why it may judge or may not."""

    classifier: Classifier
    decisions: int
    learnt: Measure | None
    rules: Measure | None
    may_judge: bool
    reason: str


def train(examples: Sequence[LabelledPage], threshold: float = 0.5) -> Trained:
    """Train on decisions and measure the result; deterministic for the same decisions."""
    ordered = sorted(examples, key=_key)
    lacking = _lacking(ordered)
    if lacking is not None:
        return Trained(
            Classifier(0.0, {}), len(ordered), None, None, may_judge=False, reason=lacking
        )
    learnt, rules = _cross_validate(ordered, threshold)
    may_judge, reason = _verdict(learnt, rules)
    return Trained(fit(ordered), len(ordered), learnt, rules, may_judge, reason)


def _lacking(examples: Sequence[LabelledPage]) -> str | None:
    relevant = sum(example.relevant for example in examples)
    domains = len({example.domain for example in examples})
    if len(examples) < MIN_DECISIONS:
        return f"There are {len(examples)} decisions; at least {MIN_DECISIONS} are needed."
    if min(relevant, len(examples) - relevant) < MIN_EACH:
        return f"There are {relevant} relevant pages and {len(examples) - relevant} others; {MIN_EACH} of each are needed."
    if domains < MIN_DOMAINS:
        return f"The decisions cover {domains} domains; at least {MIN_DOMAINS} are needed."
    return None


def _verdict(learnt: Measure, rules: Measure) -> tuple[bool, str]:
    figures = f"balanced accuracy {learnt.balanced:.3f}, the rules' {rules.balanced:.3f}"
    if learnt.balanced < MIN_BALANCED:
        return False, f"It is not good enough: {figures}, and {MIN_BALANCED} is needed."
    if learnt.balanced < rules.balanced + MIN_GAIN:
        return False, f"It is no better than the rules: {figures}."
    return True, f"It is better than the rules: {figures}."


def _cross_validate(examples: Sequence[LabelledPage], threshold: float) -> tuple[Measure, Measure]:
    """Every page judged by a classifier that saw none of its domain."""
    fold_of = _folds(examples)
    learnt: list[tuple[bool, bool]] = []
    rules: list[tuple[bool, bool]] = []
    for number in range(FOLDS):
        held_out = [each for each in examples if fold_of[each.domain] == number]
        known = [each for each in examples if fold_of[each.domain] != number]
        if not held_out or len({each.relevant for each in known}) < 2:
            continue
        judge = fit(known)
        for each in held_out:
            learnt.append((each.relevant, judge.score(each.title, each.text, each.lexical) >= 0.5))
            rules.append((each.relevant, each.lexical >= threshold))
    return Measure.of(learnt), Measure.of(rules)


def _folds(examples: Sequence[LabelledPage]) -> dict[str, int]:
    """Domains distributed, largest first, always to the smallest fold."""
    sizes = Counter(example.domain for example in examples)
    filled = [0] * FOLDS
    fold_of: dict[str, int] = {}
    for domain, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        number = filled.index(min(filled))
        fold_of[domain] = number
        filled[number] += size
    return fold_of


def fit(examples: Sequence[LabelledPage]) -> Classifier:
    """Weights by gradient descent, step sizes by feature; both classes weigh the same."""
    found = [features_of(example.title, example.text) for example in examples]
    known = _vocabulary(examples, found)
    # A fixed order: sums of floats depend on it.
    rows = [sorted(features & known) for features in found]
    share = sum(example.relevant for example in examples) / max(len(examples), 1)
    weights: dict[str, float] = dict.fromkeys(sorted(known), 0.0)
    weights[RULES] = 1.0
    steps = dict.fromkeys(weights, 1e-6)
    bias, bias_step = 0.0, 1e-6
    for _ in range(_EPOCHS):
        for example, row in zip(examples, rows, strict=True):
            scale, prior = _scale(len(row)), _centred(example.lexical)
            total = bias + scale * sum(weights[name] for name in row) + weights[RULES] * prior
            balance = 0.5 / max(share if example.relevant else 1 - share, 1e-6)
            error = (_squash(total) - example.relevant) * balance
            for name, value in ((RULES, prior), *((name, scale) for name in row)):
                slope = error * value + _SHRINK * weights[name]
                steps[name] += slope * slope
                weights[name] -= _RATE * slope / math.sqrt(steps[name])
            bias_step += error * error
            bias -= _RATE * error / math.sqrt(bias_step)
    kept = {name: round(weight, 4) for name, weight in weights.items() if abs(weight) >= 1e-4}
    return Classifier(round(bias, 4), kept)


def _vocabulary(examples: Sequence[LabelledPage], found: Sequence[frozenset[str]]) -> set[str]:
    """Features on several pages of more than one domain: excludes names of one site."""
    pages: Counter[str] = Counter()
    domains: dict[str, set[str]] = {}
    for example, features in zip(examples, found, strict=True):
        pages.update(features)
        for name in features:
            domains.setdefault(name, set()).add(example.domain)
    common = [
        name for name, times in pages.items() if times >= _MIN_PAGES and len(domains[name]) > 1
    ]
    common.sort(key=lambda name: (-pages[name], name))
    return set(common[:MAX_FEATURES])


def _key(example: LabelledPage) -> bytes:
    """An order that does not depend on when a decision was made."""
    return sha256(f"{example.domain}\n{example.title}\n{example.text}".encode()).digest()


def _scale(features: int) -> float:
    """Long pages have more words, but are no more certain for that."""
    return 1 / math.sqrt(max(features, 1))


def _centred(lexical: float) -> float:
    """A score centred on zero."""
    return 4.0 * (lexical - 0.5)


def _squash(total: float) -> float:
    return 1 / (1 + math.exp(-min(max(total, -30.0), 30.0)))
