"""`messor pages`: what is known of a domain's pages."""

from __future__ import annotations

from typing import Any

import click

from messor.cli.output import json_option, print_json, print_table, run, say
from messor.frontier import listing
from messor.frontier.categories import CATEGORIES
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.session import open_session

HEAD = (
    "outcome", "status", "gate", "provider", "category", "depth", "words", "last crawl",
    "next crawl", "url",
)  # fmt: skip


@click.command()
@click.argument("domain")
@click.option("--outcome", help="Only pages that ended so: ok, robots, blocked, error …")
@click.option("--category", type=click.Choice(CATEGORIES), metavar="CATEGORY",
              help=f"Only pages that seem to be: {', '.join(CATEGORIES)}.")  # fmt: skip
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 100_000))
@json_option
def pages(
    domain: str, outcome: str | None, category: str | None, limit: int, as_json: bool
) -> None:
    """List the pages of a domain and what came of them.

    \b
    Example:
      messor pages foodbank.org --outcome blocked
      messor pages foodbank.org --category contact
    """
    rows = run(_pages(Submission.understand(domain).domain, outcome, category, limit))
    if as_json:
        print_json(rows)
    elif rows:
        print_table(HEAD, [_row(row) for row in rows])
    else:
        say(f"No such pages of {domain} are known.")


async def _pages(
    domain: str, outcome: str | None, category: str | None, limit: int
) -> list[dict[str, Any]]:
    async with open_session(Settings(), pool_size=1) as session:
        found = await registry.get(session.database, domain)
        return await listing.pages_of(
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
