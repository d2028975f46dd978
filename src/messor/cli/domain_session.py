"""Shared by the `messor domains` commands: names and output of domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING
from uuid import UUID

from messor.cli.output import print_json, print_table
from messor.core.terminal import say
from messor.errors import PartiallyRefusedError
from messor.registry import domains as registry
from messor.registry.domains import Domain, Submission
from messor.store.database import Connection, Database

if TYPE_CHECKING:  # most commands start without what decides, and a halt must be quick
    from messor.governance.decisions import BulkResult, Decided

HEAD = ("domain", "status", "processing", "pages", "depth", "delay", "submitted by", "last crawl")


def name_of(text: str) -> str:
    """Return the domain of a domain name, host or URL."""
    return Submission.understand(text).domain


async def domain_id_of(database: Database | Connection, domain: str | None) -> UUID | None:
    """Return the id of a registered domain; None for none."""
    if domain is None:
        return None
    return (await registry.get(database, name_of(domain))).id


def show_domain(domain: Domain, as_json: bool) -> None:
    if as_json:
        print_json(domain)
    else:
        print_table(HEAD, [row_of(domain)])


def row_of(domain: Domain) -> tuple[object, ...]:
    return (
        domain.domain,
        domain.status,
        domain.processing,
        domain.pages_known,
        domain.max_crawl_depth,
        domain.crawl_delay_seconds,
        domain.submitted_by,
        domain.last_scraped_at,
    )


def print_decided(decided: Decided, as_json: bool) -> None:
    say(decided.message)
    if decided.holdings is not None and decided.holdings.snapshots:
        say(f"Purge them: messor domains purge {decided.domain.domain}")
    for mail in decided.to_send:
        say(f"\nTo {mail.recipient}\n{mail.subject}\n\n{mail.body}")
    show_domain(decided.domain, as_json)


def print_verdicts(verdicts: Sequence[BulkResult], as_json: bool) -> None:
    """Print one row per domain and raise when some were refused."""
    if as_json:
        print_json([asdict(verdict) for verdict in verdicts])
    else:
        rows = [(verdict.name, verdict.code, verdict.message) for verdict in verdicts]
        print_table(("domain", "result", "reason"), rows)
    refused = sum(not verdict.done for verdict in verdicts)
    if refused:
        raise PartiallyRefusedError(f"{refused} of {len(verdicts)} domains were not changed.")
