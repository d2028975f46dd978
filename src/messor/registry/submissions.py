"""Submissions: the result of submitting a domain, new or known.

Every submission is stored with its context. URLs that wait for their domain are stored here; adding
them to the frontier is left to `governance`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from typing import Literal, get_args
from uuid import UUID

from messor.access.principal import Principal
from messor.access.roles import PERMISSIONS, Act
from messor.core.ids import new_id
from messor.errors import ConflictError, UsageError
from messor.ledger.events import Event, record
from messor.registry import domains, submission_status
from messor.registry.domains import MAX_CONTEXT, Domain, Submission, checked
from messor.registry.life import SubmitterType
from messor.store.database import Connection, Database
from messor.web.urls import Url, canonical, url_hash

MAX_URLS = 1_000  # waiting for one domain
MAX_SUBMISSIONS = 200  # for one domain, by people without an account
SUBMITTERS: tuple[str, ...] = get_args(SubmitterType)

# Advice for the choice of a depth.
DEPTH_GUIDANCE = (
    (0, "Homepage only: for single-page sites"),
    (1, "Homepage and direct links: for small sites"),
    (2, "Recommended for small sites"),
    (3, "Recommended: for medium sites; the default"),
    (4, "Caution: large sites can be slow; watch the progress"),
)

ASK = """
INSERT INTO messor.domain_submissions (id, domain_id, submitted_by, submitter_type, contact,
                                       context, max_crawl_depth, crawl_delay_seconds, vertical, token)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
COUNT = """
SELECT count(*) FROM messor.domain_submissions WHERE domain_id = $1 AND submitter_type = $2
"""
RENEW = f"""
UPDATE messor.domains SET submitted_by = $2, submitter_type = $3, submission_context = $4,
       max_crawl_depth = $5, crawl_delay_seconds = coalesce($6, crawl_delay_seconds),
       vertical = coalesce($7, vertical), updated_at = messor.clock() WHERE id = $1
RETURNING {domains.COLUMNS}
"""
FIRST_VERTICAL = (
    "UPDATE messor.domains SET vertical = $2, updated_at = messor.clock() WHERE id = $1"
)
OF_DOMAIN = """
SELECT submitted_by, submitter_type, contact IS NOT NULL AS has_contact, context, max_crawl_depth,
       crawl_delay_seconds, created_at, vertical
  FROM messor.domain_submissions WHERE domain_id = $1 ORDER BY created_at, id LIMIT $2
"""
REMEMBER = """
INSERT INTO messor.submitted_urls AS u (domain_id, url_hash, url, submitted_by, submitter_type)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (domain_id, url_hash) DO UPDATE SET taken_at = NULL, submitted_at = messor.clock(),
   submitted_by = excluded.submitted_by, submitter_type = excluded.submitter_type
 WHERE u.taken_at IS NOT NULL
RETURNING true
"""
WAITING = """
SELECT url, submitted_by, submitter_type, submitted_at FROM messor.submitted_urls
 WHERE domain_id = $1 AND taken_at IS NULL ORDER BY submitted_at, url LIMIT $2
"""
TAKE = """
UPDATE messor.submitted_urls SET taken_at = messor.clock()
 WHERE domain_id = $1 AND taken_at IS NULL RETURNING url
"""
ERASED = """
SELECT reason FROM messor.erasures WHERE (kind = 'domain' AND key = $1) OR (kind = 'url' AND key = $2)
 LIMIT 1
"""
FORGOTTEN = """
SELECT EXISTS (SELECT FROM messor.erasures WHERE kind = 'person' AND key = messor.person_key($1))
"""


@dataclass(frozen=True, slots=True)
class Submitter:
    """Who submits, in which role, and their contact."""

    actor: str
    submitter_type: str = "admin"
    contact: str | None = None  # for a notice; personal data, so stored apart from the domain
    member_id: UUID | None = None  # the actor's, or of the member whose key it is

    @classmethod
    def of(cls, principal: Principal, contact: str | None = None) -> Submitter:
        """The caller as a submitter; whoever may decide about domains counts as `admin`."""
        decides = principal.role in PERMISSIONS[Act.DOMAINS_REVIEW]
        kind = "admin" if decides else "public_user"
        return cls(principal.actor, kind, contact, principal.member_id)

    @property
    def submitted_by(self) -> str:
        return self.actor if self.member_id is None else f"member:{self.member_id}"

    @property
    def is_anonymous(self) -> bool:
        return self.submitter_type == "public_user" and self.member_id is None

    def __post_init__(self) -> None:
        if self.submitter_type not in SUBMITTERS:
            raise UsageError(f"A submitter is {' or '.join(SUBMITTERS)}.")
        if self.contact is not None and (len(self.contact) > 320 or "\x00" in self.contact):
            raise UsageError(
                "The contact is too long for an address; give an email address or URL."
            )


@dataclass(frozen=True, slots=True)
class Submitted:
    """The result of a submission, with a message for the submitter."""

    outcome: Literal[
        "new", "resubmitted", "pending", "approved", "suspended", "rejected", "blacklisted"
    ]
    domain: Domain
    message: str
    asks: Literal["rescrape", "context"] | None = None  # offered to the person
    token: str | None = None  # of its status page, if it was stored

    @property
    def taken(self) -> bool:
        return self.outcome in ("new", "resubmitted")


@dataclass(frozen=True, slots=True)
class PastSubmission:
    """One submission of a domain."""

    submitted_by: str
    submitter_type: SubmitterType
    has_contact: bool
    context: str | None
    max_crawl_depth: int
    crawl_delay_seconds: float | None
    created_at: datetime
    vertical: str | None


@dataclass(frozen=True, slots=True)
class WaitingUrl:
    """A URL that is crawled once its domain is approved."""

    url: str
    submitted_by: str
    submitter_type: SubmitterType
    submitted_at: datetime


@dataclass(frozen=True, slots=True)
class _Given:
    """What a submission says about a domain, in the order of the statements' parameters."""

    context: str | None
    max_crawl_depth: int
    delay: float | None
    vertical: str | None


async def ask(
    connection: Connection,
    submission: Submission,
    asker: Submitter,
    *,
    context: str | None = None,
    max_crawl_depth: int = 3,
    delay: float | None = None,
    vertical: str | None = None,
) -> Submitted:
    """Submit a domain; a rejected one returns to the queue with new context.

    The caller has checked that the vertical is applied.
    """
    asker, token = await _reachable(connection, asker), submission_status.new_token()
    domain, new = await domains.submit(
        connection,
        submission,
        actor=asker.actor,
        submitter_type=asker.submitter_type,
        context=context,
        max_crawl_depth=max_crawl_depth,
        contact=asker.contact,
        submitted_by=asker.submitted_by,
        delay=delay,
        vertical=vertical,
        token=token,
    )
    if new:
        message = f"{domain.domain} was submitted for review."
        return Submitted("new", domain, message, token=token)
    domain = await domains.lock(connection, domain.domain)
    given = _Given(checked(context, "context", MAX_CONTEXT), max_crawl_depth, delay, vertical)
    if domain.status == "rejected" and given.context not in (None, domain.submission_context):
        await _check_public_limit(connection, domain, asker)
        await _keep(connection, domain, asker, given, token)
        return replace(await _resubmit(connection, domain, asker, given), token=token)
    if domain.status == "pending_review" and (given.context or asker.contact):
        await _check_public_limit(connection, domain, asker)
        await _keep(connection, domain, asker, given, token)
        if vertical and domain.vertical is None:
            await connection.execute(FIRST_VERTICAL, domain.id, vertical)
        return replace(_as_it_stands(domain), token=token)
    return _as_it_stands(domain)


def _as_it_stands(domain: Domain) -> Submitted:
    name, status = domain.domain, domain.status
    why = f": {domain.rejection_reason.rstrip('.')}." if domain.rejection_reason else "."
    if status == "approved":
        question = f"{name} is already approved, would you like to re-scrape?"
        return Submitted("approved", domain, question, "rescrape")
    if status == "rejected":
        again = "Submit it again with new context that answers this."
        return Submitted("rejected", domain, f"{name} was rejected{why} {again}", "context")
    if status == "pending_review":
        return Submitted("pending", domain, f"{name} was already submitted for review.")
    return Submitted(status, domain, f"{name} is {status}{why}")


async def _resubmit(
    connection: Connection, domain: Domain, asker: Submitter, given: _Given
) -> Submitted:
    who = (asker.submitted_by, asker.submitter_type)
    row = await connection.fetchrow(RENEW, domain.id, *who, *astuple(given))
    assert row is not None
    again = await domains.move(
        connection, Domain(**row), "pending_review", actor=asker.actor, context=given.context
    )
    return Submitted("resubmitted", again, f"{again.domain} was submitted for review again.")


async def _keep(
    connection: Connection, domain: Domain, asker: Submitter, given: _Given, token: str
) -> None:
    who = (asker.submitted_by, asker.submitter_type, asker.contact)
    await connection.execute(ASK, new_id(), domain.id, *who, *astuple(given), token)


async def _check_public_limit(connection: Connection, domain: Domain, asker: Submitter) -> None:
    """Limit public submissions of one domain."""
    if not asker.is_anonymous:
        return
    count: int = await connection.fetchval(COUNT, domain.id, asker.submitter_type)
    if count >= MAX_SUBMISSIONS:
        raise ConflictError(
            f"{domain.domain} was submitted often enough; a reviewer will check it."
        )


async def _reachable(connection: Connection, asker: Submitter) -> Submitter:
    """Drop the contact if its owner had it erased."""
    contact = (asker.contact or "").strip() or None
    if contact and await connection.fetchval(FORGOTTEN, contact):
        contact = None
    return replace(asker, contact=contact)


async def check_erased(connection: Connection, domain: str, url: Url) -> None:
    """Raise an error for a URL that was erased."""
    reason = await connection.fetchval(ERASED, domain, canonical(url))
    if reason is not None:
        raise ConflictError(f"{url.href} was erased and must not be stored: {reason}")


async def remember(connection: Connection, domain: Domain, url: Url, asker: Submitter) -> bool:
    """Store a URL until its domain is approved; returns whether it is new."""
    waiting = await connection.fetchval(
        "SELECT count(*) FROM messor.submitted_urls WHERE domain_id = $1 AND taken_at IS NULL",
        domain.id,
    )
    if waiting >= MAX_URLS:
        raise ConflictError(
            f"{waiting} URLs already wait for {domain.domain}; no more are accepted."
        )
    fresh = await connection.fetchval(
        REMEMBER, domain.id, url_hash(url), url.href, asker.submitted_by, asker.submitter_type
    )
    if fresh:
        data = {"url": url.href, "waits": True}
        await record(connection, [Event("url.submitted", asker.actor, domain.id, data=data)])
    return bool(fresh)


async def take_urls(connection: Connection, domain_id: UUID) -> Sequence[str]:
    """Take the waiting URLs, to be added to the frontier in this transaction."""
    return [row["url"] for row in await connection.fetch(TAKE, domain_id)]


async def past(
    source: Connection | Database, domain: Domain, limit: int = 50
) -> list[PastSubmission]:
    """All submissions of a domain, oldest first."""
    return [PastSubmission(*row) for row in await source.fetch(OF_DOMAIN, domain.id, limit)]
