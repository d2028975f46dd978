"""`messor crawl`: submit, approve and crawl one domain in one command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from messor.cli import crawl_report
from messor.cli.export import perform, records_of
from messor.cli.ingest import ingest_here, read_pages, show_ingestion
from messor.cli.output import print_json, print_to, run
from messor.cli.run_workers import carry_out, require_ready
from messor.cli.session import LOCAL_ADMIN
from messor.core.plurals import counted
from messor.core.terminal import say
from messor.crawl import crawl_runs, progress
from messor.crawl.progress import Obstacle
from messor.errors import (
    ConflictError,
    InterruptedRunError,
    MessorError,
    NoPagesError,
    UsageError,
)
from messor.exports.formats import FORMATS
from messor.exports.requests import NewExport
from messor.extraction.domain_extraction import DomainExtraction
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

SUCCESSFUL = {"ok", "unchanged"}
MAX_ATTEMPTS = 5
CONNECTIONS = 8  # for the crawl, and for batches of extraction beside it

Result = TypeVar("Result")


def _output(context: click.Context, parameter: click.Parameter, path: str | None) -> Path | None:
    """A file of records by its suffix; any other gets what the command prints."""
    if path is not None and Path(path).suffix.lstrip(".") in FORMATS:
        return Path(path).absolute()
    print_to(context, parameter, path)
    return None


@click.command()
@click.argument("url")
@click.option("--depth", type=click.IntRange(0, 100),
              help="Maximum link distance from the URL, for this run; 0 fetches that page only.")  # fmt: skip
@click.option("--delay", type=click.FloatRange(0),
              help="Seconds between requests to a host, for this run; cannot be faster than the host's own delay.")  # fmt: skip
@click.option(
    "--max-pages", type=click.IntRange(1), help="Maximum number of pages to fetch, for this run."
)
@click.option("--refetch", is_flag=True, help="Also fetch pages that are not due yet.")
@click.option("--mode", type=click.Choice([mode.value for mode in Mode]),
              help="Ingest a few pages only: light up to 12, standard up to 25, user_assisted the pages given.")  # fmt: skip
@click.option("--orbit", help="Orbit to fill, with --mode; derived from the domain by default.")
@click.option("--page", "pages", multiple=True, help="Page for user_assisted mode; repeatable.")
@click.option("--pages-from", type=click.File(encoding="utf-8"),
              help="File with one page per line for user_assisted mode; - for standard input.")  # fmt: skip
@click.option("--extract/--no-extract", default=True,
              help="Extract records while crawling; without it, run messor extract later.")  # fmt: skip
@click.option("-o", "--output", "target", metavar="FILE", is_eager=True,
              type=click.Path(dir_okay=False, writable=True), callback=_output,
              help="File for the domain's records (.csv, .jsonl, .parquet, .xlsx, "
              ".sqlite, .duckdb) or, with any other suffix, the summary.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
    extract: bool,
    target: Path | None,
    as_json: bool,
) -> None:
    """Submit, approve and crawl the domain of a URL, as the local admin.

    The URL itself is always fetched; other pages only when they are due. --depth, --max-pages and
    --delay limit this run only; to change the domain's terms use messor domains configure. Ctrl-C
    stops cleanly; run the same command again to continue. Records are extracted while pages come in.
    With --mode only a few representative pages are fetched and turned into tiles with evidence.

    \b
    Example:
      messor crawl https://example.org/ --depth 2
      messor crawl https://example.org/ -o records.csv
      messor crawl https://example.org/ --mode standard --orbit example
      messor crawl example.org --mode user_assisted --page https://example.org/menu
    """
    limits = RunLimits(depth, max_pages, delay, refetch)
    if mode is not None:
        if limits != RunLimits():
            raise UsageError(
                "--mode cannot be combined with --depth, --delay, --max-pages or --refetch."
            )
        given = (*pages, *read_pages(pages_from))
        request = IngestRequest(url, LOCAL_ADMIN, mode, given, orbit, may_approve=True)
        show_ingestion(run(ingest_here(request)), as_json)
        return
    if orbit is not None or pages or pages_from is not None:
        raise UsageError("--orbit, --page and --pages-from require --mode.")
    if target is not None and not extract:
        raise UsageError(
            "Records cannot be written with --no-extract; name a file such as summary.txt."
        )
    submission = Submission.understand(url)
    export = records_of(submission.domain, target) if target is not None else None
    summary, obstacles = run(_crawl(submission, url, limits, extracts=extract, export=export))
    if as_json:
        print_json(summary)
    else:
        crawl_report.show(summary, obstacles)
    if export is not None:
        say(f"{summary['exported']:,} records were written to {target}.")
    if summary["status"] == "interrupted":
        done, left = summary["fetched"], summary["remaining"]
        raise InterruptedRunError(
            f"Interrupted: {counted(done, 'page')} fetched, {left} remaining. "
            "Run the same command again to continue."
        )


async def _crawl(
    submission: Submission,
    text: str,
    limits: RunLimits,
    *,
    extracts: bool,
    export: NewExport | None,
) -> tuple[dict[str, Any], list[Obstacle]]:
    settings = Settings()
    url = parse(text if "://" in text else f"https://{text}")
    assert url is not None
    async with open_session(settings, pool_size=CONNECTIONS) as session:
        await require_ready(settings, session)

        async def begin(connection: Connection) -> tuple[Domain, CrawlRun, bool]:
            domain = await _admit(connection, submission)
            return domain, *await crawl_runs.begin(
                connection, domain, url, limits, actor=LOCAL_ADMIN
            )

        domain, begun, resumed = await _transact_with_retry(session.database, begin)
        await _announce(session, settings, domain, begun, resumed=resumed)
        status = "interrupted"
        extraction = DomainExtraction(session.database, settings, domain.id)
        try:
            async with _following(extraction if extracts else None):
                if not await carry_out(settings, session, begun, domain.domain):
                    status = "done"
        finally:
            await _transact_with_retry(session.database, lambda held: runs.end(held, begun, status))
            if extracts and status == "done":
                await _finish(extraction)
            await extraction.close()
        for host, error in await progress.over_http(session.database, domain.id):
            say(f"{host} uses http: the https connection failed ({error}).")
        summary = await _summary(session, domain, begun, status)
        if status == "done" and not SUCCESSFUL & summary["outcomes"].keys():
            why = await progress.obstacle(session.database, url)
            raise NoPagesError(f"No page was fetched from {url.href}: {why}.")
        obstacles = await progress.obstacles(session.database, domain.id) if extracts else []
        if extracts:
            summary["records"] = await crawl_report.samples(session.database, domain)
        if export is not None:
            summary["exported"] = (await perform(session.database, export, restart=True)).rows
    return summary, obstacles


@asynccontextmanager
async def _following(extraction: DomainExtraction | None) -> AsyncIterator[None]:
    """Extract what comes in meanwhile."""
    following = asyncio.create_task(extraction.follow()) if extraction else None
    try:
        yield
    finally:
        if following is not None:
            following.cancel()
            with suppress(asyncio.CancelledError, MessorError):  # the rest is extracted at the end
                await following


async def _finish(extraction: DomainExtraction) -> None:
    """Extract the rest; a failure there does not undo the crawl."""
    try:
        left = await extraction.finish()
    except MessorError as error:
        say(f"Extraction stopped: {error} To continue: messor extract")
        return
    if left:
        say(f"{counted(left, 'page')} wait for extraction. To extract them: messor extract")


async def _transact_with_retry(
    database: Database, act: Callable[[Connection], Awaitable[Result]], attempts: int = MAX_ATTEMPTS
) -> Result:
    """Run `act` in a transaction and retry it when it conflicts with workers."""
    while True:
        attempts -= 1
        try:
            async with database.transaction() as connection:
                return await act(connection)
        except TRY_AGAIN:
            if attempts == 0:
                raise


async def _announce(
    session: Session, settings: Settings, domain: Domain, begun: CrawlRun, *, resumed: bool
) -> None:
    """Print what this run will fetch."""
    reach = f"to depth {domain.max_crawl_depth}, new and due pages"
    if begun.bounded:
        links = counted(begun.max_depth or 0, "link")
        reach = f"from {begun.url}" + (f" up to {links} away" if begun.max_depth else " alone")
        reach += f", at most {counted(begun.max_pages, 'page')}" if begun.max_pages else ""
    again = ", including pages not due yet" if begun.refetch else ""
    verb = "Resuming the crawl of" if resumed else "Crawling"
    when = f" started {begun.started_at:%Y-%m-%d %H:%M:%S} UTC" if resumed else ""
    say(f"{verb} {domain.domain}{when} {reach}{again}, as the local admin,")
    say("following robots.txt, one request at a time. Ctrl-C stops cleanly.")
    host = await hosts.find(session.database, _authority(begun), settings.default_delay)
    if host is not None and begun.delay is not None and begun.delay < host.delay.seconds:
        say(
            f"{host.host} keeps its delay of {host.delay.seconds:g} s ({host.delay.reason}): a run "
            "may be slower, not faster. To change it permanently: "
            f"messor domains configure {domain.domain} --delay {begun.delay:g}"
        )


def _authority(begun: CrawlRun) -> str:
    url = parse(begun.url)
    assert url is not None
    return url.authority


async def _summary(
    session: Session, domain: Domain, begun: CrawlRun, status: str
) -> dict[str, Any]:
    """Count outcomes of the run's own pages if it had limits, else of the whole domain."""
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
            say(f"Skipped {more}: --max-pages {begun.max_pages} was reached.")
    if fresh:
        say(f"Not due and not fetched: {counted(fresh, 'page')}; use --refetch to fetch them.")
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
    """Submit and approve the domain: the person at this terminal is the local admin."""
    domain, _ = await registry.submit(connection, submission, actor=LOCAL_ADMIN)
    if domain.status == "pending_review":
        return (await decisions.approve(connection, domain.domain, actor=LOCAL_ADMIN)).domain
    if domain.status != "approved":
        raise ConflictError(f"{domain.domain} is {domain.status}: {domain.rejection_reason or ''}")
    return domain
