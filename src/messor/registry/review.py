"""The review queue: what awaits a decision, with everything a reviewer needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.ledger.events import data_of
from messor.registry import domains, notes, preflights, similar, submissions
from messor.registry.domains import Domain
from messor.registry.notes import Note
from messor.registry.preflights import Preflight, PreflightReport
from messor.registry.similar import Similar
from messor.registry.submissions import PastSubmission, WaitingUrl
from messor.store.database import Connection, Database


def _as_json(sql: str) -> str:
    """Rows of a statement as one JSON value."""
    return f"(SELECT coalesce(jsonb_agg(to_jsonb(part)), '[]')::text FROM ({sql}) part)"


# One statement per page of the queue: each part is found by the domain's key.
QUEUE = """
SELECT d.id, d.domain, d.base_url, d.status, d.submitted_by, d.submitter_type,
       d.submission_context, d.max_crawl_depth, d.created_at, d.review_reason, d.rejection_reason,
       d.domain_class, d.policy_version,
       (SELECT count(*) FROM messor.domain_submissions s WHERE s.domain_id = d.id) AS asked,
       (SELECT count(*) FROM messor.submitted_urls u
         WHERE u.domain_id = d.id AND u.taken_at IS NULL) AS urls_waiting,
       (SELECT count(*) FROM messor.domain_notes n WHERE n.domain_id = d.id) AS notes,
       p.requested_at AS preflight_asked_at, p.report::text AS report
  FROM messor.domains d
  LEFT JOIN LATERAL (SELECT f.requested_at, f.report FROM messor.preflights f
                      WHERE f.domain_id = d.id ORDER BY f.requested_at DESC LIMIT 1) p ON true
 WHERE (d.status = 'pending_review' OR d.review_reason IS NOT NULL)
   AND ($1::timestamptz IS NULL OR (d.created_at, d.id) > ($1, $2::uuid))
   AND ($3::text IS NULL OR d.submitter_type = $3)
   AND ($4::text IS NULL OR strpos(d.domain, $4) > 0)
 ORDER BY d.created_at, d.id LIMIT $5
"""
WAITING = """
SELECT count(*) FROM messor.domains WHERE status = 'pending_review' OR review_reason IS NOT NULL
"""
HISTORY = """
SELECT occurred_at, type, actor, data::text AS data FROM messor.events
 WHERE domain_id = $1 AND type LIKE 'domain.%' ORDER BY occurred_at DESC, id DESC LIMIT $2
"""

# Submitters, submitted pages and notes in one query; each part uses its module's statement.
BESIDES = f"""
SELECT {_as_json(submissions.OF_DOMAIN)} AS submissions, {_as_json(submissions.WAITING)} AS urls,
       {_as_json(notes.OF_DOMAIN)} AS notes
"""
MAX_BESIDES = 200


@dataclass(frozen=True, slots=True)
class WaitingDomain:
    """A row of the queue."""

    id: UUID
    domain: str
    base_url: str
    status: str
    submitted_by: str
    submitter_type: str
    submission_context: str | None
    max_crawl_depth: int
    created_at: datetime
    review_reason: str | None  # why it is reviewed again; None for a first review
    rejection_reason: str | None  # of the last decision
    domain_class: str
    policy_version: int
    asked: int  # number of submissions
    urls_waiting: int
    notes: int
    preflight_asked_at: datetime | None
    report: PreflightReport | None


@dataclass(frozen=True, slots=True)
class DomainFact:
    """An event in a domain's history."""

    occurred_at: datetime
    type: str
    actor: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dossier:
    """Everything a reviewer needs on one screen."""

    domain: Domain
    submissions: list[PastSubmission]
    urls: list[WaitingUrl]
    notes: list[Note]
    preflight: Preflight | None
    similar: list[Similar]
    history: list[DomainFact]  # newest first


async def queue(
    source: Connection | Database,
    *,
    after: tuple[datetime, UUID] | None = None,
    submitter_type: str | None = None,
    containing: str | None = None,
    limit: int = 50,
) -> Sequence[WaitingDomain]:
    """Waiting domains, oldest first; `after` is (created_at, id) of the last row seen."""
    since, last = after if after is not None else (None, None)
    rows = await source.fetch(QUEUE, since, last, submitter_type, containing, limit)
    return [WaitingDomain(**{**row, "report": preflights.decode(row["report"])}) for row in rows]


async def count(source: Connection | Database) -> int:
    """Number of domains awaiting review."""
    waiting: int = await source.fetchval(WAITING)
    return waiting


async def dossier(source: Connection | Database, name: str) -> Dossier:
    """Everything about one domain that bears on a decision."""
    domain = await domains.get(source, name)
    besides = await source.fetchrow(BESIDES, domain.id, MAX_BESIDES)
    assert besides is not None
    return Dossier(
        domain,
        msgspec.json.decode(besides["submissions"], type=list[PastSubmission]),
        msgspec.json.decode(besides["urls"], type=list[WaitingUrl]),
        msgspec.json.decode(besides["notes"], type=list[Note]),
        await preflights.newest(source, domain),
        await similar.similar_to(source, domain.domain),
        await history(source, domain),
    )


async def history(
    source: Connection | Database, domain: Domain, limit: int = 100
) -> list[DomainFact]:
    """Decisions and acts on a domain, with actors, newest first."""
    return [
        DomainFact(row["occurred_at"], row["type"], row["actor"], data_of(row["type"], row["data"]))
        for row in await source.fetch(HISTORY, domain.id, limit)
    ]
