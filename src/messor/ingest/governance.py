"""Admission of an ingestion: the registry's decision, and what a reviewer's call does about it."""

from __future__ import annotations

from messor.errors import ConflictError, NeedsApprovalError
from messor.governance import admission
from messor.ingest.page_requests import LOCK_DOMAIN
from messor.ingest.request import CheckedRequest
from messor.registry import domains, submissions
from messor.registry.domains import Domain
from messor.store.database import Connection

# Approval adds the start page to the frontier; here the plan decides what is fetched.
SHELVE = """
UPDATE messor.crawl_tasks t SET due_at = NULL FROM messor.hosts h
 WHERE h.id = t.host_id AND h.domain_id = $1 AND t.kind = 'page'
"""


async def admit(connection: Connection, checked: CheckedRequest) -> Domain:
    """The domain, if it may be visited; a pending one is left for the caller to refuse.

    A reviewer's or admin's call submits and approves an unknown domain in one act, for the
    requested pages only.
    """
    request = checked.request
    domain, _ = await domains.submit(
        connection,
        checked.submission,
        actor=request.actor,
        submitter_type=request.submitter_type,
        submitted_by=request.submitter.submitted_by,
        context=f"Requested by an ingestion in {checked.mode} mode: {checked.url.href}",
    )
    await connection.execute(LOCK_DOMAIN, domain.id)
    domain = await domains.get(connection, domain.domain)  # another call may have decided meanwhile
    if domain.status == "pending_review" and request.may_approve:
        domain = await domains.configure(connection, domain, actor=request.actor, harvest="asked")
        domain = await admission.approve(connection, domain, actor=request.actor)
        await connection.execute(SHELVE, domain.id)
    elif domain.status == "pending_review":
        # Requested now, crawled once the domain is approved.
        await submissions.remember(connection, domain, checked.url, request.submitter)
    return domain


def check(domain: Domain) -> None:
    """Raise an error if the domain may not be visited."""
    if domain.status == "pending_review":
        raise NeedsApprovalError(
            f"{domain.domain} needs approval: it was submitted and awaits review. "
            f"Approve it: messor domains approve {domain.domain}"
        )
    if domain.status != "approved":
        reason = f": {domain.rejection_reason}" if domain.rejection_reason else ""
        raise ConflictError(f"{domain.domain} is {domain.status}{reason}.")
    if not domain.active:
        raise ConflictError(f"{domain.domain} is not active.")
