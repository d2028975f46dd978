"""Verticals, keywords, discovery sessions and candidates in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path
from pydantic import Field

from messor.api.models.base import In, Out, Reason, text
from messor.scout.candidates import CandidateStatus
from messor.scout.expansion import Suggestion
from messor.scout.keywords import Tier
from messor.scout.tiers import Retiered, TierChange
from messor.verticals.differences import KeyDifference
from messor.verticals.files import MAX_BYTES
from messor.verticals.verticals import VerticalVersion

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


class WholeVerticalOut(VerticalOut):
    """A vertical with its full definition."""

    definition: dict[str, Any]
    source: str = Field(description="The TOML file, for editing and applying again")
    versions: list[VerticalVersion]


class VerticalIn(In):
    """A bundled vertical by name, or a custom file."""

    name: Annotated[str, text(63, 1)] | None = None
    source: Annotated[str, text(MAX_BYTES, 1)] | None = None
    dry_run: bool = Field(default=False, description="Only report the changes")


class VerticalAppliedOut(Out):
    name: str
    version: int
    applied: bool
    changes: list[KeyDifference]


class OrganisationIn(In):
    name: Annotated[str, text(300, 1)]
    domains: list[Annotated[str, text(2_000, 1)]] = Field(default=[], max_length=100)
    location: Annotated[str, text(300)] | None = None
    external_id: Annotated[str, text(200)] | None = None


class OrganisationPutOut(Out):
    id: UUID
    outcome: Literal["created", "updated", "unchanged"]


class KeywordIn(In):
    text: Annotated[str, text(200, 1)]
    tier: Tier | None = Field(None, description="Set by hand; null: starts as C and is rated")
    profiles: list[Annotated[str, text(63, 1)]] = Field(default=[], max_length=50)


class KeywordTierIn(In):
    tier: Tier | None = Field(description="null returns the keyword to automatic tiers")


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


class ExpansionOut(Out):
    suggestions: list[Suggestion] = Field(description="The first thousand")
    taken: int
    all: int
    written: bool


class TiersOut(Out):
    changes: list[TierChange]
    done: Retiered | None


class SearchesOut(Out):
    new: int = Field(description="Searches queued as jobs")


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
