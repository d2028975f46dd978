"""A flag: whether a page is relevant, with confidence and reasons."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelevanceFlag:
    """The judgement of a page; None is undecided, and waits for a person."""

    relevant: bool | None
    score: float  # 0 not relevant, 1 relevant
    reasons: tuple[str, ...]
    model_version: str  # rules-1, learnt-3, relevance-1:name-of-the-model
