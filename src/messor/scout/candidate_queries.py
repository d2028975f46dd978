"""Queries of candidates: the list, counts, and everything that bears on a decision.

Nothing is written here: `scout.candidates` has the transitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal
from uuid import UUID

from messor.scout import candidates
from messor.scout.candidates import COLUMNS, FROM, TRANSITIONS, Candidate, StatedRecord
from messor.store.database import Connection, Database
from messor.store.listing import DomainText, Filters, Listing, Moment, both_ways, where
from messor.verticals.queries import VerticalText, of_vertical

MAX_BESIDE = 10
MAX_RECORDS = 20

StatusFilter = Literal[
    "waiting", "PENDING_CRAWL", "PENDING_REVIEW", "IN_REVIEW", "APPROVED", "REJECTED",
    "SKIPPED_LOW_CONFIDENCE",
]  # fmt: skip

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
SELECT d.status AS domain_status, d.domain_class, d.pages_known, o.name AS organisation,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateDossier(Candidate):
    """A candidate with everything that bears on a decision."""

    opinions: list[JudgeOpinion]
    domain_status: str | None
    domain_class: str | None
    pages_known: int | None  # of its domain
    organisation: str | None  # that owns its domain
    snapshot_id: UUID | None  # of the result page that listed it
    beside: list[Candidate]  # other candidates of its domain
    records: list[StatedRecord]


class CandidateFilter(Filters):
    """Filters of candidates."""

    q: str | None = where(
        "strpos(lower(c.url || ' ' || c.title), lower({})) > 0",
        "Part of a URL or title", max_length=200,
    )  # fmt: skip
    status: StatusFilter | None = where(
        {
            "waiting": "c.status IN ('PENDING_REVIEW', 'IN_REVIEW')",
            **{status: f"c.status = '{status}'" for status in TRANSITIONS},
        },
        "Status",
    )
    vertical: VerticalText | None = where(of_vertical("c"), "Vertical")
    session_id: UUID | None = where("c.session_id = {}", "Discovery session")
    domain: DomainText | None = where("c.domain = {}", "Domain")
    min_confidence: float | None = where(
        "c.confidence_score >= {}", "Minimum confidence", ge=0, le=1
    )
    since: Moment | None = where("c.created_at >= {}", "Found since")
    until: Moment | None = where("c.created_at < {}", "Found before")


CANDIDATES = Listing(
    name="candidates",
    item=Candidate,
    filters=CandidateFilter,
    table="messor.candidates",
    alias="c",
    columns=COLUMNS,
    joins="JOIN messor.verticals v ON v.id = c.vertical_id",
    key_type="uuid",
    make=Candidate.of,
    orders={
        **both_ways(
            "-confidence_score", "c.confidence_score", "float8",
            "Highest confidence first", "Lowest confidence first",
        ),
        **both_ways("-created_at", "c.created_at", "timestamptz", "Newest first", "Oldest first"),
    },
)  # fmt: skip


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
        **{one.name: getattr(candidate, one.name) for one in fields(candidate)},
        **about,
        opinions=await opinions(source, candidate_id),
        beside=[Candidate.of(row) for row in beside],
        records=await candidates.records_of(source, candidate_id, MAX_RECORDS),
    )


async def opinions(source: Connection | Database, candidate_id: UUID) -> list[JudgeOpinion]:
    """The judges' statements, weightiest first; contributions add up to the confidence."""
    rows = await source.fetch(JUDGES, candidate_id)
    whole = sum(row["weight"] for row in rows)
    return [
        JudgeOpinion(**row, contribution=row["score"] * row["weight"] / whole if whole else 0.0)
        for row in rows
    ]
