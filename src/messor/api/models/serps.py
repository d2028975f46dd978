"""Visibility in the API."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from messor.api.models.base import Out
from messor.insight.ranks import RankLoss
from messor.insight.trends import KeywordRank
from messor.insight.visibility import Competitor, Moved, Visibility


class VisibilityOut(Out):
    """Visibility of domains; unknown without a complete result page."""

    since: datetime
    until: datetime
    pages: dict[str, int] = Field(description="By outcome")
    domains: list[Visibility]
    organisations: list[Visibility]
    movers: list[Moved]


class SpanOut(Out):
    """One week; null without a complete result page."""

    since: datetime
    until: datetime
    visibility: float | None
    first_three: int | None
    first_ten: int | None
    below: int | None
    absent: int | None


class DomainVisibilityOut(Out):
    domain: str
    since: datetime
    until: datetime
    weeks: list[SpanOut]
    standing: list[KeywordRank]
    losses: list[RankLoss]
    competitors: list[Competitor]
