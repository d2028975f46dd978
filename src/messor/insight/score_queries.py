"""Queries of scores: the last scoring, scores over time, and reliability.

Nothing is written here: `insight.scoring` computes scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.insight.scores import DAYS, Level, ScorePart
from messor.store.database import Connection, Database
from messor.store.listing import Filters, Listing, both_ways, where
from messor.verticals.queries import VerticalText
from messor.verticals.verticals import Applied

Subject = Literal["domain", "organisation"]

MAX_POINTS = 60  # of a score over time
BINS = 10

# All rows of one scoring share one window, and are written after it ended.
_LAST = """
last AS (
  SELECT window_to, window_from FROM messor.scores WHERE vertical_id = $1 AND subject = $2
   ORDER BY scored_at DESC LIMIT 1
)"""
_OF_LAST = """messor.scores s JOIN last l ON s.window_to = l.window_to AND s.scored_at >= l.window_to
   AND s.vertical_id = $1 AND s.subject = $2"""
# The scores of the last scoring of each vertical and subject, with names. A subject that was erased
# since has none.
_NEWEST = """(
  SELECT s.id, s.vertical_id, v.name AS vertical, s.subject, s.subject_id, s.score, s.track_level,
         s.parts, s.scored_at, coalesce(d.domain, o.name) AS name,
         coalesce(d.pages_known, 0) AS pages
    FROM messor.verticals v CROSS JOIN (VALUES ('domain'), ('organisation')) k (subject)
   CROSS JOIN LATERAL (
     SELECT window_to FROM messor.scores x WHERE x.vertical_id = v.id AND x.subject = k.subject
      ORDER BY x.scored_at DESC LIMIT 1) l
    JOIN messor.scores s ON s.vertical_id = v.id AND s.subject = k.subject
     AND s.scored_at >= l.window_to AND s.window_to = l.window_to
    LEFT JOIN messor.domains d ON s.subject = 'domain' AND d.id = s.subject_id
    LEFT JOIN messor.organisations o ON s.subject = 'organisation' AND o.id = s.subject_id
   WHERE coalesce(d.domain, o.name) IS NOT NULL)"""
SUMMARY = f"""
WITH {_LAST}
SELECT s.track_level AS level, count(*)::int AS count, coalesce(sum(d.pages_known), 0)::int AS pages,
       max(s.scored_at) AS scored_at, min(l.window_from) AS since, max(l.window_to) AS until,
       max(s.vertical_version) AS version
  FROM {_OF_LAST} LEFT JOIN messor.domains d ON s.subject = 'domain' AND d.id = s.subject_id
 GROUP BY 1 ORDER BY 1
"""
OVER_TIME = """
SELECT * FROM (
  SELECT s.subject, s.score, s.track_level, s.parts, s.scored_at, s.window_from, s.window_to,
         s.vertical_version, coalesce(d.domain, o.name) AS name
    FROM messor.scores s
    LEFT JOIN messor.domains d ON s.subject = 'domain' AND d.id = s.subject_id
    LEFT JOIN messor.organisations o ON s.subject = 'organisation' AND o.id = s.subject_id
   WHERE s.subject_id = $1 AND s.vertical_id = $2 ORDER BY s.scored_at DESC LIMIT $3) t
 ORDER BY scored_at
"""
RELIABILITY = """
SELECT least(floor(confidence_score * $2)::int, $2 - 1) AS bin, count(*)::int AS decided,
       count(*) FILTER (WHERE status = 'APPROVED')::int AS approved
  FROM messor.candidates WHERE vertical_id = $1 AND status IN ('APPROVED', 'REJECTED') GROUP BY 1
"""


@dataclass(frozen=True, slots=True)
class ListedScore:
    """A score of the last scoring; contributions of its components add up to it."""

    id: int
    vertical: str
    subject: Subject
    subject_id: UUID
    name: str
    score: float
    track_level: Level
    parts: list[ScorePart]
    scored_at: datetime
    pages: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> ListedScore:
        return cls(**_read(row))


@dataclass(frozen=True, slots=True)
class LevelCount:
    """Number of subjects of the last scoring by level."""

    level: Level
    count: int
    pages: int
    scored_at: datetime
    since: datetime
    until: datetime
    version: int


@dataclass(frozen=True, slots=True)
class PastScore:
    """A score at one time."""

    subject: Subject
    score: float
    track_level: Level
    parts: list[ScorePart]
    scored_at: datetime
    window_from: datetime
    window_to: datetime
    vertical_version: int
    name: str | None


@dataclass(frozen=True, slots=True)
class Bin:
    """Candidates of one tenth of confidence, and how many of them reviewers approved."""

    bin: int
    decided: int
    approved: int


class ScoreFilter(Filters):
    """Filters of scores."""

    q: str | None = where(
        "strpos(lower(s.name), lower({})) > 0", "Part of the name", max_length=253
    )
    vertical: VerticalText | None = where("s.vertical = {}", "Vertical")
    subject: Subject = where("s.subject = {}", "Subject", "domain")
    level: Level | None = where("s.track_level = {}", "Track level")
    min_score: float | None = where("s.score >= {}", "Minimum score", ge=0, le=1)


SCORES = Listing(
    name="scores",
    item=ListedScore,
    filters=ScoreFilter,
    table=_NEWEST,
    alias="s",
    columns="""s.id, s.vertical, s.subject, s.subject_id, s.name, s.score, s.track_level, s.parts,
      s.scored_at, s.pages""",
    make=ListedScore.of,
    orders={
        **both_ways("-score", "s.score", "float8", "Highest score first", "Lowest score first"),
        **both_ways("name", "s.name", "text", "Name, A to Z", "Name, Z to A"),
    },
)


async def summary(
    source: Connection | Database, applied: Applied, subject: Subject = "domain"
) -> list[LevelCount]:
    """The last scoring by track level; empty before the first one."""
    return [LevelCount(**row) for row in await source.fetch(SUMMARY, applied.id, subject)]


async def over_time(
    source: Connection | Database, applied: Applied, subject_id: UUID
) -> list[PastScore]:
    """The scores of one subject, oldest first; raises if it has none."""
    rows = await source.fetch(OVER_TIME, subject_id, applied.id, MAX_POINTS)
    if not rows:
        raise NotFoundError(
            "It has no score in this vertical yet: scores are computed once a week."
        )
    return [PastScore(**_read(row)) for row in rows]


async def reliability(source: Connection | Database, applied: Applied) -> list[Bin]:
    """Reviewers' decisions on candidates, by confidence."""
    return [Bin(**row) for row in await source.fetch(RELIABILITY, applied.id, BINS)]


def looks_per_day(applied: Applied, level: str, pages: int) -> float:
    """Crawls per day that a track level means."""
    every = {str(name): frequency for name, frequency in applied.vertical.cadence.items()}
    return pages / DAYS[every[level]]


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    parts = [ScorePart(**part) for part in msgspec.json.decode(row["parts"])]
    return {**row, "parts": parts}
