"""`messor domains`: what may be harvested."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TypeVar, Unpack

import click

from messor.cli import portrait
from messor.cli.output import json_option, print_json, print_table, run, say
from messor.engine import admission
from messor.errors import UsageError
from messor.registry import domains as registry
from messor.registry.domains import Domain, Submission
from messor.registry.terms import CHOICES, RANGES, Terms
from messor.settings import Settings
from messor.store.database import Connection
from messor.store.session import open_session

Answer = TypeVar("Answer")

LOCAL_ADMIN = "local-admin"
HEAD = ("domain", "status", "pages", "depth", "delay", "submitted by", "last crawl")


@click.group()
def domains() -> None:
    """Submit, approve and list the domains that may be harvested.

    \b
    Example:
      messor domains submit foodbank.org --context "State food bank"
      messor domains approve foodbank.org
    """


@domains.command()
@click.argument("domain")
@click.option("--context", help="Why it should be harvested.")
@click.option("--depth", default=3, show_default=True, type=click.IntRange(0, 100),
              help="0 = homepage alone, 2-3 recommended, 4+ can be slow.")  # fmt: skip
@json_option
def submit(domain: str, context: str | None, depth: int, as_json: bool) -> None:
    """Ask for a domain; it waits for review.

    \b
    Example:
      messor domains submit foodbank.org --context "State food bank" --depth 3
    """
    submission = Submission.understand(domain)

    async def act(connection: Connection) -> tuple[Domain, bool]:
        return await registry.submit(
            connection, submission, actor=LOCAL_ADMIN, context=context, max_crawl_depth=depth
        )

    found, new = run(_transact(act))
    if not new:
        say(_already(found))
    _show(found, as_json)


def _already(domain: Domain) -> str:
    return {
        "pending_review": f"{domain.domain} was already submitted for review.",
        "approved": f"{domain.domain} is already approved. Re-crawl it: messor crawl {domain.domain}",
        "rejected": f"{domain.domain} was rejected: {domain.rejection_reason}",
        "suspended": f"{domain.domain} is suspended.",
        "blacklisted": f"{domain.domain} is blacklisted: {domain.rejection_reason}",
    }[domain.status]


@domains.command()
@click.argument("domain")
@json_option
def approve(domain: str, as_json: bool) -> None:
    """Let a domain be harvested; the next worker starts with it.

    \b
    Example:
      messor domains approve foodbank.org
    """

    async def act(connection: Connection) -> Domain:
        found = await registry.get(connection, Submission.understand(domain).domain)
        return await admission.approve(connection, found, actor=LOCAL_ADMIN)

    found = run(_transact(act))
    say(f"{found.domain} is approved. Crawling starts with the next worker: messor worker")
    _show(found, as_json)


@domains.command()
@click.argument("domain")
@click.option("--reason", required=True, help="Why; kept with the domain.")
@json_option
def reject(domain: str, reason: str, as_json: bool) -> None:
    """Refuse a domain; it may be submitted again with new context.

    \b
    Example:
      messor domains reject spam.example --reason "no resources for the community"
    """
    _show(run(_transact(_mover(domain, "rejected", reason))), as_json)


@domains.command()
@click.argument("domain")
@click.option("--reason", help="Why; kept in the events.")
@json_option
def suspend(domain: str, reason: str | None, as_json: bool) -> None:
    """Pause a domain: visits under way end within a flush. Approving it again resumes.

    \b
    Example:
      messor domains suspend foodbank.org --reason "asked us to wait"
    """
    _show(run(_transact(_mover(domain, "suspended", reason))), as_json)


@domains.command()
@click.argument("domain")
@click.option("--reason", required=True, help="Why; kept with the domain.")
@json_option
def blacklist(domain: str, reason: str, as_json: bool) -> None:
    """Never process a domain again.

    \b
    Example:
      messor domains blacklist malware.example --reason "serves malware"
    """
    _show(run(_transact(_mover(domain, "blacklisted", reason))), as_json)


@domains.command()
@click.argument("domain")
@click.option(
    "--delay",
    type=click.FloatRange(*RANGES["delay"]),
    help="Seconds between requests to one host; 0 is for one's own sites.",
)
@click.option(
    "--depth",
    "max_crawl_depth",
    type=click.IntRange(*RANGES["max_crawl_depth"]),
    help="How many links away from the start page.",
)
@click.option(
    "--budget",
    "page_budget",
    type=click.IntRange(*RANGES["page_budget"]),
    help="How many of its pages may be known.",
)
@click.option(
    "--slots",
    "max_concurrent_requests",
    type=click.IntRange(*RANGES["max_concurrent_requests"]),
    help="How many of its hosts are visited at a time.",
)
@click.option(
    "--every",
    "every_hours",
    type=click.IntRange(*RANGES["every_hours"]),
    help="Hours between two crawls of a page.",
)
@click.option(
    "--on-block",
    type=click.Choice(CHOICES["on_block"]),
    help="Where HTTP is refused: wait, or let the next provider ask.",
)
@click.option(
    "--render",
    type=click.Choice(CHOICES["render"]),
    help="Browser and services where a gate asks for them, or never.",
)
@click.option(
    "--harvest",
    type=click.Choice(CHOICES["harvest"]),
    help="The whole site, or only pages that somebody asks for.",
)
@click.option(
    "--directives",
    type=click.Choice(CHOICES["directives"]),
    help="noindex and nofollow of its pages.",
)
@click.option(
    "--reservations",
    type=click.Choice(CHOICES["reservations"]),
    help="Pages that reserve rights against data mining: keep with a note, or not keep.",
)
@click.option(
    "--robots-forbidden",
    type=click.Choice(CHOICES["robots_forbidden"]),
    help="What 401 and 403 for robots.txt mean.",
)
@click.option(
    "--proxies",
    type=click.Choice(CHOICES["proxies"]),
    help="Directly, or through the pool of `messor proxies`.",
)
@click.option("--verify-tls/--no-verify-tls", default=None, help="Whether certificates must hold.")
@json_option
def configure(domain: str, as_json: bool, **terms: Unpack[Terms]) -> None:
    """Change the terms a domain is crawled by; only what is given changes.

    Visits that begin afterwards go by the new terms.

    \b
    Example:
      messor domains configure foodbank.org --delay 2 --depth 4
      messor domains configure foodbank.org --on-block failover --every 168
    """
    if all(value is None for value in terms.values()):
        raise UsageError(
            "Say what to change, such as --delay 2; messor domains show tells what is."
        )

    async def act(connection: Connection) -> Domain:
        found = await registry.get(connection, Submission.understand(domain).domain)
        return await registry.configure(connection, found, actor=LOCAL_ADMIN, **terms)

    found = run(_transact(act))
    say(f"{found.domain} has new terms: policy {found.policy_version}.")
    if terms.get("harvest") == "site":
        say(f"Pages known already become due with: messor crawl {found.base_url}")
    if as_json:
        print_json(found)
    else:
        print_table(("term", "value"), portrait.terms(found))


def _mover(
    domain: str, status: str, reason: str | None
) -> Callable[[Connection], Awaitable[Domain]]:
    async def act(connection: Connection) -> Domain:
        found = await registry.get(connection, Submission.understand(domain).domain)
        return await registry.move(connection, found, status, actor=LOCAL_ADMIN, reason=reason)

    return act


@domains.command(name="list")
@click.option("--status", type=click.Choice(sorted(registry.TRANSITIONS)), help="Only these.")
@json_option
def list_domains(status: str | None, as_json: bool) -> None:
    """List domains, oldest first.

    \b
    Example:
      messor domains list --status pending_review
    """

    async def read() -> list[Domain]:
        async with open_session(Settings(), pool_size=1) as session:
            return await registry.listing(session.database, status)

    found = run(read())
    if as_json:
        print_json([asdict(domain) for domain in found])
    elif found:
        print_table(HEAD, [_row(domain) for domain in found])
    else:
        say("No domains yet. Submit one: messor domains submit example.org")


@domains.command()
@click.argument("domain")
@json_option
def show(domain: str, as_json: bool) -> None:
    """Show all that is known of a domain: terms, hosts, risk, robots, sitemaps, pages.

    \b
    Example:
      messor domains show foodbank.org
    """

    async def read() -> portrait.Portrait:
        settings = Settings()
        async with open_session(settings, pool_size=1) as session:
            found = await registry.get(session.database, Submission.understand(domain).domain)
            return await portrait.of(session.database, found, settings.default_delay)

    found = run(read())
    if as_json:
        print_json(portrait.as_data(found))
    else:
        portrait.show(found)


async def _transact(act: Callable[[Connection], Awaitable[Answer]]) -> Answer:
    async with (
        open_session(Settings(), pool_size=1) as session,
        session.database.transaction() as connection,
    ):
        return await act(connection)


def _show(domain: Domain, as_json: bool) -> None:
    if as_json:
        print_json(domain)
    else:
        print_table(HEAD, [_row(domain)])


def _row(domain: Domain) -> tuple[object, ...]:
    return (
        domain.domain,
        domain.status,
        domain.pages_known,
        domain.max_crawl_depth,
        domain.crawl_delay_seconds,
        domain.submitted_by,
        domain.last_scraped_at,
    )
