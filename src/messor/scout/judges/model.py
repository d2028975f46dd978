"""Input and output of judges; `judges.panel` combines their scores."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Protocol

from messor.errors import UsageError
from messor.registry.life import THRESHOLD


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A search result's metadata; positions count from 1."""

    url: str
    domain: str
    title: str
    snippet: str
    search_engine: str
    search_query: str
    position: int
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JudgeScore:
    """One judge's score. A judge without information has weight 0."""

    judge_name: str
    score: float
    weight: float
    explanation: str

    def __post_init__(self) -> None:
        if not 0.0 <= self.score <= 1.0 or self.weight < 0:
            raise UsageError(
                f"{self.judge_name} must score between 0 and 1, with a weight of 0 or more."
            )


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judge's score before weighting; None if it has no information."""

    score: float | None
    explanation: str


class Judge(Protocol):
    @property
    def name(self) -> str: ...

    def judge(self, result: SearchResult) -> Opinion: ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """All judges' scores of a result."""

    confidence_score: float
    domain_name: str
    judge_scores: tuple[JudgeScore, ...]
    reasoning: str
    organisation_name: str | None
    program_name: str | None

    def __post_init__(self) -> None:
        if not self.judge_scores:
            raise UsageError("A judgement needs at least one judge's score.")
        if not 0.0 <= self.confidence_score <= 1.0:
            raise UsageError("Confidence must be between 0 and 1.")

    @property
    def should_crawl(self) -> bool:
        return self.confidence_score >= THRESHOLD

    def as_notes(self) -> dict[str, Any]:
        """What is stored with a candidate."""
        return {**asdict(self), "should_crawl": self.should_crawl}
