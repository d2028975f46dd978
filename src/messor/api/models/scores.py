"""Scores, simulations and calibration in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from messor.api.models.base import In, Out

Level = Literal["A", "B", "C", "D"]
Subject = Literal["domain", "organisation"]
PartName = Literal["visibility", "content_change", "record_yield", "quality", "friction", "cost"]
Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class PartOut(Out):
    name: str
    value: float | None = Field(description="null: unknown and not counted")
    weight: float
    contribution: float
    sentence: str


class ScoreOut(Out):
    """A score; the contributions of its parts add up to it."""

    subject: Subject
    subject_id: UUID
    name: str
    score: float
    track_level: Level
    parts: list[PartOut]
    scored_at: datetime
    pages: int


class GivenScoreOut(Out):
    score: float
    track_level: Level
    parts: list[PartOut]
    scored_at: datetime
    window_from: datetime
    window_to: datetime
    vertical_version: int


class ScoreHistoryOut(Out):
    subject: Subject
    name: str | None
    scores: list[GivenScoreOut]


class WeightsIn(In):
    weights: dict[PartName, Weight] = Field(
        default={}, description="Weights not listed stay unchanged"
    )


class ScoringIn(WeightsIn):
    """New weights are published as the vertical's next version."""

    seen: int | None = Field(
        default=None, ge=1, le=1_000_000, description="The version the caller has read"
    )


class SimulatedOut(Out):
    domain: str
    pages: int
    level_before: Level | None
    level_now: Level | None
    level_then: Level | None
    score_now: float | None
    score_then: float | None


class SimulationOut(Out):
    rows: list[SimulatedOut] = Field(description="Domains whose level would change")
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


class CalibratedOut(Out):
    what: str
    decisions: int
    approved: int
    threshold: float
    precision: float | None
    recall: float | None
    brier: float
    suggested: float | None
    sentence: str
