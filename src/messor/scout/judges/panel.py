"""The panel: the judges of a vertical, weighted by its file, and one confidence from all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from messor.scout.judges.bench import (
    DomainCredibilityJudge,
    FreshnessJudge,
    GeographyJudge,
    KeywordJudge,
    OrganisationTypeJudge,
    SnippetQualityJudge,
    utc_now,
)
from messor.scout.judges.model import Judge, Judgement, JudgeScore, SearchResult
from messor.scout.words import Phrases
from messor.verticals.model import Vertical

_CUTS = re.compile(r"\s+[|·\u2013\u2014»:-]\s+|:\s+")
MAX_NAME = 200


class Panel:
    """Judges results for one vertical, from their metadata alone."""

    def __init__(self, vertical: Vertical, *, now: Callable[[], datetime] = utc_now) -> None:
        self._weights: dict[str, float] = {str(name): w for name, w in vertical.judges.items()}
        self._judges: Sequence[Judge] = (
            KeywordJudge(vertical),
            DomainCredibilityJudge(vertical),
            GeographyJudge(vertical),
            OrganisationTypeJudge(vertical),
            FreshnessJudge(now),
            SnippetQualityJudge(),
        )
        self._organisations = Phrases(vertical.relevance.organisation_terms)

    def judge(self, result: SearchResult) -> Judgement:
        """Every judge's score, and their weighted mean."""
        scores = tuple(self._score(judge, result) for judge in self._judges)
        weight = sum(score.weight for score in scores)
        total = sum(score.score * score.weight for score in scores)
        confidence = min(max(round(total / weight, 4), 0.0), 1.0) if weight else 0.0
        organisation, program = self.names_in(result.title)
        return Judgement(
            confidence, result.domain, scores, _reasoning(confidence, scores), organisation, program
        )

    def _score(self, judge: Judge, result: SearchResult) -> JudgeScore:
        opinion = judge.judge(result)
        if opinion.score is None:
            return JudgeScore(judge.name, 0.0, 0.0, f"{opinion.explanation}: not counted")
        weight = self._weights.get(judge.name, 1.0)
        return JudgeScore(judge.name, round(opinion.score, 4), weight, opinion.explanation)

    def names_in(self, title: str) -> tuple[str | None, str | None]:
        """The organisation and program that a title names, as in "Program | Organisation"."""
        parts = [part.strip()[:MAX_NAME] for part in _CUTS.split(title) if part.strip()]
        if not parts:
            return None, None
        named = [part for part in parts if self._organisations.found_in(part)]
        # Sites put their own name last.
        organisation = named[-1] if named else (parts[-1] if len(parts) > 1 else None)
        program = next((part for part in parts if part != organisation), None)
        return organisation, program


def _reasoning(confidence: float, scores: Sequence[JudgeScore]) -> str:
    counted = sorted((s for s in scores if s.weight > 0), key=lambda s: -s.score * s.weight)
    parts = [f"{s.judge_name} {s.score:.2f} by {s.weight:g} ({s.explanation})" for s in counted]
    return f"Confidence {confidence:.2f}: {'; '.join(parts)}."
