"""Intake: submission of a domain or a single URL by anyone, and its immediate effects.

A URL of an approved domain is crawled; any other waits for its domain. An unknown subdomain is
opened by a member, or by anyone where the domain is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from messor.core.plurals import counted
from messor.errors import ConflictError, UsageError
from messor.frontier import tasks
from messor.governance import admission, domain_vertical, preflight
from messor.ledger.events import Event, record
from messor.politeness import prospects
from messor.registry import domains, notes, submissions
from messor.registry.domains import Domain, Submission
from messor.registry.submissions import Submitted, Submitter
from messor.store.database import Connection
from messor.web.urls import Url, parse, url_hash

KNOWN_HOST = "SELECT EXISTS (SELECT FROM messor.hosts WHERE host = $1 AND domain_id = $2)"
KNOWN_PAGE = """
SELECT EXISTS (SELECT FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
                WHERE h.host = $1 AND p.url_hash = $2)
"""
REACH = "UPDATE messor.pages SET found_by = 'manual' WHERE id = $1 AND depth > $2"


@dataclass(frozen=True, slots=True)
class SubmittedUrl:
    """The result of a submitted URL, with a message for the submitter."""

    outcome: Literal["crawling", "remembered", "offered", "refused"]
    url: str
    message: str
    domain: Domain | None  # None if the domain was never submitted
    page_id: int | None = None
    asks: Literal["submit", "context", "rescrape"] | None = None  # offered to the person
    token: str | None = None  # of the status page of its domain's submission, if one was stored


async def submit_domain(
    connection: Connection,
    text: str,
    asker: Submitter,
    *,
    context: str | None = None,
    max_crawl_depth: int = 3,
    delay: float | None = None,
    vertical: str | None = None,
    look: bool | None = None,
) -> Submitted:
    """Submit a domain, with the name of the vertical it is for, if any.

    A member's submission gets a pre-flight at once, a public one when a reviewer opens it; `look`
    overrides this.
    """
    submission = Submission.understand(text)
    result = await submissions.ask(
        connection,
        submission,
        asker,
        context=context,
        max_crawl_depth=max_crawl_depth,
        delay=delay,
        vertical=await domain_vertical.check_applied(connection, vertical),
    )
    if result.taken and (not asker.is_anonymous if look is None else look):
        await preflight.request_preflight(connection, result.domain, actor=asker.actor)
    return result


async def rescrape(connection: Connection, name: str, *, actor: str) -> int:
    """Make every page of an approved domain due now; returns how many."""
    domain = await domains.lock(connection, name)
    if domain.status != "approved":
        raise ConflictError(
            f"{domain.domain} is {domain.status}{domains.decided(domain)}; "
            "only an approved domain is crawled."
        )
    base = parse(domain.base_url)
    assert base is not None
    pages = await tasks.recrawl(connection, [domain.id])
    await admission.plant(connection, domain, base, found_by="seed")
    data = {"pages": pages}
    await record(connection, [Event("domain.rescraped", actor, domain.id, data=data)])
    return pages


async def submit_url(
    connection: Connection,
    text: str,
    asker: Submitter,
    *,
    context: str | None = None,
    vertical: str | None = None,
    submit: bool = False,
    look: bool | None = None,
) -> SubmittedUrl:
    """Submit a URL: crawl it now, remember it, or offer to submit its domain.

    `submit` accepts the offer in the same call.
    """
    text = text.strip()
    submission = Submission.understand(text)
    url = parse(text if "://" in text else f"https://{text}")
    assert url is not None
    await submissions.check_erased(connection, submission.domain, url)
    domain = await _known(connection, submission.domain)
    if domain is None or domain.status == "rejected":
        if not submit:
            return _offer(submission, url, domain)
        result = await submit_domain(
            connection, url.href, asker, context=context, vertical=vertical, look=look
        )
        if not result.taken:
            return SubmittedUrl(
                "refused", url.href, result.message, result.domain, asks=result.asks
            )
        remembered = await _remember(connection, result.domain, url, asker)
        return replace(remembered, token=result.token)
    if domain.status == "pending_review":
        return await _remember(connection, domain, url, asker)
    if domain.status != "approved":
        why = f": {domain.rejection_reason.rstrip('.')}" if domain.rejection_reason else ""
        message = f"{domain.domain} is {domain.status}{why}. Its URLs are not accepted."
        return SubmittedUrl("refused", url.href, message, domain)
    return await _crawl(connection, domain, url, asker)


async def _known(connection: Connection, name: str) -> Domain | None:
    known = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM messor.domains WHERE domain = $1)", name
    )
    return await domains.lock(connection, name) if known else None


def _offer(submission: Submission, url: Url, domain: Domain | None) -> SubmittedUrl:
    message = f"Would you like to submit {submission.domain} for review?"
    if domain is not None:
        message = f"{domain.domain} was rejected: {domain.rejection_reason}. {message} Describe what is new."
    return SubmittedUrl("offered", url.href, message, domain, asks="submit")


async def _remember(
    connection: Connection, domain: Domain, url: Url, asker: Submitter
) -> SubmittedUrl:
    await submissions.remember(connection, domain, url, asker)
    message = f"{domain.domain} awaits review; {url.href} is crawled once it is approved."
    return SubmittedUrl("remembered", url.href, message, domain)


async def _crawl(
    connection: Connection, domain: Domain, url: Url, asker: Submitter
) -> SubmittedUrl:
    known_host = await connection.fetchval(KNOWN_HOST, url.authority, domain.id)
    if asker.is_anonymous and not domain.is_trusted_domain and not known_host:
        await submissions.remember(connection, domain, url, asker)
        if domain.review_reason is None:
            reason = "URLs on unknown hosts await review"
            await notes.look_again(connection, domain, reason, actor=asker.actor)
        message = f"{url.authority} is a new host; a reviewer checks {url.href} first."
        return SubmittedUrl("remembered", url.href, message, domain)
    page_id = await plant(connection, domain, url)
    data = {"url": url.href, "trusted": domain.is_trusted_domain}
    fact = Event("url.submitted", asker.actor, domain.id, page_id, data)
    await record(connection, [fact])
    held_up = await prospects.hindrance(connection, url.authority, page_id)
    message = f"{domain.domain} is approved; {url.href} is crawled now."
    if held_up is not None:
        message = f"{domain.domain} is approved and {url.href} is due. {held_up}"
    return SubmittedUrl("crawling", url.href, message, domain, page_id)


async def plant(connection: Connection, domain: Domain, url: Url) -> int:
    """Add a URL to the frontier, within the domain's page budget."""
    known = await connection.fetchval(KNOWN_PAGE, url.authority, url_hash(url))
    if not known and domain.pages_known >= domain.page_budget:
        raise ConflictError(
            f"{domain.domain} has reached its budget of {counted(domain.pages_known, 'page')}. "
            f"Raise it: messor domains configure {domain.domain} --page-budget …"
        )
    page_id = await admission.plant(connection, domain, url, found_by="manual")
    # Requested explicitly, so it is crawled however deep it is.
    await connection.execute(REACH, page_id, domain.max_crawl_depth)
    return page_id


async def take_waiting(connection: Connection, domain: Domain, *, actor: str) -> int:
    """Add the waiting URLs of an approved domain to the frontier; returns how many."""
    if domain.status != "approved":
        raise UsageError(f"{domain.domain} is {domain.status}: its URLs keep waiting.")
    taken = 0
    for text in await submissions.take_urls(connection, domain.id):
        url = parse(text)
        if url is None or domain.pages_known + taken >= domain.page_budget:
            continue
        await admission.plant(connection, domain, url, found_by="manual")
        taken += 1
    if taken:
        data = {"urls": taken}
        await record(connection, [Event("urls.taken", actor, domain.id, data=data)])
    return taken
