"""Queries of candidates: the review queue, and everything that bears on a decision.

Nothing is written here: `scout.candidates` has the transitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from messor.scout import candidates
from messor.scout.candidates import COLUMNS, FROM, Candidate, StatedRecord
from messor.store.database import Connection, Database

MAX_BESIDE = 10
MAX_RECORDS = 20
Place = tuple[float, UUID]

# $1 vertical, $2 statuses, $3 session, $4 part of a URL or title, $5 and $6 the cursor.
QUEUE = f"""
SELECT {COLUMNS} {FROM}
 WHERE ($1::text IS NULL OR v.name = $1) AND c.status = ANY ($2::text[])
   AND ($3::uuid IS NULL OR c.session_id = $3)
   AND ($4::text IS NULL OR strpos(lower(c.url || ' ' || c.title), $4) > 0)
   AND ($5::float8 IS NULL OR c.confidence_score < $5 OR (c.confidence_score = $5 AND c.id > $6))
 ORDER BY c.confidence_score DESC, c.id LIMIT $7
"""
COUNTS = f"""
SELECT c.status, count(*)::int AS candidates {FROM} WHERE ($1::text IS NULL OR v.name = $1) GROUP BY 1
"""
JUDGES = """
SELECT judge, score, weight, explanation FROM messor.judgements
 WHERE candidate_id = $1 ORDER BY weight DESC, judge
"""
BESIDE = f"""
SELECT {COLUMNS} {FROM} WHERE c.domain = $1 AND c.id <> $2
 ORDER BY c.created_at DESC, c.id LIMIT {MAX_BESIDE}
"""
# The URL's position when it was judged, and what is known of its domain since.
ABOUT = """
SELECT d.status, d.domain_class, d.pages_known, d.processing, o.name AS organisation,
       (SELECT s.id FROM messor.serp_snapshots s
          JOIN messor.keywords k ON k.id = s.keyword_id
          JOIN messor.serp_results r ON r.snapshot_id = s.id AND r.url = c.url
         WHERE s.judged_in = c.session_id AND k.keyword_text = c.search_query
         ORDER BY s.captured_at DESC LIMIT 1) AS snapshot_id
  FROM messor.candidates c LEFT JOIN messor.domains d ON d.domain = c.domain
  LEFT JOIN messor.organisation_domains w ON w.vertical_id = c.vertical_id AND w.domain = c.domain
  LEFT JOIN messor.organisations o ON o.id = w.organisation_id
 WHERE c.id = $1
"""


@dataclass(frozen=True, slots=True)
class JudgeOpinion:
    """One judge's statement, and its contribution to the confidence."""

    judge: str
    score: float
    weight: float
    explanation: str
    contribution: float


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a candidate's domain today."""

    status: str | None
    domain_class: str | None
    pages_known: int | None
    processing: str | None
    organisation: str | None
    snapshot_id: UUID | None


@dataclass(frozen=True, slots=True)
class CandidateDossier:
    """Everything that bears on a decision."""

    candidate: Candidate
    opinions: list[JudgeOpinion]
    about: About
    beside: list[Candidate]
    records: list[StatedRecord]


async def queue(
    source: Connection | Database,
    statuses: Sequence[str],
    *,
    vertical: str | None = None,
    session_id: UUID | None = None,
    containing: str | None = None,
    after: Place | None = None,
    limit: int = 50,
) -> list[Candidate]:
    """Candidates of some statuses, highest confidence first."""
    given = (vertical, list(statuses), session_id, containing, *(after or (None, None)), limit)
    return [Candidate.of(row) for row in await source.fetch(QUEUE, *given)]


async def counts(source: Connection | Database, vertical: str | None = None) -> dict[str, int]:
    rows: Sequence[Any] = await source.fetch(COUNTS, vertical)
    return {row["status"]: row["candidates"] for row in rows}


async def dossier(source: Connection | Database, candidate_id: UUID) -> CandidateDossier:
    """One candidate with its judges, its domain and its neighbours; raises if there is none."""
    candidate = await candidates.get(source, candidate_id)
    about = await source.fetchrow(ABOUT, candidate_id)
    assert about is not None, "it was there a moment ago"
    beside = await source.fetch(BESIDE, candidate.domain, candidate_id)
    return CandidateDossier(
        candidate,
        await opinions(source, candidate_id),
        About(**about),
        [Candidate.of(row) for row in beside],
        await candidates.records_of(source, candidate_id, MAX_RECORDS),
    )


async def opinions(source: Connection | Database, candidate_id: UUID) -> list[JudgeOpinion]:
    """The judges' statements, weightiest first; contributions add up to the confidence."""
    rows = await source.fetch(JUDGES, candidate_id)
    whole = sum(row["weight"] for row in rows)
    return [
        JudgeOpinion(**row, contribution=row["score"] * row["weight"] / whole if whole else 0.0)
        for row in rows
    ]


def place_of(candidate: Candidate) -> tuple[float, UUID]:
    """The cursor after a candidate."""
    return candidate.confidence_score, candidate.id
