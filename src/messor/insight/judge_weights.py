"""Judge weights from reviewers' decisions: suggested, measured, then applied.

Weights are fitted to the decided candidates of a vertical. The figures shown are of decisions that
were held out while fitting, so they say what to expect of later ones; weights that do no better there
are not applied. Applying publishes the vertical's next version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from messor.errors import ConflictError
from messor.insight.calibration import MIN_DECISIONS, THRESHOLD
from messor.store.database import Connection, Database
from messor.verticals import verticals
from messor.verticals.reweigh import with_judges
from messor.verticals.verticals import Applied

MAX_DECISIONS = 500  # the newest
FOLDS = 5
STEPS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)  # weights that are tried
PASSES = 4

# A judge with weight 0 had no information.
DECIDED = """
SELECT c.domain, c.status = 'APPROVED' AS is_right,
       array_agg(j.judge ORDER BY j.judge) AS judges, array_agg(j.score ORDER BY j.judge) AS scores
  FROM messor.candidates c JOIN messor.judgements j ON j.candidate_id = c.id AND j.weight > 0
 WHERE c.vertical_id = $1 AND c.status IN ('APPROVED', 'REJECTED')
 GROUP BY c.id ORDER BY c.reviewed_at DESC, c.id LIMIT $2
"""

Weights = dict[str, float]


@dataclass(frozen=True, slots=True)
class DecidedCandidate:
    """What the judges said of a candidate, and what the reviewer decided."""

    domain: str
    is_right: bool
    scores: Mapping[str, float]

    def confidence(self, weights: Mapping[str, float]) -> float:
        total = sum(weights.get(judge, 1.0) for judge in self.scores)
        if total <= 0:
            return 0.0
        summed = sum(score * weights.get(judge, 1.0) for judge, score in self.scores.items())
        return round(summed / total, 4)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How some weights agree with decisions."""

    wrong: int  # candidates taken and rejected, or passed over and approved
    brier: float


@dataclass(frozen=True, slots=True)
class SuggestedWeights:
    """Weights that decisions suggest, and what they would have changed."""

    vertical: str
    version: int  # in force
    decisions: int
    approved: int
    weights_now: Weights
    weights_then: Weights
    now: Agreement | None  # None: too few decisions to measure
    then: Agreement | None
    is_better: bool
    sentence: str


async def suggest(source: Connection | Database, applied: Applied) -> SuggestedWeights:
    """The weights that fit the decisions of a vertical, with their figures; nothing is written."""
    rows = await source.fetch(DECIDED, applied.id, MAX_DECISIONS)
    cases = [
        DecidedCandidate(
            row["domain"],
            row["is_right"],
            dict(zip(row["judges"], row["scores"], strict=True)),
        )
        for row in rows
    ]
    return suggestion(applied, cases)


async def apply(
    connection: Connection, name: str, *, actor: str, seen: int | None = None
) -> tuple[Applied, SuggestedWeights]:
    """Publish the suggested weights if they did better; `seen` is the version the caller saw."""
    applied = await verticals.get(connection, name)
    now = applied.vertical.version
    if seen is not None and seen != now:
        raise ConflictError(
            f"Version {now} of {name} is applied, not {seen}: reload and try again."
        )
    found = await suggest(connection, applied)
    if not found.is_better:
        raise ConflictError(f"The weights stay as they are. {found.sentence}")
    applied, _ = await verticals.apply(
        connection, with_judges(applied, found.weights_then), actor=actor
    )
    return applied, found


def suggestion(applied: Applied, cases: Sequence[DecidedCandidate]) -> SuggestedWeights:
    """Fit and measure; without enough decisions of both kinds, the weights stay."""
    usual: Weights = {str(name): weight for name, weight in applied.vertical.judges.items()}
    right = sum(case.is_right for case in cases)
    common = (applied.vertical.name, applied.vertical.version, len(cases), right, usual)
    if len(cases) < MIN_DECISIONS:
        sentence = f"Too few decisions to suggest weights: {len(cases)} of {MIN_DECISIONS}."
        return SuggestedWeights(*common, usual, None, None, is_better=False, sentence=sentence)
    if right in {0, len(cases)}:
        sentence = "All decisions are the same, so no weights can be derived."
        return SuggestedWeights(*common, usual, None, None, is_better=False, sentence=sentence)
    now, then = measure([(case, usual) for case in cases]), measure(_held_out(cases, usual))
    fitted = fit(cases, usual)
    is_better = then.wrong < now.wrong and fitted != usual
    sentence = f"On decisions held out, {then.wrong} of {len(cases)} would be wrong instead of {now.wrong}."
    return SuggestedWeights(*common, fitted, now, then, is_better, sentence)


def fit(cases: Sequence[DecidedCandidate], usual: Mapping[str, float]) -> Weights:
    """The weights that agree best with decisions, one judge changed at a time."""
    weights = dict(usual)
    best = _rank(cases, weights)
    for _ in range(PASSES):
        before = dict(weights)
        for judge in sorted(weights):
            for step in STEPS:
                tried = {**weights, judge: step}
                if any(tried.values()) and (rank := _rank(cases, tried)) < best:
                    weights, best = tried, rank
        if weights == before:
            break
    return weights


def measure(pairs: Sequence[tuple[DecidedCandidate, Mapping[str, float]]]) -> Agreement:
    """How candidates agree with their decisions, each judged by the weights beside it."""
    judged = [(case.confidence(weights), case.is_right) for case, weights in pairs]
    wrong = sum((said >= THRESHOLD) != is_right for said, is_right in judged)
    brier = sum((said - is_right) ** 2 for said, is_right in judged) / len(judged)
    return Agreement(wrong, round(brier, 4))


def _rank(cases: Sequence[DecidedCandidate], weights: Mapping[str, float]) -> tuple[int, float]:
    found = measure([(case, weights) for case in cases])
    return found.wrong, found.brier


def _held_out(
    cases: Sequence[DecidedCandidate], usual: Mapping[str, float]
) -> list[tuple[DecidedCandidate, Mapping[str, float]]]:
    """Each candidate with weights fitted to other domains' candidates."""
    place = {name: n % FOLDS for n, name in enumerate(sorted({case.domain for case in cases}))}
    pairs: list[tuple[DecidedCandidate, Mapping[str, float]]] = []
    for fold in range(FOLDS):
        others = [case for case in cases if place[case.domain] != fold]
        weights = fit(others, usual) if others else usual
        pairs += [(case, weights) for case in cases if place[case.domain] == fold]
    return pairs
