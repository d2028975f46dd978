"""`messor crawl`: one domain, from nothing to harvested, in one command."""

from __future__ import annotations

from typing import Any, TextIO

import click

from messor.cli.domains import LOCAL_ADMIN
from messor.cli.ingest import ingest_here, read_pages, show_ingestion
from messor.cli.output import json_option, print_json, print_table, run, say
from messor.cli.running import crawl_until_idle
from messor.engine import admission, deciding, progress
from messor.engine.ingest import IngestRequest, Mode
from messor.errors import ConflictError, NothingHarvestedError, UsageError
from messor.frontier import tasks
from messor.registry import domains as registry
from messor.registry.domains import Domain, Submission
from messor.settings import Settings
from messor.store.database import Connection
from messor.store.session import open_session
from messor.web.urls import parse

HARVESTED = {"ok", "unchanged"}


@click.command()
@click.argument("url")
@click.option("--depth", type=click.IntRange(0, 100), help="How many links away from the start.")
@click.option("--delay", type=click.FloatRange(0), help="Seconds between requests to one host.")
@click.option("--max-pages", type=click.IntRange(1), help="The domain's page budget.")
@click.option("--mode", type=click.Choice([mode.value for mode in Mode]),
              help="Read a few pages only: light up to 12, standard 25, user_assisted those given.")  # fmt: skip
@click.option("--orbit", help="With --mode: the profile to fill; made from the domain by default.")
@click.option("--page", "pages", multiple=True, help="A page for user_assisted mode; repeatable.")
@click.option("--pages-from", type=click.File(encoding="utf-8"),
              help="A file with a page per line for user_assisted mode; - is standard input.")  # fmt: skip
@json_option
def crawl(
    url: str,
    *,
    depth: int | None,
    delay: float | None,
    max_pages: int | None,
    mode: str | None,
    orbit: str | None,
    pages: tuple[str, ...],
    pages_from: TextIO | None,
    as_json: bool,
) -> None:
    """Submit, approve and harvest the domain of a URL, as the local admin.

    With --mode only a few telling pages are read, and made into tiles with evidence.

    \b
    Example:
      messor crawl https://example.org/ --depth 2
      messor crawl https://example.org/ --mode standard --orbit example
      messor crawl example.org --mode user_assisted --page https://example.org/menu
    """
    if mode is not None:
        if depth is not None or delay is not None or max_pages is not None:
            raise UsageError("A mode has its own terms: leave --depth, --delay and --max-pages.")
        given = (*pages, *read_pages(pages_from))
        request = IngestRequest(url, LOCAL_ADMIN, mode, given, orbit, may_approve=True)
        show_ingestion(run(ingest_here(request)), as_json)
        return
    if orbit is not None or pages or pages_from is not None:
        raise UsageError("--orbit, --page and --pages-from go with --mode.")
    summary = run(_crawl(Submission.understand(url), url, depth, delay, max_pages))
    if as_json:
        print_json(summary)
    else:
        print_table(("outcome", "pages"), list(summary["outcomes"].items()))


async def _crawl(
    submission: Submission,
    text: str,
    depth: int | None,
    delay: float | None,
    max_pages: int | None,
) -> dict[str, Any]:
    settings = Settings()
    async with open_session(settings) as session:
        async with session.database.transaction() as connection:
            domain = await _admit(connection, submission)
            site = "site" if domain.harvest == "asked" else None
            if any(term is not None for term in (depth, delay, max_pages, site)):
                domain = await registry.configure(
                    connection,
                    domain,
                    actor=LOCAL_ADMIN,
                    delay=delay,
                    max_crawl_depth=depth,
                    page_budget=max_pages,
                    harvest=site,
                )
            url = parse(text if "://" in text else f"https://{text}")
            assert url is not None
            known = await tasks.recrawl(connection, [domain.id])
            await admission.plant(connection, domain, url, found_by="manual")
        again = f", {known} known pages again" if known > 1 else ""
        say(
            f"Harvesting {domain.domain} to depth {domain.max_crawl_depth}{again}: as the local admin,"
        )
        say("by its robots.txt, one request at a time. Ctrl-C stops cleanly.")
        outcomes = await crawl_until_idle(settings, session, [domain.id])
        for host, error in await progress.over_http(session.database, domain.id):
            say(f"{host} was harvested over http: https cannot be connected ({error}).")
        if not HARVESTED & outcomes.keys():
            why = await progress.obstacle(session.database, url)
            raise NothingHarvestedError(f"Nothing was harvested from {url.href}: {why}.")
    return {"domain": domain.domain, "outcomes": outcomes}


async def _admit(connection: Connection, submission: Submission) -> Domain:
    """The domain, approved: the person at this terminal is the local admin."""
    domain, _ = await registry.submit(connection, submission, actor=LOCAL_ADMIN)
    if domain.status == "pending_review":
        return (await deciding.approve(connection, domain.domain, actor=LOCAL_ADMIN)).domain
    if domain.status != "approved":
        raise ConflictError(f"{domain.domain} is {domain.status}: {domain.rejection_reason or ''}")
    return domain
