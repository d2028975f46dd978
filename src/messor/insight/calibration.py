"""Calibration: compares judges and scores with reviewers' decisions.

Each gets precision and recall at the current threshold, its Brier score, and the threshold that
would have worked best. It only reports; people change thresholds and weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from messor.store.database import Connection, Database
from messor.verticals.verticals import Applied

THRESHOLD = 0.6
MIN_DECISIONS = 20  # minimum decisions for a meaningful suggestion
WANTED_PRECISION = 0.9

JUDGES = """
SELECT j.judge AS what, j.score AS said, c.status = 'APPROVED' AS is_right
  FROM messor.candidates c JOIN messor.judgements j ON j.candidate_id = c.id
 WHERE c.vertical_id = $1 AND c.status IN ('APPROVED', 'REJECTED')
UNION ALL
SELECT 'confidence', c.confidence_score, c.status = 'APPROVED' FROM messor.candidates c
 WHERE c.vertical_id = $1 AND c.status IN ('APPROVED', 'REJECTED')
"""
# The last score before a reviewer's decision, for domains that had one.
SCORES = """
SELECT 'score' AS what, s.score AS said, d.status = 'approved' AS is_right
  FROM messor.domains d CROSS JOIN LATERAL (
    SELECT s.score FROM messor.scores s
     WHERE s.subject = 'domain' AND s.subject_id = d.id AND s.vertical_id = $1
       AND (d.status = 'approved' OR s.scored_at < d.reviewed_at)
     ORDER BY s.scored_at DESC, s.id DESC LIMIT 1) s
 WHERE d.reviewed_at IS NOT NULL AND d.status IN ('approved', 'rejected', 'suspended', 'blacklisted')
"""
# The newest decision on each page, against the rules' score at that time.
FLAGS = """
SELECT DISTINCT ON (page_id) 'relevance' AS what, lexical::float8 AS said, relevant AS is_right
  FROM messor.flag_decisions WHERE vertical = $1 ORDER BY page_id, id DESC
"""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How well one judge, or a score, agreed with reviewers; None where unknown."""

    what: str
    decisions: int
    approved: int
    threshold: float
    precision: float | None
    recall: float | None
    brier: float
    suggested: float | None
    sentence: str


async def calibrate(source: Connection | Database, applied: Applied) -> list[Calibrated]:
    """Every judge of a vertical, their confidence, scores and relevance, as far as decided on."""
    rows = [
        *await source.fetch(JUDGES, applied.id),
        *await source.fetch(SCORES, applied.id),
        *await source.fetch(FLAGS, applied.vertical.name),
    ]
    pairs: dict[str, list[tuple[float, bool]]] = {}
    for row in rows:
        pairs.setdefault(row["what"], []).append((row["said"], row["is_right"]))
    return [measure(what, values) for what, values in sorted(pairs.items())]


def measure(
    what: str, pairs: Sequence[tuple[float, bool]], threshold: float = THRESHOLD
) -> Calibrated:
    """Figures of predictions (0 to 1) against decisions; needs at least one pair."""
    right = sum(is_right for _, is_right in pairs)
    precision, recall = _at(threshold, pairs)
    brier = sum((score - is_right) ** 2 for score, is_right in pairs) / len(pairs)
    suggested, sentence = _suggestion(pairs, right)
    return Calibrated(
        what, len(pairs), right, threshold, precision, recall, brier, suggested, sentence
    )


def _at(threshold: float, pairs: Sequence[tuple[float, bool]]) -> tuple[float | None, float | None]:
    taken = [is_right for score, is_right in pairs if score >= threshold]
    right = sum(is_right for _, is_right in pairs)
    hits = sum(taken)
    return (hits / len(taken) if taken else None), (hits / right if right else None)


def _suggestion(pairs: Sequence[tuple[float, bool]], right: int) -> tuple[float | None, str]:
    """The lowest threshold that is precise enough; else the one with the best F1."""
    if len(pairs) < MIN_DECISIONS:
        return (
            None,
            f"Too few decisions to suggest a threshold: {len(pairs)} of {MIN_DECISIONS}.",
        )
    if right in {0, len(pairs)}:
        return None, "All decisions are the same, so no threshold can be derived."
    best: tuple[float, float] | None = None
    for threshold in sorted({message for message, _ in pairs}):
        precision, recall = _at(threshold, pairs)
        if precision is None or recall is None or precision + recall == 0:
            continue
        if precision >= WANTED_PRECISION:
            message = (
                f"From {threshold:.2f} on, {precision:.0%} are correct and {recall:.0%} are found."
            )
            return threshold, message
        f1 = 2 * precision * recall / (precision + recall)
        if best is None or f1 > best[0]:
            best = f1, threshold
    assert best is not None, "somebody was approved, so the lowest threshold finds them"
    message = f"No threshold reaches a precision of {WANTED_PRECISION}; {best[1]:.2f} is the best balance."
    return best[1], message
