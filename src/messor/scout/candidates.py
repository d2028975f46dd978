"""Candidates: judged search results on their way from the result page to a reviewer's decision.

    PENDING_CRAWL → PENDING_REVIEW → IN_REVIEW → APPROVED or REJECTED
    SKIPPED_LOW_CONFIDENCE (the end)

The threshold is fixed; the table itself keeps the steps and what each needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.errors import ConflictError, NotFoundError, UsageError
from messor.kit.ids import new_id
from messor.ledger.events import Event, record
from messor.registry.domains import MAX_REASON, checked
from messor.scout.judges.model import Judgement, SearchResult
from messor.store.database import Connection, Database
from messor.web.urls import url_hash

PENDING_CRAWL, PENDING_REVIEW = "PENDING_CRAWL", "PENDING_REVIEW"
IN_REVIEW, APPROVED, REJECTED = "IN_REVIEW", "APPROVED", "REJECTED"
SKIPPED = "SKIPPED_LOW_CONFIDENCE"

# From each status, those that may follow.
TRANSITIONS: dict[str, set[str]] = {
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
  c.created_at"""
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
       reviewed_by = CASE WHEN $3 IN ('APPROVED', 'REJECTED') THEN $5 END,
       reviewed_at = CASE WHEN $3 IN ('APPROVED', 'REJECTED') THEN messor.clock() END,
       review_reason = $6
 WHERE id = $1 AND status = $2 RETURNING id
"""
# Candidates of phase 2: those whose domain a reviewer has approved.
READY = f"""
SELECT {COLUMNS} {FROM} JOIN messor.domains d ON d.id = c.domain_id
 WHERE c.status = 'PENDING_CRAWL' AND d.status = 'approved' AND ($1::text IS NULL OR v.name = $1)
 ORDER BY c.confidence_score DESC, c.id LIMIT $2
"""
LISTING = f"""
SELECT {COLUMNS} {FROM}
 WHERE ($1::text IS NULL OR v.name = $1) AND ($2::text IS NULL OR c.status = $2)
   AND ($3::uuid IS NULL OR c.session_id = $3)
 ORDER BY c.confidence_score DESC, c.id LIMIT $4
"""


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
    status: str
    organisation_name: str | None
    program_name: str | None
    validation_notes: dict[str, Any]
    assigned_to: str | None
    reviewed_by: str | None
    reviewed_at: datetime | None
    review_reason: str | None
    created_at: datetime

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
    """Keep a judged result; None when its session has the address already."""
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
    """Phase 2 brought its pages: it waits for a reviewer."""
    return await _move(connection, candidate, PENDING_REVIEW, actor)


async def assign(
    connection: Connection, candidate: Candidate, reviewer: str, *, actor: str
) -> Candidate:
    """A reviewer takes it up."""
    return await _move(connection, candidate, IN_REVIEW, actor, assigned_to=reviewer)


async def approve(
    connection: Connection, candidate: Candidate, *, actor: str, reason: str | None = None
) -> Candidate:
    return await _move(connection, candidate, APPROVED, actor, reason=reason)


async def reject(
    connection: Connection, candidate: Candidate, *, actor: str, reason: str
) -> Candidate:
    if checked(reason, "reason", MAX_REASON) is None:
        raise UsageError("Say why the candidate is rejected: a reason is required.")
    return await _move(connection, candidate, REJECTED, actor, reason=reason)


async def get(source: Connection | Database, candidate_id: UUID) -> Candidate:
    row = await source.fetchrow(f"SELECT {COLUMNS} {FROM} WHERE c.id = $1", candidate_id)
    if row is None:
        raise NotFoundError(f"There is no candidate {candidate_id}.")
    return Candidate.of(row)


async def listing(
    source: Connection | Database,
    *,
    vertical: str | None = None,
    status: str | None = None,
    session_id: UUID | None = None,
    limit: int = 100,
) -> list[Candidate]:
    """Candidates, the most trusted first."""
    if status is not None and status not in TRANSITIONS:
        raise UsageError(f"A candidate is {' or '.join(TRANSITIONS)}.")
    rows: Sequence[Any] = await source.fetch(LISTING, vertical, status, session_id, limit)
    return [Candidate.of(row) for row in rows]


async def ready_to_crawl(
    source: Connection | Database, vertical: str | None = None, limit: int = 100
) -> list[Candidate]:
    """Candidates that wait for their crawl and whose domain is approved."""
    return [Candidate.of(row) for row in await source.fetch(READY, vertical, limit)]


async def _move(
    connection: Connection,
    candidate: Candidate,
    status: str,
    actor: str,
    *,
    assigned_to: str | None = None,
    reason: str | None = None,
) -> Candidate:
    if status not in TRANSITIONS[candidate.status]:
        after = ", ".join(sorted(TRANSITIONS[candidate.status])) or "nothing"
        raise ConflictError(
            f"The candidate {candidate.url} is {candidate.status}; "
            f"from there it can become {after}, not {status}."
        )
    reason = checked(reason, "reason", MAX_REASON)
    moved = await connection.fetchval(
        MOVE, candidate.id, candidate.status, status, assigned_to, actor, reason
    )
    now = await get(connection, candidate.id)
    if moved is None:
        raise ConflictError(
            f"The candidate {now.url} was {candidate.status} when you looked and is {now.status}."
        )
    data = {"candidate": str(now.id), "url": now.url, "before": candidate.status, "reason": reason}
    fact = Event(f"candidate.{status.lower()}", actor, now.domain_id, data=data)
    await record(connection, [fact])
    return now
