"""`messor pages`: list the pages of a domain."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from messor.cli.output import json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import UsageError
from messor.frontier import inventory
from messor.frontier.categories import CATEGORIES
from messor.insight.relevance.unproductive import UnproductivePage, unproductive
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.session import open_session

HEAD = (
    "outcome", "status", "gate", "provider", "category", "depth", "words", "last crawl",
    "next crawl", "url",
)  # fmt: skip
UNPRODUCTIVE_HEAD = ("last crawl", "last record", "next crawl", "url")


@click.command()
@click.argument("domain")
@click.option("--outcome", help="Only pages with this outcome: ok, robots, blocked, error …")
@click.option("--category", type=click.Choice(CATEGORIES), metavar="CATEGORY",
              help=f"Only pages of this category: {', '.join(CATEGORIES)}.")  # fmt: skip
@click.option("--unproductive", "only_unproductive", is_flag=True,
              help="Only pages that yielded no record in 90 days; they are crawled rarely.")  # fmt: skip
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 100_000),
              help="Maximum number of rows.")  # fmt: skip
@json_option
def pages(  # noqa: PLR0917 - one for each option
    domain: str,
    outcome: str | None,
    category: str | None,
    only_unproductive: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List the pages of a domain and their outcomes.

    \b
    Example:
      messor pages foodbank.org --outcome blocked
      messor pages foodbank.org --category contact
      messor pages foodbank.org --unproductive
    """
    if only_unproductive:
        if outcome or category:
            raise UsageError("--unproductive cannot be combined with --outcome or --category.")
        _list_unproductive(domain, limit, as_json=as_json)
        return
    rows = run(_pages(Submission.understand(domain).domain, outcome, category, limit))
    if as_json:
        print_json(rows)
    elif rows:
        print_table(HEAD, [_row(row) for row in rows])
    else:
        say(f"No matching pages of {domain}.")


def _list_unproductive(domain: str, limit: int, *, as_json: bool) -> None:
    found = run(_unproductive(Submission.understand(domain).domain, limit))
    if as_json:
        print_json([asdict(one) for one in found])
    elif found:
        rows = [(one.last_fetched_at, one.last_record_at, one.due_at, one.url) for one in found]
        print_table(UNPRODUCTIVE_HEAD, rows)
    else:
        say(f"{domain} has no unproductive pages.")


async def _unproductive(domain: str, limit: int) -> list[UnproductivePage]:
    async with open_session(Settings(), pool_size=1) as session:
        found = await registry.get(session.database, domain)
        return await unproductive(session.database, domain_id=found.id, most=limit)


async def _pages(
    domain: str, outcome: str | None, category: str | None, limit: int
) -> list[dict[str, Any]]:
    async with open_session(Settings(), pool_size=1) as session:
        found = await registry.get(session.database, domain)
        return await inventory.pages_of(
            session.database, found.id, outcome=outcome, category=category, limit=limit
        )


def _row(row: dict[str, Any]) -> tuple[Any, ...]:
    return (
        row["outcome"] or "waiting",
        row["last_http_status"],
        row["gate"],
        row["provider"],
        row["category"],
        row["depth"],
        row["word_count"],
        row["last_crawled_at"],
        row["next_crawl_at"],
        row["url"],
    )
