"""Verticals, keywords, discovery sessions and candidates in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from messor.api.models.base import In, Out, Reason, text
from messor.verticals.files import MAX_BYTES

Tier = Literal["A", "B", "C"]
Outcome = Literal["ok", "partial", "failed"]
SessionState = Literal["running", "finished", "failed", "cancelled"]
KeywordSource = Literal["manual", "template", "related", "people_also_ask", "suggestion"]
KeywordState = Literal["active", "pruned", "all"]
CandidateStatus = Literal[
    "PENDING_CRAWL", "PENDING_REVIEW", "IN_REVIEW", "APPROVED", "REJECTED",
    "SKIPPED_LOW_CONFIDENCE",
]  # fmt: skip
VerticalName = Annotated[
    str, Path(pattern=r"^[a-z][a-z0-9_]{0,62}$", description="For example funding")
]


class VerticalOut(Out):
    name: str
    title: str
    version: int
    on_block: str
    applied_by: str
    applied_at: datetime


class VersionOut(Out):
    version: int
    applied_by: str
    applied_at: datetime


class WholeVerticalOut(VerticalOut):
    """A vertical with its full definition."""

    definition: dict[str, Any]
    source: str = Field(description="The TOML file, for editing and applying again")
    versions: list[VersionOut]


class VerticalIn(In):
    """A bundled vertical by name, or a custom file."""

    name: Annotated[str, text(63, 1)] | None = None
    source: Annotated[str, text(MAX_BYTES, 1)] | None = None
    dry_run: bool = Field(default=False, description="Only report the changes")


class DifferenceOut(Out):
    key: str
    before: Any
    after: Any


class VerticalAppliedOut(Out):
    name: str
    version: int
    applied: bool
    changes: list[DifferenceOut]


class OrganisationIn(In):
    name: Annotated[str, text(300, 1)]
    domains: list[Annotated[str, text(2_000, 1)]] = Field(default=[], max_length=100)
    location: Annotated[str, text(300)] | None = None
    external_id: Annotated[str, text(200)] | None = None


class OrganisationOut(Out):
    id: UUID
    name: str
    location: str | None
    external_id: str | None
    domains: list[str]


class OrganisationPutOut(Out):
    id: UUID
    outcome: Literal["created", "updated", "unchanged"]


class KeywordOut(Out):
    id: UUID
    text: str
    profile: str
    tier: Tier
    tier_reason: str | None
    source: KeywordSource
    value: float | None
    active: bool
    pruned_reason: str | None
    last_snapshot_at: datetime | None


class KeywordTextOut(Out):
    """A text with its keyword for each profile."""

    text: str
    keywords: list[KeywordOut]


class KeywordSearchOut(Out):
    """One search for a keyword; `failed` is a gap without ranks."""

    id: UUID
    captured_at: datetime
    outcome: Outcome
    ranks: dict[str, int] = Field(description="By domain; domains not found are absent")


class WholeKeywordOut(KeywordOut):
    vertical: str
    device: str
    location: str
    service: str | None
    seed: str | None
    created_at: datetime
    looks: list[KeywordSearchOut]


class KeywordIn(In):
    text: Annotated[str, text(200, 1)]
    tier: Tier = "C"
    profiles: list[Annotated[str, text(63, 1)]] = Field(default=[], max_length=50)


class KeywordsAddedOut(Out):
    new: int


class GrowIn(In):
    write: bool = Field(default=False, description="false: preview only")


class GenerationOut(Out):
    combinations: int
    texts: int
    profiles: int
    too_long: int
    known: int
    new: int
    by_template: dict[str, int]
    sample: list[str]
    written: int | None


class SuggestionOut(Out):
    text: str
    seed: str
    source: KeywordSource
    depth: int
    drift: float
    taken: bool
    message: str


class ExpansionOut(Out):
    suggestions: list[SuggestionOut] = Field(description="The first thousand")
    taken: int
    all: int
    written: bool


class TierChangeOut(Out):
    text: str
    profile: str
    before: Tier
    after: Tier
    prune: bool
    value: float
    why: str


class RetieredOut(Out):
    measured: int
    changed: int
    pruned: int


class TiersOut(Out):
    changes: list[TierChangeOut]
    done: RetieredOut | None


class DiscoverySessionOut(Out):
    id: UUID
    vertical: str
    vertical_version: int
    state: SessionState
    started_by: str
    started_at: datetime
    finished_at: datetime | None
    said: str | None
    statistics: dict[str, Any]
    candidates: dict[str, int] = Field(description="Current count by status")
    pages: int


class SearchesOut(Out):
    new: int = Field(description="Searches queued as jobs")


class CandidateOut(Out):
    id: UUID
    session_id: UUID
    vertical: str
    domain_id: UUID | None
    domain: str
    url: str
    title: str
    snippet: str
    search_engine: str
    search_query: str
    position: int
    confidence_score: float
    status: CandidateStatus
    organisation_name: str | None
    program_name: str | None
    assigned_to: str | None
    reviewed_by: str | None
    reviewed_at: datetime | None
    review_reason: str | None
    created_at: datetime
    page_id: int | None
    crawled_at: datetime | None
    crawl_note: str | None


class OpinionOut(Out):
    """The opinion of one judge and its contribution to the confidence."""

    judge: str
    score: float
    weight: float
    explanation: str
    contribution: float


class StatedRecordOut(Out):
    record_id: int
    kind: str
    confidence: float
    on_page: bool
    url: str | None
    data: dict[str, Any]


class WholeCandidateOut(CandidateOut):
    """A candidate with everything needed for a decision."""

    opinions: list[OpinionOut]
    domain_status: str | None
    snapshot_id: UUID | None = Field(description="Snapshot of the result page that listed it")
    records: list[StatedRecordOut]


class CandidateDecisionIn(In):
    """A reason is required to reject. With `seen`, fails when the status has changed meanwhile."""

    act: Literal["take", "approve", "reject"]
    reason: Reason | None = None
    seen: CandidateStatus | None = None


class FlagReviewIn(In):
    """A reviewer's decision on the flag of a page."""

    act: Literal["confirm", "overturn"]
    relevant: bool | None = Field(None, description="The correct flag; required if undecided")
    reason: Annotated[str, text(2_000)] = ""
