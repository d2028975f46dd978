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
from messor.scout.judges.compounds import CompoundTerms
from messor.scout.judges.model import Judge, Judgement, JudgeScore, SearchResult
from messor.scout.judges.titles import Title
from messor.scout.words import Phrases, stems
from messor.verticals.model import Vertical

_CUTS = re.compile(r"\s+[|·\u2013\u2014»:-]\s+|:\s+")
MAX_NAME = 200
NAME_WORDS = range(2, 6)  # of an organisation's name that stands alone


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
        relevance = vertical.relevance
        self._organisations = Phrases(relevance.organisation_terms)
        self._topics = CompoundTerms((*vertical.service_words, *relevance.terms))

    def judge(self, result: SearchResult) -> Judgement:
        """Every judge's score, and their weighted mean."""
        scores = tuple(self._score(judge, result) for judge in self._judges)
        weight = sum(score.weight for score in scores)
        total = sum(score.score * score.weight for score in scores)
        confidence = min(max(round(total / weight, 4), 0.0), 1.0) if weight else 0.0
        organisation, program = self.names_in(result.title, result.domain)
        return Judgement(
            confidence, result.domain, scores, _reasoning(confidence, scores), organisation, program
        )

    def _score(self, judge: Judge, result: SearchResult) -> JudgeScore:
        opinion = judge.judge(result)
        if opinion.score is None:
            return JudgeScore(judge.name, 0.0, 0.0, f"{opinion.explanation}: not counted")
        weight = self._weights.get(judge.name, 1.0)
        return JudgeScore(judge.name, round(opinion.score, 4), weight, opinion.explanation)

    def names_in(self, title: str, domain: str = "") -> tuple[str | None, str | None]:
        """The organisation and program that a title names, as in "Program | Organisation".

        The part that the domain's own name is made of is the organisation; where none is, the part
        with a word for organisations, else the last.
        """
        parts = [part.strip()[:MAX_NAME] for part in _CUTS.split(title) if part.strip()]
        if not parts:
            return None, None
        own = Title.of(title, domain).name_alone[:MAX_NAME]
        organisation = own if own in parts else self._organisation_among(parts)
        program = next((part for part in parts if part != organisation), None)
        return organisation, program

    def program_key(self, title: str, domain: str) -> str:
        """What makes two programs of a domain the same; empty if the title names none."""
        _, program = self.names_in(title, domain)
        return " ".join(stems(program)) if program and self._topics.found_in(program) else ""

    def _organisation_among(self, parts: Sequence[str]) -> str | None:
        if len(parts) == 1:  # a name is short and ends in what it is; anything else is the subject
            words = parts[0].split()
            is_name = len(words) in NAME_WORDS and self._organisations.found_in(words[-1])
            return parts[0] if is_name else None
        named = [part for part in parts if self._organisations.found_in(part)]
        return named[-1] if named else parts[-1]  # sites put their own name last


def _reasoning(confidence: float, scores: Sequence[JudgeScore]) -> str:
    counted = sorted((s for s in scores if s.weight > 0), key=lambda s: -s.score * s.weight)
    parts = [f"{s.judge_name} {s.score:.2f} by {s.weight:g} ({s.explanation})" for s in counted]
    return f"Confidence {confidence:.2f}: {'; '.join(parts)}."
