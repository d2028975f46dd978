"""A flag: whether a page is relevant, how sure that is, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RelevanceFlag:
    """What was judged of a page; None is nobody's guess yet, and waits for a person."""

    relevant: bool | None
    score: float  # 0 not relevant, 1 relevant
    reasons: tuple[str, ...]
    model_version: str  # rules-1, learnt-3, relevance-1:name-of-the-model
