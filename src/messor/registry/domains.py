"""Domains: what may be crawled, who submitted it, who decided and why.

Status changes follow the table of `registry.life`; each records an event. Effects of an approval
(hosts, lanes, seed pages) are left to `governance`.
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
    Processing,
    Status,
    SubmitterType,
    event_type,
    steps_from,
)
from messor.registry.terms import COLUMNS as TERM_COLUMNS
from messor.registry.terms import RANGES, Terms, understand
from messor.store.database import Connection, Database
from messor.web.suffixes import is_ip_literal, registrable_domain
from messor.web.urls import Url, parse

__all__ = [
    "EVENT_TYPES",
    "TRANSITIONS",
    "Domain",
    "Submission",
    "configure",
    "get",
    "lock",
    "move",
    "submit",
]

MAX_CONTEXT = 4_000
MAX_REASON = 2_000
MAX_NAME = 253
SUGGESTED_DELAY = 2  # seconds; what a form proposes
SUBMITTED_DELAYS = (1, 86_400)  # a shorter one is a reviewer's decision
# Characters that control terminals or change text direction; tabs and line ends are allowed.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")

COLUMNS = """id, domain, base_url, status, processing, submitted_by, submitter_type,
  submission_context, reviewed_by, reviewed_at, rejection_reason, max_crawl_depth, page_budget,
  crawl_delay_seconds, max_concurrent_requests, scrape_frequency_hours, is_trusted_domain, active,
  policy_version, pages_known, harvest, on_block, render, directives, reservations,
  robots_forbidden, proxies, verify_tls, created_at, domain_class, review_reason,
  last_processed_at, processing_count, best_confidence_score, high_quality_candidate_count,
  low_quality_candidate_count, no_funds_year, failure_reason, failure_count, retry_after,
  (SELECT max(h.last_good_at) FROM messor.hosts h WHERE h.domain_id = domains.id)
    AS last_scraped_at, paused,
  (SELECT max(messor.risk_at(h.risk_score, h.risk_at, (SELECT messor.clock())))
     FROM messor.hosts h WHERE h.domain_id = domains.id) AS risk, vertical,
  priority, crawl_hours, time_zone, megabytes_per_day"""

# The first submitter and all later ones are stored beside the domain.
INSERT = f"""
WITH made AS (
  INSERT INTO messor.domains (id, domain, base_url, submitted_by, submitter_type,
                              submission_context, max_crawl_depth, crawl_delay_seconds, vertical)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $10, $11)
  ON CONFLICT (domain) DO NOTHING
  RETURNING *
), asked AS (
  INSERT INTO messor.domain_submissions (id, domain_id, submitted_by, submitter_type, context,
                                         max_crawl_depth, contact, crawl_delay_seconds, vertical,
                                         token)
  SELECT $8, id, submitted_by, submitter_type, submission_context, max_crawl_depth, $9,
         crawl_delay_seconds, vertical, $12 FROM made
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
       priority = coalesce($15, priority),
       crawl_hours = coalesce($16, crawl_hours),
       time_zone = coalesce($17, time_zone),
       megabytes_per_day = coalesce($18, megabytes_per_day),
       policy_version = policy_version + 1, updated_at = messor.clock()
 WHERE id = $1
RETURNING {COLUMNS}
"""


_RESET = ",\n       ".join(
    f"{column} = CASE WHEN '{term}' = ANY ($2) THEN NULL ELSE {column} END"
    for term, column in TERM_COLUMNS.items()
)
RESTORE = f"""
UPDATE messor.domains
   SET {_RESET},
       policy_version = policy_version + 1, updated_at = messor.clock()
 WHERE id = $1
RETURNING {COLUMNS}
"""

LOCK = "SELECT FROM messor.domains WHERE domain = $1 FOR NO KEY UPDATE"


@dataclass(frozen=True, slots=True)
class Domain:
    """A row of the registry."""

    id: UUID
    domain: str
    base_url: str
    status: Status
    processing: Processing
    submitted_by: str
    submitter_type: SubmitterType
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
    review_reason: str | None  # why a reviewer should check it again
    last_processed_at: datetime | None  # this and the following: see registry.processing
    processing_count: int
    best_confidence_score: float | None
    high_quality_candidate_count: int
    low_quality_candidate_count: int
    no_funds_year: int | None
    failure_reason: str | None
    failure_count: int  # consecutive
    retry_after: datetime | None
    last_scraped_at: datetime | None  # its last good page
    paused: bool
    risk: float | None  # of its riskiest host
    vertical: str | None  # its own; organisations and candidates may add others
    priority: int  # 1 first, 10 last
    crawl_hours: str | None
    time_zone: str  # of its crawl hours, and of the day of its cap
    megabytes_per_day: int | None


@dataclass(frozen=True, slots=True)
class Submission:
    """Parsed input: the domain it belongs to and the URL to start from."""

    domain: str
    base_url: str

    @classmethod
    def understand(cls, text: str) -> Submission:
        """Parse a domain, a host or a URL; a bare name gets https."""
        text = text.strip()
        url = parse(text if "://" in text else f"https://{text}")
        if url is None:
            raise UsageError(
                f"{text[:200]!r} is not a web address. Give a domain such as example.org "
                "or a URL such as https://example.org/page."
            )
        domain = registrable_domain(url.host)
        if domain is None:
            raise UsageError(_without_domain(url))
        if len(url.host) > MAX_NAME or not all(map(_LABEL.fullmatch, url.host.split("."))):
            raise UsageError(
                f"{url.host[:200]!r} is not a valid DNS name. Give a domain such as example.org."
            )
        return cls(domain, f"{url.scheme}://{url.authority}/")


def _without_domain(url: Url) -> str:
    """Why a host cannot be a domain; one's own machine needs a name and an opening."""
    is_local = url.host == "localhost" or url.host.endswith(".localhost")
    if is_local or is_ip_literal(url.host):
        target = f"{'127.0.0.1' if is_local else url.host}:{url.port}"
        return (
            f"{url.host!r} is an address; approvals are for domains. To crawl a site of your own there, give it a name: "
            f'MESSOR_ALLOWED_NETWORKS__NAMES=\'{{"my-site.test:80": "{target}"}}\' messor http://my-site.test/'
        )
    return f"{url.host!r} has no registrable domain. Give a name such as example.org."


async def submit(
    connection: Connection,
    submission: Submission,
    *,
    actor: str,
    submitter_type: str = "admin",
    context: str | None = None,
    max_crawl_depth: int = 3,
    contact: str | None = None,
    submitted_by: str | None = None,
    delay: float | None = None,
    vertical: str | None = None,
    token: str | None = None,
) -> tuple[Domain, bool]:
    """Submit a domain; returns it and whether it is new. A known one is unchanged.

    `submitted_by` is the member behind the actor, if that is a key.
    """
    context = checked(context, "context", MAX_CONTEXT)
    check_submitted(max_crawl_depth, delay)
    row = await connection.fetchrow(
        INSERT,
        new_id(),
        submission.domain,
        submission.base_url,
        submitted_by or actor,
        submitter_type,
        context,
        max_crawl_depth,
        new_id(),
        contact,
        delay,
        vertical,
        token,
    )
    if row is None:
        return await get(connection, submission.domain), False
    domain = Domain(**row)
    data = {"context": context, **({"vertical": vertical} if vertical else {})}
    fact = Event("domain.submitted", actor, domain.id, data=data)
    await record(connection, [fact])
    return domain, True


def check_submitted(max_crawl_depth: int, delay: float | None) -> None:
    """Raise an error for terms that a submission may not propose."""
    low, high = RANGES["max_crawl_depth"]
    if not low <= max_crawl_depth <= high:
        raise UsageError(f"The depth must be between {low} and {high}, not {max_crawl_depth}.")
    least, most = SUBMITTED_DELAYS
    if delay is not None and not least <= delay <= most:
        raise UsageError(
            f"The delay must be between {least} and {most} seconds, not {delay:g}. "
            "A reviewer may set a shorter one in the domain's settings."
        )


async def move(
    connection: Connection,
    domain: Domain,
    status: str,
    *,
    actor: str,
    reason: str | None = None,
    **detail: Any,
) -> Domain:
    """Change a domain's status if the transition table allows it."""
    reason = checked(reason, "reason", MAX_REASON)
    if status not in TRANSITIONS[domain.status]:
        raise ConflictError(
            f"{domain.domain} is {domain.status}{decided(domain)}; it can become "
            f"{steps_from(TRANSITIONS, domain.status)}, not {status}."
        )
    if status in NEEDS_REASON and reason is None:
        raise UsageError(f"Give a reason why {domain.domain} becomes {status}.")
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
    """The conflict when somebody else decided since the reviewer loaded the domain."""
    return ConflictError(
        f"{now.domain} was {seen} when you opened it and is {now.status} now{decided(now)}; "
        "check it again before you decide."
    )


def decided(domain: Domain) -> str:
    """Clause naming who decided a domain's status."""
    if domain.reviewed_by is None or domain.reviewed_at is None:
        return ""
    return f" (decided by {domain.reviewed_by} on {domain.reviewed_at:%Y-%m-%d %H:%M:%S} UTC)"


def checked(text: str | None, what: str, longest: int) -> str | None:
    """Text that is safe to store and display; None if blank."""
    text = _CONTROLS.sub("", text or "").strip()
    if len(text) > longest:
        raise UsageError(f"The {what} is longer than {longest} characters.")
    return text.encode("utf-8", "replace").decode() or None


async def configure(
    connection: Connection, domain: Domain, *, actor: str, **terms: Unpack[Terms]
) -> Domain:
    """Change a domain's crawl terms; only given ones change. They apply to new visits."""
    given = understand(terms)
    row = await connection.fetchrow(CONFIGURE, domain.id, *given.values())
    assert row is not None
    changes = {name: value for name, value in given.items() if value is not None}
    await record(connection, [Event("domain.configured", actor, domain.id, data=changes)])
    return Domain(**row)


async def restore(
    connection: Connection, domain: Domain, names: Collection[str], *, actor: str
) -> Domain:
    """Reset terms that a domain need not have of its own."""
    if not names or not TERM_COLUMNS.keys() >= set(names):
        raise UsageError(f"Only {' and '.join(TERM_COLUMNS)} can be reset.")
    row = await connection.fetchrow(RESTORE, domain.id, list(names))
    assert row is not None
    changes = {TERM_COLUMNS[name]: None for name in names}
    await record(connection, [Event("domain.configured", actor, domain.id, data=changes)])
    return Domain(**row)


async def get(source: Connection | Database, name: str) -> Domain:
    row = await source.fetchrow(f"SELECT {COLUMNS} FROM messor.domains WHERE domain = $1", name)
    if row is None:
        raise NotFoundError(f"Unknown domain {name}. Submit it: messor domains submit {name}")
    return Domain(**row)


async def lock(connection: Connection, name: str) -> Domain:
    """The domain, locked until the caller's transaction ends."""
    await connection.execute(LOCK, name)
    return await get(connection, name)
