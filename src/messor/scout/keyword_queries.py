"""Queries of keywords: the list, counts by tier, and single keywords.

Nothing is written here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from messor.errors import NotFoundError
from messor.scout.keywords import KeywordSource, Tier, normal
from messor.store.database import Connection, Database
from messor.store.listing import Filters, Listing, both_ways, where
from messor.verticals.queries import VerticalText, of_vertical

State = Literal["active", "pruned", "all"]
KeywordPart = Annotated[str, Field(max_length=200), AfterValidator(normal)]

_COLUMNS = """k.id, k.keyword_text AS text, v.name AS vertical, p.name AS profile, k.tier,
  k.tier_reason, k.tier_set_by, k.source, k.service_name AS service, k.seed_keyword_id, k.value, k.active,
  k.pruned_reason, k.last_snapshot_at, k.created_at"""
_JOINS = """JOIN messor.serp_profiles p ON p.id = k.serp_profile_id
  JOIN messor.verticals v ON v.id = k.vertical_id"""
COUNTS = """
SELECT k.tier, k.active, count(*)::int AS keywords,
       count(*) FILTER (WHERE k.last_snapshot_at IS NULL)::int AS unseen,
       count(*) FILTER (WHERE k.value IS NOT NULL)::int AS measured
  FROM messor.keywords k WHERE k.vertical_id = $1 GROUP BY 1, 2 ORDER BY 1, 2
"""
ONE = f"""
SELECT {_COLUMNS}, p.device, p.location, s.keyword_text AS seed
  FROM messor.keywords k {_JOINS} LEFT JOIN messor.keywords s ON s.id = k.seed_keyword_id
 WHERE k.id = $1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyword:
    """A text on one profile."""

    id: UUID
    text: str
    vertical: str
    profile: str
    tier: Tier
    tier_reason: str | None
    tier_set_by: str | None  # None: rated automatically
    source: KeywordSource
    service: str | None
    seed_keyword_id: UUID | None
    value: float | None
    active: bool
    pruned_reason: str | None
    last_snapshot_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordFacts(Keyword):
    """A keyword with its profile and the keyword it was suggested for."""

    device: str
    location: str
    seed: str | None


@dataclass(frozen=True, slots=True)
class TierCount:
    tier: Tier
    active: bool
    keywords: int
    unseen: int
    measured: int


class KeywordFilter(Filters):
    """Filters of keywords."""

    q: KeywordPart | None = where("strpos(k.keyword_text, {}) > 0", "Part of the text")
    vertical: VerticalText | None = where(of_vertical("k"), "Vertical")
    tier: Tier | None = where("k.tier = {}", "Tier")
    profile: str | None = where(
        "k.serp_profile_id IN (SELECT id FROM messor.serp_profiles WHERE name = {})",
        "Profile", max_length=100,
    )  # fmt: skip
    source: KeywordSource | None = where("k.source = {}", "Source")
    state: State = where(
        {"active": "k.active", "pruned": "NOT k.active", "all": ""}, "State", "active"
    )
    min_value: float | None = where("k.value >= {}", "Minimum value", ge=0)


KEYWORDS = Listing(
    name="keywords",
    item=Keyword,
    filters=KeywordFilter,
    table="messor.keywords",
    alias="k",
    columns=_COLUMNS,
    joins=_JOINS,
    key_type="uuid",
    orders={
        **both_ways("text", "k.keyword_text", "text", "Text, A to Z", "Text, Z to A"),
        **both_ways("tier", "k.tier", "text", "Tier, A first", "Tier, C first"),
        **both_ways("-value", "coalesce(k.value, -1)", "float8", "Highest value", "Lowest value"),
        **both_ways(
            "-last_snapshot_at", "coalesce(k.last_snapshot_at, '-infinity')", "timestamptz",
            "Recently searched first", "Least recently searched",
        ),
    },
)  # fmt: skip


async def counts(source: Connection | Database, vertical_id: UUID) -> list[TierCount]:
    """Number of keywords of a vertical, by tier and whether they rest."""
    return [TierCount(**row) for row in await source.fetch(COUNTS, vertical_id)]


async def get(source: Connection | Database, keyword_id: UUID) -> KeywordFacts:
    row = await source.fetchrow(ONE, keyword_id)
    if row is None:
        raise NotFoundError(f"Unknown keyword {keyword_id}.")
    return KeywordFacts(**row)
