"""Records, products, parsers and search results in the API."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field

from messor.api.models.base import In, Name, Out, Reason, text
from messor.extraction.parser_figures import TrialState


def _number(value: Any) -> float | None:
    """Convert a number for JSON."""
    made = None if value is None else float(value)
    return made if made is None or math.isfinite(made) else None


Figure = Annotated[float | None, BeforeValidator(_number)]


class FragmentOut(Out):
    """An excerpt with the ranges that match the query."""

    text: str
    marks: list[tuple[int, int]] = Field(description="Start and end offsets in characters")


class HitOut(Out):
    kind: str = Field(description="page, or the record kind")
    page_id: int
    record_id: int | None
    snapshot_id: int
    domain: str
    url: str
    title: str | None
    brand: str | None
    category: str | None
    price: Figure
    currency: str | None
    rating: Figure
    availability: str | None
    rank: float
    fragments: list[FragmentOut]


class FacetsOut(Out):
    total: int
    is_exact: bool = Field(description="false: the total is a lower bound")
    by: dict[str, dict[str, int]] = Field(description="Counts by facet and value")


class FoundOut(Out):
    """One page of results, best first."""

    items: list[HitOut]
    next: str | None = Field(description="Cursor of the next page; null at the end")
    facets: FacetsOut | None
    answered_by: str = Field(description="postgresql, or search server")
    notice: str | None = Field(description="Why PostgreSQL was used instead of the search server")


class ParserOut(Out):
    """A parser version with figures from the newest records."""

    name: str
    version: str
    kinds: list[str]
    is_generic: bool
    is_candidate: bool
    reads: bool = Field(description="Whether it is the active version for domains without a pin")
    standing: int
    gone: int
    confidence: float | None


class ParsersOut(Out):
    items: list[ParserOut]


class FieldLossOut(Out):
    """Records a parser lost on existing pages of a domain."""

    domain: str
    parser: str
    kind: str
    held: int
    lost: int
    sure: float | None
    is_alarming: bool


class LossesOut(Out):
    items: list[FieldLossOut]


class PinIn(In):
    """A version to pin, for all domains or one."""

    parser: Annotated[str, text(100, 1)]
    version: Annotated[str, text(100, 1)]
    domain: Name | None = None


class PinOut(Out):
    parser: str
    version: str
    previous: str | None
    domain: str | None = Field(description="null: all domains")
    pinned_by: str
    pinned_at: datetime


class PinsOut(Out):
    items: list[PinOut]


class LiftedOut(Out):
    parser: str
    version: str | None = Field(description="The version now pinned; null: the newest is used")


class FieldScoreOut(Out):
    """Comparison of a candidate with stored values for one field."""

    name: str
    same: int
    different: int
    gained: int
    lost: int
    invalid: int
    invalid_before: int
    agreement: float | None
    coverage: float | None
    coverage_before: float | None
    validity: float | None
    validity_before: float | None


class DomainScoreOut(Out):
    """Comparison of a candidate on the pages of one domain."""

    domain: str
    pages: int
    agreement: float | None
    gained: int
    lost: int
    validity: float | None
    fields: list[FieldScoreOut]


class TrialOut(Out):
    id: UUID
    parser: str
    version: str
    domain: str | None
    state: TrialState
    pages: int
    most: int | None = Field(description="Pages a shadow trial compares")
    started_by: str
    started_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None
    agreement: float | None
    fields: list[FieldScoreOut]
    domains: list[DomainScoreOut]
    report: dict[str, Any]


class ShadowIn(In):
    """A shadow trial: the candidate parses new pages alongside the active version."""

    parser: Annotated[str, text(100, 1)]
    version: Annotated[str, text(100, 1)]
    domain: Name | None = Field(None, description="Limit to this domain; default: all domains")
    most: int = Field(1000, ge=1, le=10_000_000, description="Pages to compare")


class TrialDecisionIn(In):
    """The decision on a candidate; a reason is required unless it is promoted."""

    decision: Literal["promoted", "rejected", "rolled_back"]
    reason: Reason | None = None


class CorrectionIn(In):
    """A person's correction or confirmation of a field."""

    field: Annotated[str, text(100, 1)]
    act: Literal["correct", "confirm"] = "correct"
    value: Any = Field(
        None,
        description="In the field's type, or as text on a page; null if the page does not state it",
    )
    reason: Annotated[str, text(1_000, 1)] | None = None
