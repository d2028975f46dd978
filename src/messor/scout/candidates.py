"""Candidates: judged search results on their way from the result page to a reviewer's decision.

    PENDING_CRAWL → PENDING_REVIEW → IN_REVIEW → APPROVED or REJECTED
    SKIPPED_LOW_CONFIDENCE (the end)

The threshold is fixed; table constraints enforce the transitions and what each needs. Crawling
candidates is left to `governance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.registry.domains import MAX_REASON, checked
from messor.scout.judges.model import Judgement, SearchResult
from messor.store.database import Connection, Database
from messor.verticals import organisations, verticals
from messor.verticals.organisations import NewOrganisation
from messor.web.urls import url_hash

CandidateStatus = Literal[
    "PENDING_CRAWL", "PENDING_REVIEW", "IN_REVIEW", "APPROVED", "REJECTED",
    "SKIPPED_LOW_CONFIDENCE",
]  # fmt: skip
PENDING_CRAWL: Final = "PENDING_CRAWL"
PENDING_REVIEW: Final = "PENDING_REVIEW"
IN_REVIEW: Final = "IN_REVIEW"
APPROVED: Final = "APPROVED"
REJECTED: Final = "REJECTED"
SKIPPED: Final = "SKIPPED_LOW_CONFIDENCE"
UNDECIDED: Final = frozenset({PENDING_CRAWL, PENDING_REVIEW, IN_REVIEW})

# Allowed transitions by status.
TRANSITIONS: dict[CandidateStatus, set[CandidateStatus]] = {
    PENDING_CRAWL: {PENDING_REVIEW},
    PENDING_REVIEW: {IN_REVIEW},
    IN_REVIEW: {APPROVED, REJECTED},
    APPROVED: set(),
    REJECTED: set(),
    SKIPPED: set(),
}

COLUMNS = """c.id, c.session_id, v.name AS vertical, c.domain_id, c.domain, c.url, c.title, c.snippet,
  c.search_engine, c.search_query, c.position, c.confidence_score, c.status, c.organisation_name,
  c.program_name, c.validation_notes, c.assigned_to, c.reviewed_by, c.reviewed_at, c.review_reason,
  c.created_at, c.page_id, c.submitted_at, c.crawled_at, c.crawl_note, c.crawl_failures,
  c.retry_after"""
FROM = "FROM messor.candidates c JOIN messor.verticals v ON v.id = c.vertical_id"

INSERT = """
INSERT INTO messor.candidates (id, session_id, vertical_id, domain_id, domain, url, url_hash, title,
                               snippet, search_engine, search_query, position, confidence_score,
                               status, organisation_name, program_name, validation_notes)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
ON CONFLICT (session_id, url_hash) DO NOTHING RETURNING id
"""
JUDGEMENTS = """
INSERT INTO messor.judgements (candidate_id, judge, score, weight, explanation)
SELECT $1, * FROM unnest($2::text[], $3::float8[], $4::float8[], $5::text[])
"""
MOVE = """
UPDATE messor.candidates
   SET status = $3, updated_at = messor.clock(), assigned_to = coalesce($4, assigned_to),
       crawled_at = CASE WHEN $3 = 'PENDING_REVIEW' THEN messor.clock() ELSE crawled_at END,
       crawl_note = CASE WHEN $3 <> 'PENDING_REVIEW' THEN crawl_note END,
       retry_after = CASE WHEN $3 <> 'PENDING_REVIEW' THEN retry_after END,
       reviewed_by = CASE WHEN $3 IN ('APPROVED', 'REJECTED') THEN $5 END,
       reviewed_at = CASE WHEN $3 IN ('APPROVED', 'REJECTED') THEN messor.clock() END,
       review_reason = $6
 WHERE id = $1 AND status = $2 RETURNING id
"""
# Extracted data is more certain than a guess from a title.
NAMED = """
UPDATE messor.candidates c
   SET organisation_name = coalesce((SELECT r.data ->> 'name' FROM messor.candidate_records r
         WHERE r.candidate_id = c.id AND r.kind = 'organisation'
         ORDER BY r.on_page DESC, r.confidence DESC, r.record_id LIMIT 1), c.organisation_name),
       program_name = coalesce((SELECT coalesce(r.data ->> 'name', r.data ->> 'title')
          FROM messor.candidate_records r
         WHERE r.candidate_id = c.id AND r.kind IN ('funding_program', 'opportunity')
         ORDER BY r.kind, r.confidence DESC, r.record_id LIMIT 1), c.program_name)
 WHERE c.id = $1
"""
# Candidates of phase 2: their domain is approved, and their crawl was not requested yet.
READY = f"""
SELECT {COLUMNS} {FROM} JOIN messor.domains d ON d.id = c.domain_id
 WHERE c.status = 'PENDING_CRAWL' AND c.page_id IS NULL AND d.status = 'approved' AND d.active
   AND d.processing NOT IN ('processing_failed', 'no_funds_this_year')
   AND (c.retry_after IS NULL OR c.retry_after <= (SELECT messor.clock()))
   AND ($1::text IS NULL OR v.name = $1)
 ORDER BY c.confidence_score DESC, c.id LIMIT $2
"""
STATED = """
SELECT r.record_id, r.kind, r.confidence, r.on_page, p.url, r.data
  FROM messor.candidate_records r LEFT JOIN messor.pages p ON p.id = r.page_id
 WHERE r.candidate_id = $1 ORDER BY r.on_page DESC, r.kind, r.confidence DESC, r.record_id LIMIT $2
"""
# The domain's stated name, if it has one and no owner in the vertical.
NEW_OWNER = """
SELECT c.domain, (SELECT r.data ->> 'name' FROM messor.candidate_records r
                   WHERE r.candidate_id = c.id AND r.kind = 'organisation'
                   ORDER BY r.on_page DESC, r.confidence DESC, r.record_id LIMIT 1) AS name
  FROM messor.candidates c
 WHERE c.id = $1 AND NOT EXISTS (SELECT FROM messor.organisation_domains o
                                  WHERE o.vertical_id = c.vertical_id AND o.domain = c.domain)
"""


@dataclass(frozen=True, slots=True)
class StatedRecord:
    """A statement of a candidate's page, or of another page of its domain."""

    record_id: int
    kind: str
    confidence: float
    on_page: bool
    url: str | None
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Candidate:
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
    validation_notes: dict[str, Any]
    assigned_to: str | None
    reviewed_by: str | None
    reviewed_at: datetime | None
    review_reason: str | None
    created_at: datetime
    page_id: int | None  # where it is crawled
    submitted_at: datetime | None  # when its crawl was last requested
    crawled_at: datetime | None
    crawl_note: str | None  # what last prevented its crawl
    crawl_failures: int
    retry_after: datetime | None  # when its crawl is requested again

    @classmethod
    def of(cls, row: Any) -> Candidate:
        return cls(**{**row, "validation_notes": msgspec.json.decode(row["validation_notes"])})


async def create(
    connection: Connection,
    result: SearchResult,
    judgement: Judgement,
    *,
    session_id: UUID,
    vertical_id: UUID,
    domain_id: UUID,
) -> UUID | None:
    """Store a judged result; None if its session already has the URL."""
    key = new_id()
    made = await connection.fetchval(
        INSERT,
        key,
        session_id,
        vertical_id,
        domain_id,
        result.domain,
        result.url,
        url_hash(result.url),
        result.title,
        result.snippet,
        result.search_engine,
        result.search_query,
        result.position,
        judgement.confidence_score,
        PENDING_CRAWL if judgement.should_crawl else SKIPPED,
        judgement.organisation_name,
        judgement.program_name,
        msgspec.json.encode(judgement.as_notes()).decode(),
    )
    if made is None:
        return None
    scores = judgement.judge_scores
    await connection.execute(
        JUDGEMENTS,
        key,
        [score.judge_name for score in scores],
        [score.score for score in scores],
        [score.weight for score in scores],
        [score.explanation for score in scores],
    )
    return key


async def crawled(connection: Connection, candidate: Candidate, *, actor: str) -> Candidate:
    """Phase 2 crawled and extracted its page: it awaits review."""
    await _move(connection, candidate, PENDING_REVIEW, actor)
    await connection.execute(NAMED, candidate.id)
    return await get(connection, candidate.id)


async def assign(
    connection: Connection, candidate: Candidate, reviewer: str, *, actor: str
) -> Candidate:
    """Assign it to a reviewer."""
    return await _move(connection, candidate, IN_REVIEW, actor, assigned_to=reviewer)


async def approve(
    connection: Connection, candidate: Candidate, *, actor: str, reason: str | None = None
) -> Candidate:
    """Approve it: its domain belongs to an organisation of the vertical from now on."""
    approved = await _move(connection, candidate, APPROVED, actor, reason=reason)
    row = await connection.fetchrow(NEW_OWNER, approved.id)
    if row is not None:
        vertical = await verticals.get(connection, approved.vertical)
        stated = checked((row["name"] or "")[: organisations.MAX_NAME], "name", MAX_REASON)
        owner = NewOrganisation.understand(stated or row["domain"], [row["domain"]])
        await organisations.put(connection, vertical, owner, actor=actor)
    return approved


async def reject(
    connection: Connection, candidate: Candidate, *, actor: str, reason: str
) -> Candidate:
    if checked(reason, "reason", MAX_REASON) is None:
        raise UsageError("Give a reason for the rejection.")
    return await _move(connection, candidate, REJECTED, actor, reason=reason)


async def get(source: Connection | Database, candidate_id: UUID) -> Candidate:
    row = await source.fetchrow(f"SELECT {COLUMNS} {FROM} WHERE c.id = $1", candidate_id)
    if row is None:
        raise NotFoundError(f"Unknown candidate {candidate_id}.")
    return Candidate.of(row)


async def ready_to_crawl(
    source: Connection | Database, vertical: str | None = None, limit: int = 100
) -> list[Candidate]:
    """Candidates that wait for their crawl and whose domain is approved."""
    return [Candidate.of(row) for row in await source.fetch(READY, vertical, limit)]


async def records_of(
    source: Connection | Database, candidate_id: UUID, limit: int = 200
) -> list[StatedRecord]:
    """Records for the review of a crawled candidate, those of its own page first."""
    rows = await source.fetch(STATED, candidate_id, limit)
    return [StatedRecord(**{**row, "data": msgspec.json.decode(row["data"])}) for row in rows]


async def _move(
    connection: Connection,
    candidate: Candidate,
    status: CandidateStatus,
    actor: str,
    *,
    assigned_to: str | None = None,
    reason: str | None = None,
) -> Candidate:
    if status not in TRANSITIONS[candidate.status]:
        after = ", ".join(sorted(TRANSITIONS[candidate.status])) or "nothing"
        raise ConflictError(
            f"The candidate {candidate.url} is {candidate.status}; "
            f"it can become {after}, not {status}."
        )
    reason = checked(reason, "reason", MAX_REASON)
    moved = await connection.fetchval(
        MOVE, candidate.id, candidate.status, status, assigned_to, actor, reason
    )
    now = await get(connection, candidate.id)
    if moved is None:
        raise ConflictError(
            f"The candidate {now.url} was {candidate.status} when you opened it and is {now.status} now."
        )
    data = {"candidate": str(now.id), "url": now.url, "before": candidate.status, "reason": reason}
    fact = Event(f"candidate.{status.lower()}", actor, now.domain_id, data=data)
    await record(connection, [fact])
    return now
