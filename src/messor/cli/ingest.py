"""Ingestion for `messor crawl --mode`: runs a worker and prints progress, tiles and evidence."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import TextIO

import click

from messor.cli.output import emit, print_json, print_table
from messor.cli.run_workers import require_ready
from messor.core.terminal import say
from messor.crawl.worker import Worker
from messor.errors import NoPagesError, UsageError
from messor.ingest import Ingestion, IngestRequest, Progress, ingest
from messor.ingest.result import MESSAGE_SENTENCES, PlannedPageResult, RunOutcome
from messor.runtime.components import watching_clock
from messor.runtime.ends import stopping_on_signals
from messor.settings import Settings
from messor.store.session import open_session

HEAD = ("category", "title", "items", "confidence", "source")
TITLE_WIDTH = 50


def read_pages(file: TextIO | None) -> list[str]:
    """Read one page per line, skipping blank lines and comments."""
    if file is None:
        return []
    try:
        lines = [line.strip() for line in file]
    except UnicodeDecodeError as error:
        raise UsageError(f"{file.name} is not a UTF-8 text file with one page per line.") from error
    return [line for line in lines if line and not line.startswith("#")]


async def ingest_here(request: IngestRequest) -> Ingestion:
    """Run the ingestion with a worker in this process."""
    settings = Settings()
    async with open_session(settings) as session:
        space = await require_ready(settings, session)
        worker = Worker(settings, session.database, repair=session.repair, space=space)
        async with stopping_on_signals(worker), watching_clock(settings, session):
            working = asyncio.create_task(worker.run())
            ingesting = asyncio.create_task(
                ingest(session.database, settings, request, watch=_show_progress)
            )
            await asyncio.wait([working, ingesting], return_when=asyncio.FIRST_COMPLETED)
            interrupted = not ingesting.done()
            if interrupted:
                ingesting.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await ingesting
            worker.stop()
            await working
        if interrupted:
            raise click.Abort
        if sys.stderr.isatty():
            say("")
        return ingesting.result()


def _show_progress(progress: Progress) -> None:
    line = f"{progress.stage}: {progress.planned} pages planned, {progress.fetched} fetched"
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{line}", nl=False, err=True)
    else:
        say(line)


def show_ingestion(ingestion: Ingestion, as_json: bool) -> None:
    """Print the result as JSON or text; raise if no page was used."""
    if as_json:
        print_json(ingestion.as_response())
    else:
        _show(ingestion)
    if not ingestion.is_success:
        raise NoPagesError(ingestion.message)


def _show(ingestion: Ingestion) -> None:
    if ingestion.tiles:
        rows = [
            (t.category, _short(t.title), len(t.items), f"{t.confidence:.2f}", t.source_url)
            for t in ingestion.tiles
        ]
        print_table(HEAD, rows)
        emit("")
    found = ingestion.evidence["nm_ingest"]
    emit(
        f"{found['outcome']}: orbit {ingestion.orbit}, {found['pagesPlanned']} pages planned, "
        f"{found['pagesFetched']} fetched, {found['pagesUsed']} used, {found['cacheHits']} from "
        f"the cache, risk {found['domainRiskScore']}, {found['durationMs'] / 1000:.1f} s, "
        f"trace {ingestion.trace_id}"
    )
    if ingestion.limited_to is not None:
        emit(
            f"  The risk of {ingestion.domain} is high, so at most {ingestion.limited_to} pages were "
            "read; later runs read more once it has decayed."
        )
    for page in ingestion.pages:
        if page.result not in (PlannedPageResult.USED, PlannedPageResult.REDIRECTED):
            emit(f"  {page.result}: {page.url}{f' ({page.message})' if page.message else ''}")
    if ingestion.outcome is not RunOutcome.SUCCESS:
        told = 0 if ingestion.is_success else MESSAGE_SENTENCES  # those are printed at the end
        for sentence in ingestion.guidance[told:]:
            emit(f"  {sentence}")
    for offer in ingestion.offers:
        emit(f"  {offer['text']}\n    {offer['command']}")


def _short(title: str) -> str:
    return title if len(title) <= TITLE_WIDTH else f"{title[: TITLE_WIDTH - 1]}…"
