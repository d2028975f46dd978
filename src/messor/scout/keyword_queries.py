"""Queries of keywords: a grid of texts by profiles, counts by tier, and single keywords.

Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from messor.errors import NotFoundError
from messor.store.database import Connection, Database
from messor.verticals.verticals import Applied

STATES = ("active", "pruned", "all")
SOURCES = ("manual", "template", "related", "people_also_ask", "suggestion")

# $1 vertical, $2 after, $3 tier, $4 source, $5 part of the text, $6 state, $7 texts. Texts come in
# the order of their unique index, so that a page of a long list costs as much as of a short one.
GRID = """
WITH texts AS (
  SELECT DISTINCT k.keyword_text FROM messor.keywords k
   WHERE k.vertical_id = $1 AND k.keyword_text > $2 AND ($3::text IS NULL OR k.tier = $3)
     AND ($4::text IS NULL OR k.source = $4) AND ($5::text IS NULL OR strpos(k.keyword_text, $5) > 0)
     AND ($6 = 'all' OR k.active = ($6 = 'active'))
   ORDER BY k.keyword_text LIMIT $7
)
SELECT k.id, k.keyword_text AS text, p.name AS profile, k.tier, k.tier_reason, k.source, k.value,
       k.active, k.pruned_reason, k.last_snapshot_at
  FROM texts t JOIN messor.keywords k ON k.keyword_text = t.keyword_text AND k.vertical_id = $1
  JOIN messor.serp_profiles p ON p.id = k.serp_profile_id
 ORDER BY k.keyword_text, p.name
"""
COUNTS = """
SELECT k.tier, k.active, count(*)::int AS keywords,
       count(*) FILTER (WHERE k.last_snapshot_at IS NULL)::int AS unseen,
       count(*) FILTER (WHERE k.value IS NOT NULL)::int AS measured
  FROM messor.keywords k WHERE k.vertical_id = $1 GROUP BY 1, 2 ORDER BY 1, 2
"""
ONE = """
SELECT k.id, k.keyword_text AS text, v.name AS vertical, p.name AS profile, p.device, p.location,
       k.tier, k.tier_reason, k.source, k.service_name AS service, k.value, k.active,
       k.pruned_reason, k.last_snapshot_at, k.created_at, k.seed_keyword_id, s.keyword_text AS seed
  FROM messor.keywords k JOIN messor.serp_profiles p ON p.id = k.serp_profile_id
  JOIN messor.verticals v ON v.id = k.vertical_id
  LEFT JOIN messor.keywords s ON s.id = k.seed_keyword_id
 WHERE k.id = $1
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """One keyword: a text on one profile."""

    id: UUID
    text: str
    profile: str
    tier: str
    tier_reason: str | None
    source: str
    value: float | None
    active: bool
    pruned_reason: str | None
    last_snapshot_at: datetime | None


@dataclass(frozen=True, slots=True)
class GridRow:
    """A text, and its keyword on each profile that has one."""

    text: str
    cells: dict[str, Cell]


@dataclass(frozen=True, slots=True)
class TierCount:
    tier: str
    active: bool
    keywords: int
    unseen: int
    measured: int


@dataclass(frozen=True, slots=True)
class KeywordFacts:
    id: UUID
    text: str
    vertical: str
    profile: str
    device: str
    location: str
    tier: str
    tier_reason: str | None
    source: str
    service: str | None
    value: float | None
    active: bool
    pruned_reason: str | None
    last_snapshot_at: datetime | None
    created_at: datetime
    seed_keyword_id: UUID | None
    seed: str | None


@dataclass(frozen=True, slots=True)
class KeywordLook:
    """Filters of keywords."""

    tier: str | None = None
    source: str | None = None
    containing: str | None = None
    state: str = "active"


async def grid(
    source: Connection | Database,
    applied: Applied,
    look: KeywordLook,
    *,
    after: str = "",
    limit: int = 50,
) -> list[GridRow]:
    """Texts in order, each with its keywords by profile."""
    rows: Sequence[Any] = await source.fetch(
        GRID, applied.id, after, look.tier, look.source, look.containing, look.state, limit
    )
    found: dict[str, dict[str, Cell]] = {}
    for row in rows:
        found.setdefault(row["text"], {})[row["profile"]] = Cell(**row)
    return [GridRow(text, cells) for text, cells in found.items()]


async def counts(source: Connection | Database, applied: Applied) -> list[TierCount]:
    """Number of keywords by tier and whether they rest."""
    return [TierCount(**row) for row in await source.fetch(COUNTS, applied.id)]


async def get(source: Connection | Database, keyword_id: UUID) -> KeywordFacts:
    row = await source.fetchrow(ONE, keyword_id)
    if row is None:
        raise NotFoundError(f"Unknown keyword {keyword_id}.")
    return KeywordFacts(**row)
