"""Decisions: a reviewer's acts on a domain, each in one transaction with its effects.

Every act locks the domain by name. Given the status that the reviewer saw, it refuses to override a
decision taken since. `decide_many` applies one act to many domains, each in its own transaction.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from messor.core.plurals import counted
from messor.errors import ConflictError, MessorError
from messor.governance import (
    admission,
    domain_uses,
    domain_vertical,
    erasure,
    intake,
    notices,
    purges,
)
from messor.governance.notices import OFF, Notices
from messor.governance.purges import Holdings
from messor.mail.outbox import Mail
from messor.politeness import lanes, prospects
from messor.registry import domains, notes, processing, submissions
from messor.registry.domains import Domain, overtaken
from messor.store.database import Connection, Database

STARTED = "Crawling started. Check back in a few minutes."


@dataclass(frozen=True, slots=True)
class Decided:
    """A domain after an act, with a message for the reviewer."""

    domain: Domain
    message: str
    holdings: Holdings | None = None  # stored content that may be purged now
    to_send: tuple[
        Mail, ...
    ] = ()  # notices that a person has to send: no mail server is configured


async def started(source: Connection | Database, going: str = STARTED) -> str:
    """Message that due pages are being crawled, or what prevents it."""
    held_up = await prospects.hindrance(source)
    return going if held_up is None else f"Its pages are due. {held_up}"


def _waited(urls: int) -> str:
    """Message that waiting URLs are now among the domain's due pages."""
    if urls == 0:
        return ""
    return f" {counted(urls, 'submitted URL')} {'is' if urls == 1 else 'are'} crawled with it."


Act = Callable[[Connection, str], Awaitable[Decided]]


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The result of an act on one of many domains."""

    name: str
    done: bool
    message: str
    code: str  # ok, or the error's code
    domain: Domain | None = None


async def approve(
    connection: Connection,
    name: str,
    *,
    actor: str,
    vertical: str | None = None,
    uses: Sequence[str] | None = None,
    notify: bool = True,
    told: Notices = OFF,
    seen: str | None = None,
) -> Decided:
    """Approve a domain: its start page and waiting URLs become due now; its submitters are told.

    Without `vertical` it keeps that of its submission; an empty one clears it. Without `uses` it is
    approved for those that its vertical suggests.
    """
    domain = await locked(connection, name, seen)
    if vertical is not None:
        domain = await domain_vertical.assign(connection, domain, vertical, actor=actor)
    await domain_uses.settle(connection, domain, uses, actor=actor)
    await erasure.bar_erased(connection, domain)
    domain = await admission.approve(connection, domain, actor=actor)
    if domain.processing == "discovered":
        domain = await processing.begin(connection, domain, actor=actor)
    urls = await intake.take_waiting(connection, domain, actor=actor)
    going = f"{await started(connection)}{await domain_vertical.sentence(connection, domain)}"
    message = f"{domain.domain} is approved.{_waited(urls)} {going}"
    if not notify:
        return Decided(domain, message)
    mails = await notices.tell(connection, told, domain, "domain_approved", actor=actor)
    if mails:
        message = f"{message} {await notices.sentence(connection, mails)}"
    return Decided(domain, message, to_send=_manual(mails))


async def reject(
    connection: Connection,
    name: str,
    *,
    actor: str,
    reason: str,
    notify: bool = False,
    told: Notices = OFF,
    seen: str | None = None,
) -> Decided:
    """Reject a domain; `notify` sends its submitters the reason."""
    domain = await locked(connection, name, seen)
    domain = await domains.move(connection, domain, "rejected", actor=actor, reason=reason)
    message, mails = f"{domain.domain} is rejected.", []
    if notify:
        why = {"reason": domain.rejection_reason or ""}
        mails = await notices.tell(connection, told, domain, "domain_rejected", actor=actor, **why)
        message = f"{message} {await notices.sentence(connection, mails)}"
    decided = await _offer_purge(connection, domain, message)
    return replace(decided, to_send=_manual(mails))


async def suspend(
    connection: Connection,
    name: str,
    *,
    actor: str,
    reason: str | None = None,
    seen: str | None = None,
) -> Decided:
    """Suspend a domain: visits in progress end within a flush."""
    domain = await locked(connection, name, seen)
    domain = await domains.move(connection, domain, "suspended", actor=actor, reason=reason)
    return Decided(domain, f"{domain.domain} is suspended; none of its pages are fetched.")


async def resume(
    connection: Connection, name: str, *, actor: str, seen: str | None = None
) -> Decided:
    """Resume a suspended domain where it stopped."""
    domain = await locked(connection, name, seen)
    if domain.status != "suspended":
        raise ConflictError(
            f"{domain.domain} is {domain.status}{domains.decided(domain)}; "
            "only a suspended domain can be resumed."
        )
    await erasure.bar_erased(connection, domain)
    domain = await domains.move(connection, domain, "approved", actor=actor, resumed=True)
    await lanes.wake_domain(connection, domain.id)
    urls = await intake.take_waiting(connection, domain, actor=actor)
    going = await started(connection, going="Crawling continues.")
    return Decided(domain, f"{domain.domain} is approved again.{_waited(urls)} {going}")


async def blacklist(
    connection: Connection, name: str, *, actor: str, reason: str, seen: str | None = None
) -> Decided:
    """Blacklist a domain: it is never processed again."""
    domain = await locked(connection, name, seen)
    domain = await domains.move(connection, domain, "blacklisted", actor=actor, reason=reason)
    message = f"{domain.domain} is blacklisted: it is never processed again."
    return await _offer_purge(connection, domain, message)


async def review_again(
    connection: Connection, name: str, *, actor: str, reason: str, seen: str | None = None
) -> Decided:
    """Return an approved domain to the review queue because it has changed."""
    domain = await locked(connection, name, seen)
    if domain.status != "approved":
        raise ConflictError(
            f"{domain.domain} is {domain.status}; only an approved domain is reviewed again."
        )
    domain = await domains.move(connection, domain, "pending_review", actor=actor, reason=reason)
    return Decided(domain, f"{domain.domain} is back in the review queue: {reason}")


async def keep(
    connection: Connection,
    name: str,
    *,
    actor: str,
    take_urls: bool = True,
    seen: str | None = None,
) -> Decided:
    """Confirm an approved domain after a repeated review.

    URLs that waited for it are crawled, or dropped without `take_urls`.
    """
    domain = await locked(connection, name, seen)
    domain = await notes.keep(connection, domain, actor=actor)
    if not take_urls:
        dropped = len(await submissions.take_urls(connection, domain.id))
        return Decided(domain, f"{domain.domain} stays approved; {dropped} URLs were dropped.")
    urls = await intake.take_waiting(connection, domain, actor=actor)
    going = f" {await started(connection)}" if urls else ""
    return Decided(domain, f"{domain.domain} stays approved.{_waited(urls)}{going}")


async def decide_many(database: Database, names: Sequence[str], act: Act) -> list[BulkResult]:
    """Apply one act to many domains, each in its own transaction.

    A refusal does not stop the others.
    """
    verdicts: list[BulkResult] = []
    for name in names:
        try:
            async with database.transaction() as connection:
                done = await act(connection, name)
        except MessorError as error:
            verdicts.append(BulkResult(name, done=False, message=str(error), code=error.code))
        else:
            verdicts.append(
                BulkResult(name, done=True, message=done.message, code="ok", domain=done.domain)
            )
    return verdicts


async def locked(connection: Connection, name: str, seen: str | None = None) -> Domain:
    """Lock the domain for a decision; a conflict if it differs from what the reviewer saw."""
    domain = await domains.lock(connection, name)
    if seen is not None and domain.status != seen:
        raise overtaken(seen, domain)
    return domain


def _manual(mails: Sequence[Mail]) -> tuple[Mail, ...]:
    return tuple(mail for mail in mails if mail.state == "manual")


async def _offer_purge(connection: Connection, domain: Domain, message: str) -> Decided:
    kept = await purges.holdings(connection, domain)
    if kept.snapshots:
        message += f" {kept.snapshots} snapshots of it are stored; they can be purged."
    return Decided(domain, message, kept if kept.pages else None)
