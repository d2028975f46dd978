"""The caller of a scrape: who it is, and which domains it may open by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from messor.access import key_policies
from messor.access.key_policies import KeyPolicy
from messor.access.principal import Principal
from messor.access.roles import Act
from messor.errors import ConflictError
from messor.governance import admission
from messor.ledger.events import Event, record
from messor.registry import domains, submissions
from messor.registry.domains import Domain, Submission
from messor.registry.submissions import Submitter
from messor.rights.uses import ApprovedUse
from messor.scrape.refusals import ApprovalNeededError, DomainClosedError, PageErasedError
from messor.store.database import Connection, Database
from messor.web.urls import Url

ASKED = "Asked for by a program: {url}"
BY_POLICY = "Approved on first use under the policy of {actor}: {url}"
DEFAULT_DEPTH = 3

# Approval makes the homepage due; here only what was asked for is fetched.
SHELVE = """
UPDATE messor.crawl_tasks t SET due_at = NULL FROM messor.hosts h
 WHERE h.id = t.host_id AND h.domain_id = $1 AND t.kind = 'page' AND t.last_fetched_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, with the policy of their key if it has one."""

    principal: Principal
    policy: KeyPolicy | None = None
    on_behalf_of: str | None = None  # as the caller says: audit only

    @classmethod
    async def of(
        cls, source: Connection | Database, principal: Principal, on_behalf_of: str | None = None
    ) -> Self:
        return cls(principal, await key_policies.of(source, principal), on_behalf_of)

    @property
    def actor(self) -> str:
        return self.principal.actor

    @property
    def uses(self) -> list[ApprovedUse]:
        """What the key declares to do with what it reads."""
        return [ApprovedUse(name) for name in self.principal.uses]

    def may_open(self, domain: str) -> bool:
        """Whether this call may approve a domain."""
        return self.policy is not None and self.policy.covers(domain)


async def admit(connection: Connection, caller: Caller, url: Url) -> Domain:
    """The domain of a URL: submitted if unknown, and approved if the key's policy covers it.

    What may not be visited is left for `require_open` to refuse, after this was committed.
    """
    submission = Submission.understand(url.href)
    try:
        await submissions.check_erased(connection, submission.domain, url)
    except ConflictError as error:
        raise PageErasedError(str(error)) from error
    submitter = Submitter.of(caller.principal)
    opens = caller.may_open(submission.domain)
    text = (BY_POLICY if opens else ASKED).format(actor=caller.actor, url=url.href)
    if not caller.principal.may(Act.DOMAINS_SUBMIT):
        return await domains.lock(connection, submission.domain)
    depth = DEFAULT_DEPTH
    if opens and caller.policy is not None:
        depth = min(depth, caller.policy.max_depth)
    domain, is_new = await domains.submit(
        connection,
        submission,
        actor=caller.actor,
        submitter_type=submitter.submitter_type,
        submitted_by=submitter.submitted_by,
        context=text,
        max_crawl_depth=depth,
    )
    if domain.status != "pending_review":
        return domain
    domain = await domains.lock(connection, domain.domain)
    if domain.status == "pending_review" and opens:
        return await _open(connection, caller, domain, url)
    if domain.status == "pending_review":
        await submissions.remember(connection, domain, url, submitter)
        if is_new and caller.on_behalf_of:
            await note(connection, caller, domain, url)
    return domain


async def _open(connection: Connection, caller: Caller, domain: Domain, url: Url) -> Domain:
    domain = await domains.configure(connection, domain, actor=caller.actor, harvest="asked")
    domain = await admission.approve(connection, domain, actor=caller.actor)
    await connection.execute(SHELVE, domain.id)
    await note(connection, caller, domain, url)
    return domain


async def note(connection: Connection, caller: Caller, domain: Domain, url: Url) -> None:
    """Record on whose behalf a program asked, in the ledger."""
    data = {"url": url.href, "policy": caller.may_open(domain.domain)}
    if caller.on_behalf_of:
        data["on_behalf_of"] = caller.on_behalf_of
    await record(connection, [Event("scrape.requested", caller.actor, domain.id, data=data)])


def require_open(domain: Domain) -> None:
    """Raise a refusal unless the domain may be visited."""
    if domain.status == "pending_review":
        raise ApprovalNeededError(domain.domain)
    if domain.status != "approved":
        reason = f": {domain.rejection_reason}" if domain.rejection_reason else ""
        raise DomainClosedError(f"{domain.domain} is {domain.status}{reason}.")
    if not domain.active:
        raise DomainClosedError(f"{domain.domain} is paused.")
