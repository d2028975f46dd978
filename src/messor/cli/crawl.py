"""`messor crawl`: one domain, from nothing to harvested, in one command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TextIO, TypeVar

import click

from messor.cli.domains import LOCAL_ADMIN
from messor.cli.ingest import ingest_here, read_pages, show_ingestion
from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.run_workers import carry_out, require_able
from messor.core.counting import counted
from messor.core.terminal import say
from messor.crawl import crawl_runs, progress
from messor.errors import (
    ConflictError,
    InterruptedRunError,
    NothingHarvestedError,
    UsageError,
)
from messor.frontier import runs
from messor.frontier.runs import CrawlRun, RunLimits
from messor.governance import decisions
from messor.ingest import IngestRequest, Mode
from messor.politeness import hosts
from messor.registry import domains as registry
from messor.registry.domains import Domain, Submission
from messor.settings import Settings
from messor.store.database import TRY_AGAIN, Connection, Database
from messor.store.session import Session, open_session
from messor.web.urls import parse

HARVESTED = {"ok", "unchanged"}
TRIES = 5

Answer = TypeVar("Answer")


@click.command()
@click.argument("url")
@click.option("--depth", type=click.IntRange(0, 100),
              help="For this run: how many links away from the named URL; 0 is that page alone.")  # fmt: skip
@click.option("--delay", type=click.FloatRange(0),
              help="For this run: seconds between requests to one host, where that is slower than its pace.")  # fmt: skip
@click.option(
    "--max-pages", type=click.IntRange(1), help="For this run: fetch so many pages at most."
)
@click.option("--refetch", is_flag=True, help="Fetch pages again that are fresh.")
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
    refetch: bool,
    mode: str | None,
    orbit: str | None,
    pages: tuple[str, ...],
    pages_from: TextIO | None,
    as_json: bool,
) -> None:
    """Submit, approve and harvest the domain of a URL, as the local admin.

    The URL itself is always fetched; pages that are fresh by their domain's cadence are not. With
    --depth or --max-pages only pages that lie so near are fetched; such limits belong to this run,
    the domain's own terms stay as they are (messor domains configure). Ctrl-C stops cleanly, and
    the same command goes on. With --mode only a few telling pages are read, and made into tiles
    with evidence.

    \b
    Example:
      messor crawl https://example.org/ --depth 2
      messor crawl https://example.org/ --mode standard --orbit example
      messor crawl example.org --mode user_assisted --page https://example.org/menu
    """
    limits = RunLimits(depth, max_pages, delay, refetch)
    if mode is not None:
        if limits != RunLimits():
            raise UsageError(
                "A mode has its own terms: leave --depth, --delay, --max-pages and --refetch."
            )
        given = (*pages, *read_pages(pages_from))
        request = IngestRequest(url, LOCAL_ADMIN, mode, given, orbit, may_approve=True)
        show_ingestion(run(ingest_here(request)), as_json)
        return
    if orbit is not None or pages or pages_from is not None:
        raise UsageError("--orbit, --page and --pages-from go with --mode.")
    summary = run(_crawl(Submission.understand(url), url, limits))
    if as_json:
        print_json(summary)
    else:
        print_table(("outcome", "pages"), list(summary["outcomes"].items()))
    if summary["status"] == "interrupted":
        done, left = summary["fetched"], summary["remaining"]
        raise InterruptedRunError(
            f"Interrupted: {counted(done, 'page')} fetched, {left} still to be fetched. "
            "The same command goes on from here."
        )


async def _crawl(submission: Submission, text: str, limits: RunLimits) -> dict[str, Any]:
    settings = Settings()
    url = parse(text if "://" in text else f"https://{text}")
    assert url is not None
    async with open_session(settings) as session:
        await require_able(settings, session)

        async def begin(connection: Connection) -> tuple[Domain, CrawlRun, bool]:
            domain = await _admit(connection, submission)
            return domain, *await crawl_runs.begin(
                connection, domain, url, limits, actor=LOCAL_ADMIN
            )

        domain, begun, resumed = await _insist(session.database, begin)
        await _announce(session, settings, domain, begun, resumed=resumed)
        status = "interrupted"
        try:
            if not await carry_out(settings, session, begun, domain.domain):
                status = "done"
        finally:
            await _insist(session.database, lambda held: runs.end(held, begun, status))
        for host, error in await progress.over_http(session.database, domain.id):
            say(f"{host} is talked to over http: https cannot be connected ({error}).")
        summary = await _summary(session, domain, begun, status)
        if status == "done" and not HARVESTED & summary["outcomes"].keys():
            why = await progress.obstacle(session.database, url)
            raise NothingHarvestedError(f"Nothing was harvested from {url.href}: {why}.")
    return summary


async def _insist(
    database: Database, act: Callable[[Connection], Awaitable[Answer]], tries: int = TRIES
) -> Answer:
    """Act in a transaction; again in a new one where workers were in the way."""
    while True:
        tries -= 1
        try:
            async with database.transaction() as connection:
                return await act(connection)
        except TRY_AGAIN:
            if tries == 0:
                raise


async def _announce(
    session: Session, settings: Settings, domain: Domain, begun: CrawlRun, *, resumed: bool
) -> None:
    """What this run will do, in the words of its limits."""
    reach = f"to depth {domain.max_crawl_depth}, what is new or due"
    if begun.bounded:
        links = counted(begun.max_depth or 0, "link")
        reach = f"from {begun.url}" + (f" up to {links} away" if begun.max_depth else " alone")
        reach += f", {counted(begun.max_pages, 'page')} at most" if begun.max_pages else ""
    again = ", fresh pages again" if begun.refetch else ""
    going = "Going on with the run of" if resumed else "Harvesting"
    when = f" that began {begun.started_at:%Y-%m-%d %H:%M:%S} UTC" if resumed else ""
    say(f"{going} {domain.domain}{when} {reach}{again}: as the local admin,")
    say("by its robots.txt, one request at a time. Ctrl-C stops cleanly.")
    host = await hosts.find(session.database, _authority(begun), settings.default_delay)
    if host is not None and begun.delay is not None and begun.delay < host.delay.seconds:
        say(
            f"{host.host} keeps its pace of {host.delay.seconds:g} s ({host.delay.reason}): a run "
            f"may be slower, not faster. messor domains configure {domain.domain} --delay "
            f"{begun.delay:g} changes it for good."
        )


def _authority(begun: CrawlRun) -> str:
    url = parse(begun.url)
    assert url is not None
    return url.authority


async def _summary(
    session: Session, domain: Domain, begun: CrawlRun, status: str
) -> dict[str, Any]:
    """What came of the run: of its own pages when it had limits, else of the domain's."""
    database = session.database
    if not begun.bounded:
        outcomes = await progress.outcomes(database, [domain.id])
        fetched, remaining, fresh = await runs.reached(database, begun)
    else:
        outcomes, fresh = await runs.outcomes(database, begun)
        remaining = outcomes.get("waiting", 0)
        fetched = await runs.fetched(database, begun)
        left_out = await runs.left_out(database, begun)
        if left_out:
            more = counted(left_out, "more link")
            say(f"Left out: {more}, as --max-pages {begun.max_pages} was reached.")
    if fresh:
        say(f"Fresh and not fetched again: {counted(fresh, 'page')} (--refetch does).")
    return {
        "domain": domain.domain,
        "run": str(begun.id),
        "status": status,
        "fetched": fetched,
        "fresh": fresh,
        "remaining": remaining,
        "outcomes": outcomes,
    }


async def _admit(connection: Connection, submission: Submission) -> Domain:
    """The domain, approved: the person at this terminal is the local admin."""
    domain, _ = await registry.submit(connection, submission, actor=LOCAL_ADMIN)
    if domain.status == "pending_review":
        return (await decisions.approve(connection, domain.domain, actor=LOCAL_ADMIN)).domain
    if domain.status != "approved":
        raise ConflictError(f"{domain.domain} is {domain.status}: {domain.rejection_reason or ''}")
    return domain
