"""`messor domains`: the registry of domains that may be crawled."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Unpack

import click

from messor.cli import domain_acts, domain_details, domain_erasure, domain_queue, domain_urls
from messor.cli.domain_session import HEAD, name_of, row_of, show_domain
from messor.cli.listing import list_options, show_list
from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact
from messor.core.terminal import say
from messor.errors import UsageError
from messor.governance import domain_terms, intake
from messor.registry import domains as registry
from messor.registry.domains import SUBMITTED_DELAYS, Domain
from messor.registry.queries import DOMAINS
from messor.registry.submissions import DEPTH_GUIDANCE, Submitted, Submitter
from messor.registry.terms import CHOICES, RANGES, Terms
from messor.settings import Settings
from messor.store.database import Connection
from messor.store.session import open_session

__all__ = ["configure", "domains"]

DEPTHS = "; ".join(
    f"{depth}{'+' if depth == 4 else ''} = {words}" for depth, words in DEPTH_GUIDANCE
)


@click.group()
def domains() -> None:
    """Submit, review, configure and list the domains that may be crawled.

    \b
    Example:
      messor domains submit foodbank.org --context "State food bank"
      messor domains approve foodbank.org
    """


@domains.command()
@click.argument("domain")
@click.option("--context", help="Why it should be crawled.")
@click.option(
    "--depth",
    default=3,
    show_default=True,
    type=click.IntRange(*RANGES["max_crawl_depth"]),
    help=DEPTHS,
)
@click.option(
    "--delay",
    type=click.FloatRange(*SUBMITTED_DELAYS),
    help="Seconds between requests to a host; 2 is kind to most sites.",
)
@click.option("--vertical", help="Applied vertical that it is for; its pages are judged for it.")
@click.option("--preflight", is_flag=True, help="Request a pre-flight for the reviewer.")
@click.option("--rescrape", is_flag=True, help="Crawl it again if it is already approved.")
@json_option
def submit(
    domain: str,
    *,
    context: str | None,
    depth: int,
    delay: float | None,
    vertical: str | None,
    preflight: bool,
    rescrape: bool,
    as_json: bool,
) -> None:
    """Submit a domain for review.

    A rejected domain returns to the review queue when it is submitted with new context.

    \b
    Example:
      messor domains submit foodbank.org --context "State food bank" --vertical community_resources
      messor domains submit foodbank.org --rescrape
    """

    async def act(connection: Connection) -> tuple[Submitted, int | None]:
        submitter = Submitter(LOCAL_ADMIN)
        submitted = await intake.submit_domain(
            connection,
            domain,
            submitter,
            context=context,
            max_crawl_depth=depth,
            delay=delay,
            vertical=vertical,
            look=preflight,
        )
        if rescrape and submitted.asks == "rescrape":
            name = submitted.domain.domain
            return submitted, await intake.rescrape(connection, name, actor=LOCAL_ADMIN)
        return submitted, None

    submitted, pages = run(transact(act))
    name = submitted.domain.domain
    if pages is not None:
        say(f"{name} will be crawled again: {pages} known pages are due.")
    else:
        say(submitted.message)
        if submitted.asks == "rescrape":
            say(f"To crawl it again: messor domains submit {name} --rescrape")
    if as_json:
        outcome = {"outcome": submitted.outcome, "message": submitted.message}
        print_json({**asdict(submitted.domain), **outcome})
    else:
        show_domain(submitted.domain, as_json)


@domains.command()
@click.argument("domain")
@click.option(
    "--delay",
    type=click.FloatRange(*RANGES["delay"]),
    help="Seconds between requests to a host; use 0 for your own sites only.",
)
@click.option(
    "--depth",
    "max_crawl_depth",
    type=click.IntRange(*RANGES["max_crawl_depth"]),
    help="Maximum link distance from the start page.",
)
@click.option(
    "--page-budget",
    type=click.IntRange(*RANGES["page_budget"]),
    help="Maximum number of known pages.",
)
@click.option(
    "--max-concurrent-requests",
    type=click.IntRange(*RANGES["max_concurrent_requests"]),
    help="Maximum number of its hosts requested at a time.",
)
@click.option(
    "--every",
    "every_hours",
    metavar="HOURS",
    type=click.IntRange(*RANGES["every_hours"]),
    help="Crawl frequency: hours between two crawls of a page.",
)
@click.option(
    "--on-block",
    type=click.Choice(CHOICES["on_block"]),
    help="When plain HTTP is blocked: respect it and wait, or fail over to the next provider.",
)
@click.option(
    "--render",
    type=click.Choice(CHOICES["render"]),
    help="Use browser and services for pages that fail a gate, or never.",
)
@click.option(
    "--harvest",
    type=click.Choice(CHOICES["harvest"]),
    help="Crawl the whole site, or requested pages only.",
)
@click.option(
    "--directives",
    type=click.Choice(CHOICES["directives"]),
    help="Respect or ignore noindex and nofollow.",
)
@click.option(
    "--reservations",
    type=click.Choice(CHOICES["reservations"]),
    help="Pages that reserve rights against data mining: keep them and record the reservation, or do not keep them.",
)
@click.option(
    "--robots-forbidden",
    type=click.Choice(CHOICES["robots_forbidden"]),
    help="How to treat 401 and 403 for robots.txt.",
)
@click.option(
    "--proxies",
    type=click.Choice(CHOICES["proxies"]),
    help="Fetch directly, or through the proxies of `messor proxies`.",
)
@click.option(
    "--verify-tls/--no-verify-tls", default=None, help="Whether TLS certificates must be valid."
)
@click.option(
    "--priority",
    type=click.IntRange(*RANGES["priority"]),
    help="Priority while workers are busy: 1 is highest, 10 lowest; 5 by default.",
)
@click.option(
    "--hours",
    "crawl_hours",
    metavar="FROM-TO",
    help="Crawl hours of the day in its time zone, such as 22-6.",
)
@click.option(
    "--time-zone", metavar="ZONE", help="Its time zone, such as Europe/Berlin; UTC by default."
)
@click.option(
    "--megabytes-per-day",
    type=click.IntRange(*RANGES["megabytes_per_day"]),
    help="Maximum received per day of its time zone; then it goes on the next day.",
)
@click.option("--reset-hours", is_flag=True, help="Crawl at any time.")
@click.option("--reset-megabytes", is_flag=True, help="Receive any amount.")
@click.option("--reset-delay", is_flag=True, help="Use the default delay.")
@click.option("--reset-frequency", is_flag=True, help="Use the default crawl frequency.")
@json_option
def configure(
    domain: str,
    as_json: bool,
    *,
    reset_delay: bool,
    reset_frequency: bool,
    reset_hours: bool,
    reset_megabytes: bool,
    **terms: Unpack[Terms],
) -> None:
    """Change the crawl terms of a domain; terms not given stay as they are.

    The new terms apply to visits that start afterwards. A shorter crawl frequency also makes pages due
    earlier that are already scheduled.

    \b
    Example:
      messor domains configure foodbank.org --delay 2 --depth 4
      messor domains configure foodbank.org --on-block failover --every 168
      messor domains configure foodbank.org --every 1 --priority 2
      messor domains configure foodbank.org --hours 22-6 --time-zone America/New_York
      messor domains configure foodbank.org --megabytes-per-day 500
      messor domains configure foodbank.org --reset-delay
    """
    flags = {
        "delay": reset_delay,
        "every_hours": reset_frequency,
        "crawl_hours": reset_hours,
        "megabytes_per_day": reset_megabytes,
    }
    reset = [name for name, is_set in flags.items() if is_set]
    given = any(value is not None for value in terms.values())
    if not reset and not given:
        raise UsageError(
            "Give at least one term to change, such as --delay 2; "
            f"current terms: messor domains show {domain}"
        )

    async def act(connection: Connection) -> Domain:
        found = await registry.get(connection, name_of(domain))
        return await domain_terms.change(connection, found, actor=LOCAL_ADMIN, reset=reset, **terms)

    found = run(transact(act))
    say(f"The terms of {found.domain} are now at policy version {found.policy_version}.")
    if terms.get("harvest") == "site":
        say(f"To start crawling the whole site: messor crawl {found.base_url}")
    if as_json:
        print_json(found)
    else:
        print_table(("term", "value"), domain_details.terms(found))


@domains.command(name="list")
@list_options(DOMAINS)
def list_domains(**given: Any) -> None:
    """List domains.

    \b
    Example:
      messor domains list --status approved
      messor domains list --processing processing_failed --sort -pages_known
    """
    empty = "No matching domains. Submit one: messor domains submit example.org"
    show_list(DOMAINS, given, HEAD, row_of, empty=empty)


@domains.command()
@click.argument("domain")
@json_option
def show(domain: str, as_json: bool) -> None:
    """Show a domain in detail: terms, hosts, risk, robots, sitemaps, pages.

    \b
    Example:
      messor domains show foodbank.org
    """

    async def read() -> domain_details.DomainDetails:
        settings = Settings()
        async with open_session(settings, pool_size=1) as session:
            found = await registry.get(session.database, name_of(domain))
            return await domain_details.of(session.database, found, settings.default_delay)

    found = run(read())
    if as_json:
        print_json(domain_details.as_data(found))
    else:
        domain_details.show(found)


for command in (
    *domain_acts.COMMANDS,
    *domain_queue.COMMANDS,
    *domain_urls.COMMANDS,
    *domain_erasure.COMMANDS,
):
    domains.add_command(command)
