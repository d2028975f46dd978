"""`messor domains`: what may be harvested."""

from __future__ import annotations

from dataclasses import asdict
from typing import Unpack

import click

from messor.cli import domain_acts, domain_erasure, domain_queue, domain_urls, portrait
from messor.cli.domain_session import (
    HEAD,
    LOCAL_ADMIN,
    name_of,
    row_of,
    show_domain,
    transact,
    with_database,
)
from messor.cli.output import json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import UsageError
from messor.governance import intake
from messor.registry import domains as registry
from messor.registry.domains import Domain
from messor.registry.life import PROCESSING, TRANSITIONS
from messor.registry.submissions import DEPTH_GUIDANCE, Submitted, Submitter
from messor.registry.terms import CHOICES, RANGES, Terms
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.store.session import open_session

__all__ = ["LOCAL_ADMIN", "configure", "domains"]

DEPTHS = "; ".join(
    f"{depth}{'+' if depth == 4 else ''} = {words}" for depth, words in DEPTH_GUIDANCE
)


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
@click.option(
    "--depth",
    default=3,
    show_default=True,
    type=click.IntRange(*RANGES["max_crawl_depth"]),
    help=DEPTHS,
)
@click.option("--preflight", is_flag=True, help="Have a worker take a first look for the reviewer.")
@click.option("--rescrape", is_flag=True, help="Scrape it again if it is approved already.")
@json_option
def submit(
    domain: str,
    *,
    context: str | None,
    depth: int,
    preflight: bool,
    rescrape: bool,
    as_json: bool,
) -> None:
    """Ask for a domain; it waits for review.

    A rejected domain comes back to the queue with context that is new.

    \b
    Example:
      messor domains submit foodbank.org --context "State food bank" --depth 3
      messor domains submit foodbank.org --rescrape
    """

    async def act(connection: Connection) -> tuple[Submitted, int | None]:
        asker = Submitter(LOCAL_ADMIN)
        answer = await intake.submit_domain(
            connection, domain, asker, context=context, max_crawl_depth=depth, look=preflight
        )
        if rescrape and answer.asks == "rescrape":
            name = answer.domain.domain
            return answer, await intake.rescrape(connection, name, actor=LOCAL_ADMIN)
        return answer, None

    answer, pages = run(transact(act))
    if pages is not None:
        say(f"{answer.domain.domain} is scraped again: {pages} known pages are due.")
    else:
        say(answer.said)
        if answer.asks == "rescrape":
            say(f"Re-scrape it: messor domains submit {answer.domain.domain} --rescrape")
    if as_json:
        print_json({**asdict(answer.domain), "outcome": answer.outcome, "said": answer.said})
    else:
        show_domain(answer.domain, as_json)


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
@click.option("--usual-delay", is_flag=True, help="No delay of its own any more.")
@click.option("--usual-rhythm", is_flag=True, help="No hours between crawls of its own any more.")
@json_option
def configure(
    domain: str, as_json: bool, *, usual_delay: bool, usual_rhythm: bool, **terms: Unpack[Terms]
) -> None:
    """Change the terms a domain is crawled by; only what is given changes.

    Visits that begin afterwards go by the new terms.

    \b
    Example:
      messor domains configure foodbank.org --delay 2 --depth 4
      messor domains configure foodbank.org --on-block failover --every 168
      messor domains configure foodbank.org --usual-delay
    """
    back = [
        name for name, wanted in (("delay", usual_delay), ("every_hours", usual_rhythm)) if wanted
    ]
    given = any(value is not None for value in terms.values())
    if not back and not given:
        raise UsageError(
            "Say what to change, such as --delay 2; messor domains show tells what is."
        )

    async def act(connection: Connection) -> Domain:
        found = await registry.get(connection, name_of(domain))
        if back:
            found = await registry.restore(connection, found, back, actor=LOCAL_ADMIN)
        if given:
            found = await registry.configure(connection, found, actor=LOCAL_ADMIN, **terms)
        return found

    found = run(transact(act))
    say(f"{found.domain} has new terms: policy {found.policy_version}.")
    if terms.get("harvest") == "site":
        say(f"Pages that nobody had asked for become due with: messor crawl {found.base_url}")
    if as_json:
        print_json(found)
    else:
        print_table(("term", "value"), portrait.terms(found))


@domains.command(name="list")
@click.option("--status", type=click.Choice(sorted(TRANSITIONS)), help="Only these.")
@click.option("--processing", type=click.Choice(sorted(PROCESSING)), help="Only these.")
@json_option
def list_domains(status: str | None, processing: str | None, as_json: bool) -> None:
    """List domains, oldest first.

    \b
    Example:
      messor domains list --status approved
      messor domains list --processing processing_failed
    """

    async def read(database: Database) -> list[Domain]:
        return await registry.listing(database, status, processing=processing)

    found = run(with_database(read))
    if as_json:
        print_json([asdict(domain) for domain in found])
    elif found:
        print_table(HEAD, [row_of(domain) for domain in found])
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

    async def read() -> portrait.DomainDetails:
        settings = Settings()
        async with open_session(settings, pool_size=1) as session:
            found = await registry.get(session.database, name_of(domain))
            return await portrait.of(session.database, found, settings.default_delay)

    found = run(read())
    if as_json:
        print_json(portrait.as_data(found))
    else:
        portrait.show(found)


for command in (
    *domain_acts.COMMANDS,
    *domain_queue.COMMANDS,
    *domain_urls.COMMANDS,
    *domain_erasure.COMMANDS,
):
    domains.add_command(command)
