"""What judges are given and what they say; how their scores become one is `judges.panel`."""

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
    """What one judge says. A judge without anything to go by weighs nothing."""

    judge_name: str
    score: float
    weight: float
    explanation: str

    def __post_init__(self) -> None:
        if not 0.0 <= self.score <= 1.0 or self.weight < 0:
            raise UsageError(f"{self.judge_name} scores between 0 and 1, and weighs 0 or more.")


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judge's score before it is weighed; None when it has nothing to go by."""

    score: float | None
    explanation: str


class Judge(Protocol):
    @property
    def name(self) -> str: ...

    def judge(self, result: SearchResult) -> Opinion: ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that was said of a result."""

    confidence_score: float
    domain_name: str
    judge_scores: tuple[JudgeScore, ...]
    reasoning: str
    organisation_name: str | None
    program_name: str | None

    def __post_init__(self) -> None:
        if not self.judge_scores:
            raise UsageError("A judgement has at least one judge's score.")
        if not 0.0 <= self.confidence_score <= 1.0:
            raise UsageError("A confidence lies between 0 and 1.")

    @property
    def should_crawl(self) -> bool:
        return self.confidence_score >= THRESHOLD

    def as_notes(self) -> dict[str, Any]:
        """What is kept with a candidate."""
        return {**asdict(self), "should_crawl": self.should_crawl}
