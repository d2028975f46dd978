"""Domains: what may be harvested, who asked, who decided and why.

Status changes go through one table of legal transitions; each leaves an event. What approval
sets in motion (hosts, lanes, seed pages) is the engine's to arrange.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Unpack
from uuid import UUID

from messor.errors import ConflictError, NotFoundError, UsageError
from messor.kit.ids import new_id
from messor.ledger.events import Event, record
from messor.registry.terms import Terms, understand
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse

# From each status, the statuses a reviewer may move a domain to.
TRANSITIONS = {
    "pending_review": {"approved", "rejected", "blacklisted"},
    "approved": {"suspended", "blacklisted"},
    "rejected": {"pending_review", "blacklisted"},
    "suspended": {"approved", "rejected", "blacklisted"},
    "blacklisted": set(),
}
NEEDS_REASON = {"rejected", "blacklisted"}
EVENT_TYPES = {
    "approved": "domain.approved",
    "rejected": "domain.rejected",
    "suspended": "domain.suspended",
    "blacklisted": "domain.blacklisted",
    "pending_review": "domain.resubmitted",
}

COLUMNS = """id, domain, base_url, status, processing, submitted_by, submitter_type,
  submission_context, reviewed_by, reviewed_at, rejection_reason, max_crawl_depth, page_budget,
  crawl_delay_seconds, max_concurrent_requests, scrape_frequency_hours, is_trusted_domain, active,
  policy_version, pages_known, harvest, on_block, render, directives, reservations,
  robots_forbidden, proxies, verify_tls, created_at,
  (SELECT max(h.last_request_at) FROM messor.hosts h WHERE h.domain_id = domains.id)
    AS last_scraped_at"""

INSERT = f"""
INSERT INTO messor.domains (id, domain, base_url, submitted_by, submitter_type, submission_context,
                            max_crawl_depth)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (domain) DO NOTHING
RETURNING {COLUMNS}
"""

MOVE = f"""
UPDATE messor.domains
   SET status = $2, reviewed_by = $3, reviewed_at = messor.clock(), rejection_reason = $4,
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
        return cls(domain, f"{url.scheme}://{url.authority}/")


async def submit(
    connection: Connection,
    submission: Submission,
    *,
    actor: str,
    submitter_type: str = "admin",
    context: str | None = None,
    max_crawl_depth: int = 3,
) -> tuple[Domain, bool]:
    """Ask for a domain; answers it and whether it is new."""
    row = await connection.fetchrow(
        INSERT,
        new_id(),
        submission.domain,
        submission.base_url,
        actor,
        submitter_type,
        context,
        max_crawl_depth,
    )
    if row is None:
        return await get(connection, submission.domain), False
    domain = Domain(**row)
    fact = Event("domain.submitted", actor, domain.id, data={"context": context})
    await record(connection, [fact])
    return domain, True


async def move(
    connection: Connection, domain: Domain, status: str, *, actor: str, reason: str | None = None
) -> Domain:
    """Change a domain's status, if the table of transitions allows it."""
    if status not in TRANSITIONS[domain.status]:
        legal = ", ".join(sorted(TRANSITIONS[domain.status])) or "nothing"
        raise ConflictError(
            f"{domain.domain} is {domain.status}; from there it can become {legal}, not {status}."
        )
    if status in NEEDS_REASON and not (reason or "").strip():
        raise UsageError(f"Say why {domain.domain} becomes {status}: a reason is required.")
    row = await connection.fetchrow(MOVE, domain.id, status, actor, reason, domain.status)
    if row is None:
        raise ConflictError(f"{domain.domain} was changed by somebody else; look at it again.")
    fact = Event(EVENT_TYPES[status], actor, domain.id, data={"reason": reason})
    await record(connection, [fact])
    return Domain(**row)


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


async def get(source: Connection | Database, name: str) -> Domain:
    row = await source.fetchrow(f"SELECT {COLUMNS} FROM messor.domains WHERE domain = $1", name)
    if row is None:
        raise NotFoundError(f"{name} is not known. Submit it: messor domains submit {name}")
    return Domain(**row)


async def listing(database: Database, status: str | None = None, limit: int = 1000) -> list[Domain]:
    rows = await database.fetch(
        f"""SELECT {COLUMNS} FROM messor.domains
             WHERE $1::text IS NULL OR status = $1 ORDER BY created_at, domain LIMIT $2""",
        status,
        limit,
    )
    return [Domain(**row) for row in rows]
