"""Scores, simulations and calibration in the API."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from messor.api.models.base import In, Out
from messor.insight.score_queries import PastScore, Subject
from messor.insight.scoring import Simulated

PartName = Literal["visibility", "content_change", "record_yield", "quality", "friction", "cost"]
Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class ScoreHistoryOut(Out):
    subject: Subject
    name: str | None
    scores: list[PastScore]


class WeightsIn(In):
    weights: dict[PartName, Weight] = Field(
        default={}, description="Weights not listed stay unchanged"
    )


class SeenIn(In):
    seen: int | None = Field(
        default=None, ge=1, le=1_000_000, description="The version the caller has read"
    )


class ScoringIn(WeightsIn, SeenIn):
    """New weights are published as the vertical's next version."""


class SimulationOut(Out):
    rows: list[Simulated] = Field(description="Domains whose level would change")
    domains: int
    changed: int
    looks_per_day_now: float
    looks_per_day_then: float


class ScoringOut(Out):
    version: int
    domains: int
    organisations: int
    unknown: int
    levels_changed: int
