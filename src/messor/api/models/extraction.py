"""Records, products, parsers and answers to searches as the API shows them."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from messor.api.models.base import In, Name, Out, Reason, text

RecordState = Literal["current", "removed"]
TrialState = Literal["shadowing", "compared", "promoted", "rejected", "rolled_back"]


def _number(value: Any) -> float | None:
    """A figure that JSON can hold."""
    made = None if value is None else float(value)
    return made if made is None or math.isfinite(made) else None


Figure = Annotated[float | None, BeforeValidator(_number)]


class ProofOut(BaseModel):
    """Where a value stands on its page."""

    method: str
    quote: str = Field(description="Literally as in the decoded page")
    path: str = ""


class FieldOut(BaseModel):
    """A value that a page states, how sure it is, and what supports it."""

    model_config = ConfigDict(extra="ignore")

    value: Any
    confidence: float | None = None
    evidence: ProofOut | None = None


class RecordOut(Out):
    id: int
    kind: str
    state: RecordState = Field(description="Whether the page still states it")
    confidence: float
    parser: str
    parser_version: str
    title: str = Field(description="What people may call it")
    data: dict[str, Any] = Field(description="Values by field")
    domain: str
    url: str
    page_id: int
    snapshot_id: int
    first_seen: datetime
    last_seen: datetime
    updated_at: datetime = Field(description="When its values last changed")


class WholeRecordOut(RecordOut):
    """A record with the evidence of its fields."""

    identity: str
    fields: dict[str, FieldOut]
    removed_at: datetime | None
    product_id: int | None


class RecordChangeOut(Out):
    """Something that became of a record, or of one of its fields."""

    id: int
    changed_at: datetime
    state: Literal["new", "changed", "removed", "returned"]
    cause: Literal["page", "parser"] = Field(description="The page changed, or its reader did")
    field: str | None
    before: Any
    after: Any
    snapshot_id: int | None


class ProductOut(Out):
    """A product as its page states it now; what the page does not state is null."""

    id: int
    product_name: str | None
    price: Figure
    currency: str | None
    availability: str | None
    brand: str | None
    category: str | None
    sku: str | None
    gtin: str | None
    rating: Figure
    review_count: int | None
    state: RecordState
    domain: str
    url: str
    record_id: int
    page_id: int
    snapshot_id: int
    parser: str
    parser_version: str
    created_at: datetime
    updated_at: datetime


class ImageOut(Out):
    image_url: str
    alt_text: str | None
    image_type: Literal["primary", "gallery", "thumbnail"]
    position: int
    width: int | None
    height: int | None
    file_size: int | None


class WholeProductOut(ProductOut):
    """A product with its images, offers and variants."""

    description: str | None
    metadata: dict[str, Any]
    images: list[ImageOut]
    offers: list[RecordOut]
    variants: list[RecordOut]


class PriceOut(Out):
    """What a product cost, and whether it was to be had, from a moment on."""

    seen_at: datetime
    price: Figure
    currency: str | None
    availability: str | None
    snapshot_id: int
    cause: Literal["page", "parser"]


class FragmentOut(Out):
    """A piece of a text, and which parts of it answer the question."""

    text: str
    marks: list[tuple[int, int]] = Field(description="From and to, in characters")


class HitOut(Out):
    kind: str = Field(description="page, or the record's")
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
    is_exact: bool = Field(description="False: at least so many")
    by: dict[str, dict[str, int]] = Field(description="Counts by value, by facet")


class FoundOut(Out):
    """A page of answers, the best first."""

    items: list[HitOut]
    next: str | None = Field(description="The cursor of the next items; null at the end")
    facets: FacetsOut | None


class ParserOut(Out):
    """A version of a parser, and what the newest records tell of it."""

    name: str
    version: str
    kinds: list[str]
    is_generic: bool
    is_candidate: bool
    reads: bool = Field(description="Whether it reads where no domain has a pin of its own")
    standing: int
    gone: int
    confidence: float | None


class ParsersOut(Out):
    items: list[ParserOut]


class FieldLossOut(Out):
    """What a parser lost on pages of a domain that are still there."""

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
    """A version that is to read, everywhere or for one domain."""

    parser: Annotated[str, text(100, 1)]
    version: Annotated[str, text(100, 1)]
    domain: Name | None = None


class PinOut(Out):
    parser: str
    version: str
    previous: str | None
    domain: str | None = Field(description="null: everywhere")
    pinned_by: str
    pinned_at: datetime


class PinsOut(Out):
    items: list[PinOut]


class LiftedOut(Out):
    parser: str
    version: str | None = Field(description="What is pinned now; null: the newest reads")


class FieldScoreOut(Out):
    """How a candidate fares with one field, held against what is stored."""

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
    """How a candidate fares on the pages of one domain."""

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
    most: int | None = Field(description="Pages after which a shadow is compared")
    started_by: str
    started_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None
    agreement: float | None
    fields: list[FieldScoreOut]
    domains: list[DomainScoreOut]
    report: dict[str, Any]


class TrialsOut(Out):
    items: list[TrialOut]


class ShadowIn(In):
    """A candidate that is to read pages as they come in, beside what reads now."""

    parser: Annotated[str, text(100, 1)]
    version: Annotated[str, text(100, 1)]
    domain: Name | None = Field(None, description="Only its pages; all pages when it is left out")
    most: int = Field(1000, ge=1, le=10_000_000, description="Pages to be compared")


class TrialDecisionIn(In):
    """What a person makes of a candidate; why is needed unless it is promoted."""

    decision: Literal["promoted", "rejected", "rolled_back"]
    reason: Reason | None = None
