"""`messor pages`, `snapshots` and `fetches`: what is known, kept and requested of a domain."""

from __future__ import annotations

from typing import Any

import click

from messor.archive.queries import SNAPSHOTS, KeptSnapshot
from messor.cli.listing import list_options, show_list
from messor.fetch.queries import FETCHES, LoggedFetch
from messor.frontier import page_queries
from messor.frontier.page_queries import PAGES, KnownPage
from messor.registry import domains as registry
from messor.registry.domains import Submission

PAGE_HEAD = (
    "outcome", "status", "gate", "provider", "category", "depth", "words", "last crawl",
    "next crawl", "url",
)  # fmt: skip
SNAPSHOT_HEAD = ("id", "crawled", "status", "size", "provider", "verdict", "title")
FETCH_HEAD = ("when", "outcome", "status", "provider", "gate", "size", "ms", "rule", "url")


@click.command()
@click.argument("domain")
@list_options(PAGES, without=("domain",))
def pages(domain: str, **given: Any) -> None:
    """List the pages of a domain and their outcomes.

    \b
    Example:
      messor pages foodbank.org --outcome blocked
      messor pages foodbank.org --category contact
    """
    name = Submission.understand(domain).domain
    show_list(
        PAGES,
        {"domain": name, **given},
        PAGE_HEAD,
        _page_row,
        empty=f"No matching pages of {name}.",
        check=lambda database: registry.get(database, name),
    )


@click.command()
@click.argument("domain")
@list_options(FETCHES, without=("domain",))
def fetches(domain: str, **given: Any) -> None:
    """List the requests to a domain: outcome, provider, and the rule that allowed each.

    \b
    Example:
      messor fetches foodbank.org --outcome blocked --since 2026-11-01
      messor fetches foodbank.org --url https://foodbank.org/about
    """
    name = Submission.understand(domain).domain
    show_list(
        FETCHES,
        {"domain": name, **given},
        FETCH_HEAD,
        _fetch_row,
        empty=f"No matching requests to {name}.",
        check=lambda database: registry.get(database, name),
    )


@click.command()
@click.argument("page_id", type=click.IntRange(1, 2**63 - 1))
@list_options(SNAPSHOTS, without=("page_id",))
def snapshots(page_id: int, **given: Any) -> None:
    """List the snapshots of a page, by its id.

    \b
    Example:
      messor snapshots 17
    """
    show_list(
        SNAPSHOTS,
        {"page_id": page_id, **given},
        SNAPSHOT_HEAD,
        _snapshot_row,
        empty="No snapshots.",
        check=lambda database: page_queries.page(database, page_id),
    )


def _page_row(row: KnownPage) -> tuple[Any, ...]:
    return (
        row.outcome or "waiting", row.last_http_status, row.gate, row.provider, row.category,
        row.depth, row.word_count, row.last_crawled_at, row.next_crawl_at, row.url,
    )  # fmt: skip


def _fetch_row(row: LoggedFetch) -> tuple[Any, ...]:
    return (
        row.fetched_at, row.outcome, row.status_code, row.fetch_provider, row.quality_gate_failed,
        row.size, row.duration_ms, row.rule, row.url or "(deleted page)",
    )  # fmt: skip


def _snapshot_row(row: KeptSnapshot) -> tuple[Any, ...]:
    return row.id, row.crawled_at, row.status_code, row.size, row.provider, row.verdict, row.title
