"""Domains: what may be harvested, who asked, who decided and why.

Status changes go through the table of `registry.life`; each leaves an event. What approval sets
in motion (hosts, lanes, seed pages) is the engine's to arrange.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Unpack
from uuid import UUID

from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ledger.events import Event, record
from messor.registry.life import (
    EVENT_TYPES,
    KEEPS_TRUST,
    NEEDS_REASON,
    TRANSITIONS,
    event_type,
    steps_from,
)
from messor.registry.terms import COLUMNS as TERM_COLUMNS
from messor.registry.terms import RANGES, Terms, understand
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse

__all__ = [
    "EVENT_TYPES",
    "TRANSITIONS",
    "Domain",
    "Submission",
    "configure",
    "get",
    "listing",
    "lock",
    "move",
    "submit",
]

MAX_CONTEXT = 4_000
MAX_REASON = 2_000
MAX_NAME = 253
# What steers terminals and turns the direction of text; tabs and line ends may stay.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")

COLUMNS = """id, domain, base_url, status, processing, submitted_by, submitter_type,
  submission_context, reviewed_by, reviewed_at, rejection_reason, max_crawl_depth, page_budget,
  crawl_delay_seconds, max_concurrent_requests, scrape_frequency_hours, is_trusted_domain, active,
  policy_version, pages_known, harvest, on_block, render, directives, reservations,
  robots_forbidden, proxies, verify_tls, created_at, domain_class, review_reason,
  last_processed_at, processing_count, best_confidence_score, high_quality_candidate_count,
  low_quality_candidate_count, no_funds_year, failure_reason, failure_count, retry_after,
  (SELECT max(h.last_request_at) FROM messor.hosts h WHERE h.domain_id = domains.id)
    AS last_scraped_at"""

# Who asked first, and everybody after, is kept beside the domain.
INSERT = f"""
WITH made AS (
  INSERT INTO messor.domains (id, domain, base_url, submitted_by, submitter_type,
                              submission_context, max_crawl_depth)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (domain) DO NOTHING
  RETURNING *
), asked AS (
  INSERT INTO messor.domain_submissions (id, domain_id, submitted_by, submitter_type, context,
                                         max_crawl_depth, contact)
  SELECT $8, id, submitted_by, submitter_type, submission_context, max_crawl_depth, $9 FROM made
)
SELECT {COLUMNS} FROM made AS domains
"""

MOVE = f"""
UPDATE messor.domains
   SET status = $2, reviewed_by = $3, reviewed_at = messor.clock(), rejection_reason = $4,
       is_trusted_domain = is_trusted_domain AND $6, review_reason = $7,
       policy_version = policy_version + 1, updated_at = messor.clock()
 WHERE id = $1 AND status = $5
RETURNING {COLUMNS}
"""

CONFIGURE = f"""
UPDATE messor.domains
   SET crawl_delay_seconds = coalesce($2, crawl_delay_seconds),
       max_concurrent_requests = coalesce($3, max_concurrent_requests),
       max_crawl_depth = coalesce($4, max_crawl_depth),
       page_budget = coalesce($5, page_budget),
       scrape_frequency_hours = coalesce($6, scrape_frequency_hours),
       harvest = coalesce($7, harvest),
       on_block = coalesce($8, on_block),
       render = coalesce($9, render),
       directives = coalesce($10, directives),
       reservations = coalesce($11, reservations),
       robots_forbidden = coalesce($12, robots_forbidden),
       proxies = coalesce($13, proxies),
       verify_tls = coalesce($14, verify_tls),
       policy_version = policy_version + 1, updated_at = messor.clock()
 WHERE id = $1
RETURNING {COLUMNS}
"""


RESTORE = f"""
UPDATE messor.domains
   SET crawl_delay_seconds = CASE WHEN 'delay' = ANY ($2) THEN NULL ELSE crawl_delay_seconds END,
       scrape_frequency_hours =
         CASE WHEN 'every_hours' = ANY ($2) THEN NULL ELSE scrape_frequency_hours END,
       policy_version = policy_version + 1, updated_at = messor.clock()
 WHERE id = $1
RETURNING {COLUMNS}
"""

LOCK = "SELECT FROM messor.domains WHERE domain = $1 FOR NO KEY UPDATE"


@dataclass(frozen=True, slots=True)
class Domain:
    """One row of the registry."""

    id: UUID
    domain: str
    base_url: str
    status: str
    processing: str
    submitted_by: str
    submitter_type: str
    submission_context: str | None
    reviewed_by: str | None
    reviewed_at: datetime | None
    rejection_reason: str | None
    max_crawl_depth: int
    page_budget: int
    crawl_delay_seconds: float | None
    max_concurrent_requests: int
    scrape_frequency_hours: int | None
    is_trusted_domain: bool
    active: bool
    policy_version: int
    pages_known: int
    harvest: str  # this and the following: see registry.terms
    on_block: str
    render: str
    directives: str
    reservations: str
    robots_forbidden: str
    proxies: str
    verify_tls: bool
    created_at: datetime
    domain_class: str
    review_reason: str | None  # why a reviewer should look again
    last_processed_at: datetime | None  # this and the following: see registry.processing
    processing_count: int
    best_confidence_score: float | None
    high_quality_candidate_count: int
    low_quality_candidate_count: int
    no_funds_year: int | None
    failure_reason: str | None
    failure_count: int  # in a row
    retry_after: datetime | None
    last_scraped_at: datetime | None


@dataclass(frozen=True, slots=True)
class Submission:
    """What a person typed, understood: the domain it belongs to and the URL to start from."""

    domain: str
    base_url: str

    @classmethod
    def understand(cls, text: str) -> Submission:
        """Take a domain, a host or a URL; a bare name is tried over https."""
        text = text.strip()
        url = parse(text if "://" in text else f"https://{text}")
        if url is None:
            raise UsageError(
                f"{text[:200]!r} is not a web address. Give a domain such as example.org "
                "or a URL such as https://example.org/page."
            )
        domain = registrable_domain(url.host)
        if domain is None:
            raise UsageError(
                f"{url.host!r} has no registrable domain. Give a name such as example.org."
            )
        if len(url.host) > MAX_NAME or not all(map(_LABEL.fullmatch, url.host.split("."))):
            raise UsageError(
                f"{url.host[:200]!r} is not a name that DNS can hold. "
                "Give a domain such as example.org."
            )
        return cls(domain, f"{url.scheme}://{url.authority}/")


async def submit(
    connection: Connection,
    submission: Submission,
    *,
    actor: str,
    submitter_type: str = "admin",
    context: str | None = None,
    max_crawl_depth: int = 3,
    contact: str | None = None,
) -> tuple[Domain, bool]:
    """Ask for a domain; answers it and whether it is new. A known one stays as it is."""
    context = checked(context, "context", MAX_CONTEXT)
    low, high = RANGES["max_crawl_depth"]
    if not low <= max_crawl_depth <= high:
        raise UsageError(f"The depth must lie between {low} and {high}, not be {max_crawl_depth}.")
    row = await connection.fetchrow(
        INSERT,
        new_id(),
        submission.domain,
        submission.base_url,
        actor,
        submitter_type,
        context,
        max_crawl_depth,
        new_id(),
        contact,
    )
    if row is None:
        return await get(connection, submission.domain), False
    domain = Domain(**row)
    fact = Event("domain.submitted", actor, domain.id, data={"context": context})
    await record(connection, [fact])
    return domain, True


async def move(
    connection: Connection,
    domain: Domain,
    status: str,
    *,
    actor: str,
    reason: str | None = None,
    **detail: Any,
) -> Domain:
    """Change a domain's status, if the table of transitions allows it."""
    reason = checked(reason, "reason", MAX_REASON)
    if status not in TRANSITIONS[domain.status]:
        raise ConflictError(
            f"{domain.domain} is {domain.status}{decided(domain)}; from there it can become "
            f"{steps_from(TRANSITIONS, domain.status)}, not {status}."
        )
    if status in NEEDS_REASON and reason is None:
        raise UsageError(f"Say why {domain.domain} becomes {status}: a reason is required.")
    again = reason if status == "pending_review" and domain.status == "approved" else None
    row = await connection.fetchrow(
        MOVE, domain.id, status, actor, reason, domain.status, status in KEEPS_TRUST, again
    )
    if row is None:
        raise overtaken(domain.status, await get(connection, domain.domain))
    fact = Event(
        event_type(domain.status, status),
        actor,
        domain.id,
        data={"reason": reason, "before": domain.status, **detail},
    )
    await record(connection, [fact])
    return Domain(**row)


def overtaken(seen: str, now: Domain) -> ConflictError:
    """For a reviewer who decides what another decided since they looked."""
    return ConflictError(
        f"{now.domain} was {seen} when you looked and is {now.status} now{decided(now)}; "
        "look at it again before you decide."
    )


def decided(domain: Domain) -> str:
    """Who brought a domain where it stands, for a sentence."""
    if domain.reviewed_by is None or domain.reviewed_at is None:
        return ""
    return f" (decided by {domain.reviewed_by} on {domain.reviewed_at:%Y-%m-%d %H:%M:%S} UTC)"


def checked(text: str | None, what: str, longest: int) -> str | None:
    """What a person wrote, fit to be stored and shown anywhere; None when it says nothing."""
    text = _CONTROLS.sub("", text or "").strip()
    if len(text) > longest:
        raise UsageError(f"The {what} is longer than {longest} characters.")
    return text.encode("utf-8", "replace").decode() or None


async def configure(
    connection: Connection, domain: Domain, *, actor: str, **terms: Unpack[Terms]
) -> Domain:
    """Change how a domain is crawled; only what is given changes. New visits go by it."""
    given = understand(terms)
    row = await connection.fetchrow(CONFIGURE, domain.id, *given.values())
    assert row is not None
    changes = {name: value for name, value in given.items() if value is not None}
    await record(connection, [Event("domain.configured", actor, domain.id, data=changes)])
    return Domain(**row)


async def restore(
    connection: Connection, domain: Domain, names: Collection[str], *, actor: str
) -> Domain:
    """Take back a domain's own delay or rhythm, so that the usual one holds again."""
    if not names or not TERM_COLUMNS.keys() >= set(names):
        raise UsageError(f"Only {' and '.join(TERM_COLUMNS)} can be taken back.")
    row = await connection.fetchrow(RESTORE, domain.id, list(names))
    assert row is not None
    changes = {TERM_COLUMNS[name]: None for name in names}
    await record(connection, [Event("domain.configured", actor, domain.id, data=changes)])
    return Domain(**row)


async def get(source: Connection | Database, name: str) -> Domain:
    row = await source.fetchrow(f"SELECT {COLUMNS} FROM messor.domains WHERE domain = $1", name)
    if row is None:
        raise NotFoundError(f"{name} is not known. Submit it: messor domains submit {name}")
    return Domain(**row)


async def lock(connection: Connection, name: str) -> Domain:
    """The domain as it stands, and stays until the caller's transaction ends."""
    await connection.execute(LOCK, name)
    return await get(connection, name)


async def listing(
    database: Database,
    status: str | None = None,
    limit: int = 1000,
    *,
    processing: str | None = None,
) -> list[Domain]:
    rows = await database.fetch(
        f"""SELECT {COLUMNS} FROM messor.domains
             WHERE ($1::text IS NULL OR status = $1) AND ($3::text IS NULL OR processing = $3)
             ORDER BY created_at, domain LIMIT $2""",
        status,
        limit,
        processing,
    )
    return [Domain(**row) for row in rows]
