"""Deciding: a reviewer's acts on a domain, each one transaction with all it sets in motion.

Every act takes the domain's name, locks it, and, when told what the reviewer saw, refuses to decide
over somebody else's decision. `decide_many` runs one act over many domains, each for itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from messor.core.counting import counted
from messor.errors import ConflictError, MessorError
from messor.governance import admission, erasure, intake, purges
from messor.governance.purges import Holdings
from messor.ledger.events import Event, record
from messor.politeness import lanes, prospects
from messor.registry import domains, notes, processing, submissions
from messor.registry.domains import Domain, overtaken
from messor.store.database import Connection, Database

STARTED = "Crawling started. Check back in a few minutes."
NOTICE_TAKERS = """
SELECT count(*) FROM messor.webhooks
 WHERE is_active AND (types = '{}' OR 'submitter.notice' = ANY (types))
"""


@dataclass(frozen=True, slots=True)
class Decided:
    """A domain as it stands after an act, with a sentence for the reviewer."""

    domain: Domain
    said: str
    holdings: Holdings | None = None  # what was kept of it, when that may be purged now


async def started(source: Connection | Database, going: str = STARTED) -> str:
    """That pages which are due are being crawled, or what has to happen first."""
    held_up = await prospects.hindrance(source)
    return going if held_up is None else f"Its pages are due. {held_up}"


def _waited(urls: int) -> str:
    """That URLs which waited for the domain are among its due pages."""
    if urls == 0:
        return ""
    return f" {counted(urls, 'submitted URL')} {'is' if urls == 1 else 'are'} crawled with it."


async def _notified(connection: Connection) -> str:
    """Whether anybody carries the notice to the submitter: Messor itself sends no mail."""
    takers: int = await connection.fetchval(NOTICE_TAKERS)
    if takers:
        hooks = counted(takers, "webhook")
        has = "has" if takers == 1 else "have"
        return f"A notice for its submitter goes to {hooks}, which {has} to pass it on."
    return (
        "Nobody has told its submitter: the notice is recorded as the event submitter.notice, "
        "and no webhook takes it. Add one: messor webhooks add URL --type submitter.notice"
    )


Act = Callable[[Connection, str], Awaitable[Decided]]


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What came of an act on one of many domains."""

    name: str
    done: bool
    said: str
    code: str  # ok, or the error's
    domain: Domain | None = None


async def approve(
    connection: Connection, name: str, *, actor: str, seen: str | None = None
) -> Decided:
    """Let a domain be harvested: its start page and the URLs that waited for it are due now."""
    domain = await locked(connection, name, seen)
    await erasure.bar_erased(connection, domain)
    domain = await admission.approve(connection, domain, actor=actor)
    if domain.processing == "discovered":
        domain = await processing.begin(connection, domain, actor=actor)
    urls = await intake.take_waiting(connection, domain, actor=actor)
    said = f"{domain.domain} is approved.{_waited(urls)} {await started(connection)}"
    return Decided(domain, said)


async def reject(
    connection: Connection,
    name: str,
    *,
    actor: str,
    reason: str,
    notify: bool = False,
    seen: str | None = None,
) -> Decided:
    """Refuse a domain; with `notify` its submitters are to be told why."""
    domain = await locked(connection, name, seen)
    domain = await domains.move(connection, domain, "rejected", actor=actor, reason=reason)
    if notify:
        await _notify(connection, domain, actor)
    told = f" {await _notified(connection)}" if notify else ""
    return await _offer_purge(connection, domain, f"{domain.domain} is rejected.{told}")


async def suspend(
    connection: Connection,
    name: str,
    *,
    actor: str,
    reason: str | None = None,
    seen: str | None = None,
) -> Decided:
    """Pause a domain: visits under way end within a flush."""
    domain = await locked(connection, name, seen)
    domain = await domains.move(connection, domain, "suspended", actor=actor, reason=reason)
    return Decided(domain, f"{domain.domain} is suspended; nothing of it is fetched.")


async def resume(
    connection: Connection, name: str, *, actor: str, seen: str | None = None
) -> Decided:
    """Take a suspended domain up where it was left."""
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
    going = await started(connection, going="Crawling goes on.")
    return Decided(domain, f"{domain.domain} is approved again.{_waited(urls)} {going}")


async def blacklist(
    connection: Connection, name: str, *, actor: str, reason: str, seen: str | None = None
) -> Decided:
    """Never process a domain again."""
    domain = await locked(connection, name, seen)
    domain = await domains.move(connection, domain, "blacklisted", actor=actor, reason=reason)
    said = f"{domain.domain} is blacklisted: it is never processed again."
    return await _offer_purge(connection, domain, said)


async def review_again(
    connection: Connection, name: str, *, actor: str, reason: str, seen: str | None = None
) -> Decided:
    """Take an approval back to the queue: the domain is not what was approved."""
    domain = await locked(connection, name, seen)
    if domain.status != "approved":
        raise ConflictError(
            f"{domain.domain} is {domain.status}; only an approved domain is reviewed again."
        )
    domain = await domains.move(connection, domain, "pending_review", actor=actor, reason=reason)
    return Decided(domain, f"{domain.domain} waits for review again: {reason}")


async def keep(
    connection: Connection,
    name: str,
    *,
    actor: str,
    take_urls: bool = True,
    seen: str | None = None,
) -> Decided:
    """A reviewer looked again at an approved domain, and it stays as it is.

    URLs that waited for that are crawled, or dropped without `take_urls`.
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
    """One act over many domains, each in a transaction of its own; one refusal stops no other."""
    verdicts: list[BulkResult] = []
    for name in names:
        try:
            async with database.transaction() as connection:
                done = await act(connection, name)
        except MessorError as error:
            verdicts.append(BulkResult(name, done=False, said=str(error), code=error.code))
        else:
            verdicts.append(
                BulkResult(name, done=True, said=done.said, code="ok", domain=done.domain)
            )
    return verdicts


async def locked(connection: Connection, name: str, seen: str | None = None) -> Domain:
    """The domain, held for a decision; a conflict when it is no longer what the reviewer saw."""
    domain = await domains.lock(connection, name)
    if seen is not None and domain.status != seen:
        raise overtaken(seen, domain)
    return domain


async def _notify(connection: Connection, domain: Domain, actor: str) -> None:
    """An event for whoever sends notices; they look the addresses up, the ledger has none."""
    data = {
        "notice": "domain_rejected",
        "submitted_by": domain.submitted_by,
        "submitter_type": domain.submitter_type,
        "reason": domain.rejection_reason,
    }
    await record(connection, [Event("submitter.notice", actor, domain.id, data=data)])


async def _offer_purge(connection: Connection, domain: Domain, said: str) -> Decided:
    kept = await purges.holdings(connection, domain)
    if kept.snapshots:
        said += f" {kept.snapshots} snapshots of it are kept; they can be purged."
    return Decided(domain, said, kept if kept.pages else None)
