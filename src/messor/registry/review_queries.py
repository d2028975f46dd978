"""The review queue: domains that await a decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from messor.registry import preflights
from messor.registry.life import Status, SubmitterType
from messor.registry.preflights import PreflightReport
from messor.store.listing import Filters, Listing, both_ways, where


@dataclass(frozen=True, slots=True)
class WaitingDomain:
    """A row of the queue."""

    id: UUID
    domain: str
    base_url: str
    status: Status
    submitted_by: str
    submitter_type: SubmitterType
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
    vertical: str | None


class WaitingFilter(Filters):
    """Filters of the queue."""

    q: str | None = where("strpos(d.domain, lower({})) > 0", "Part of the name", max_length=253)
    submitter_type: SubmitterType | None = where("d.submitter_type = {}", "Who requested it")
    vertical: str | None = where("d.vertical = {}", "Vertical", max_length=63)


def _waiting(row: Mapping[str, Any]) -> WaitingDomain:
    return WaitingDomain(**{**row, "report": preflights.decode(row["report"])})


WAITING = Listing(
    name="review queue",
    item=WaitingDomain,
    filters=WaitingFilter,
    table="messor.domains",
    alias="d",
    only="d.status = 'pending_review' OR d.review_reason IS NOT NULL",
    columns="""d.id, d.domain, d.base_url, d.status, d.submitted_by, d.submitter_type,
       d.submission_context, d.max_crawl_depth, d.created_at, d.review_reason, d.rejection_reason,
       d.domain_class, d.policy_version,
       (SELECT count(*) FROM messor.domain_submissions s WHERE s.domain_id = d.id) AS asked,
       (SELECT count(*) FROM messor.submitted_urls u
         WHERE u.domain_id = d.id AND u.taken_at IS NULL) AS urls_waiting,
       (SELECT count(*) FROM messor.domain_notes n WHERE n.domain_id = d.id) AS notes,
       p.requested_at AS preflight_asked_at, p.report::text AS report,
       d.vertical""",
    joins="""LEFT JOIN LATERAL (SELECT f.requested_at, f.report FROM messor.preflights f
                                 WHERE f.domain_id = d.id ORDER BY f.requested_at DESC LIMIT 1) p ON true""",
    key_type="uuid",
    orders=both_ways("created_at", "d.created_at", "timestamptz", "Oldest first", "Newest first"),
    make=_waiting,
)
