"""What a judgement may not be."""

from __future__ import annotations

import pytest

from messor.errors import UsageError
from messor.scout.judges.model import Judgement, JudgeScore


def judgement(confidence: float, *scores: JudgeScore) -> Judgement:
    return Judgement(confidence, "one.test", scores, "", None, None)


def test_a_judgement_has_at_least_one_score() -> None:
    with pytest.raises(UsageError, match="at least one"):
        judgement(0.7)
    assert judgement(0.7, JudgeScore("keyword", 0.7, 1.0, "three words")).should_crawl


@pytest.mark.parametrize("confidence", [-0.01, 1.01, float("nan")])
def test_a_confidence_lies_between_nought_and_one(confidence: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        judgement(confidence, JudgeScore("keyword", 0.7, 1.0, "three words"))


@pytest.mark.parametrize("score, weight", [(1.1, 1.0), (-0.1, 1.0), (0.5, -1.0)])
def test_a_score_and_its_weight_are_bounded(score: float, weight: float) -> None:
    with pytest.raises(UsageError, match="must score between"):
        JudgeScore("keyword", score, weight, "")
