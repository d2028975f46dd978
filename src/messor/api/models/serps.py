"""Result pages and visibility in the API."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from messor.api.models.base import Out
from messor.api.models.discovery import Outcome, Tier


class SerpOut(Out):
    """A result page; `failed` is a gap with a reason and no results."""

    id: UUID
    keyword_id: UUID
    keyword: str
    profile: str
    tier: Tier
    engine: str
    outcome: Outcome
    said: str | None
    result_count: int
    window_key: str
    captured_at: datetime


class SeenResultOut(Out):
    rank: int
    block: str
    domain: str | None
    url: str | None
    title: str | None
    snippet: str | None
    published_at: datetime | None
    status: str | None
    organisation: str | None


class WholeSerpOut(SerpOut):
    vertical: str
    gl: str
    hl: str
    device: str
    location: str
    page: int
    judged_in: UUID | None
    earlier: UUID | None
    later: UUID | None
    cost: float | None
    results: list[SeenResultOut]


class SeenOut(Out):
    name: str
    organisation_id: UUID | None
    visibility: float
    share_of_voice: float
    pages: int
    best_rank: int


class MovedOut(Out):
    domain: str
    before: float
    after: float
    change: float


class VisibilityOut(Out):
    """Visibility of domains; unknown without a complete result page."""

    since: datetime
    until: datetime
    pages: dict[str, int] = Field(description="By outcome")
    domains: list[SeenOut]
    organisations: list[SeenOut]
    movers: list[MovedOut]


class SpanOut(Out):
    """One week; null without a complete result page."""

    since: datetime
    until: datetime
    visibility: float | None
    first_three: int | None
    first_ten: int | None
    below: int | None
    absent: int | None


class StandingOut(Out):
    keyword_id: UUID
    keyword: str
    profile: str
    tier: Tier
    snapshot_id: UUID
    seen_at: datetime
    rank: int | None
    before: int | None
    had_before: bool


class RankLossOut(Out):
    keyword: str
    profile: str
    before: int
    after: int | None
    url: str | None
    page_state: str | None
    page_changed_at: datetime | None


class CompetitorOut(Out):
    domain: str
    organisation_id: UUID | None
    keywords: int
    above: int
    meetings: int
    visibility: float


class DomainVisibilityOut(Out):
    domain: str
    since: datetime
    until: datetime
    weeks: list[SpanOut]
    standing: list[StandingOut]
    losses: list[RankLossOut]
    competitors: list[CompetitorOut]
