"""`messor extract` and `messor replay`: extract records from archived pages, without requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import click

from messor.archive.storage import Archive
from messor.cli.comparison import print_comparison
from messor.cli.output import end_line, json_option, print_json, progress_line, run
from messor.core.terminal import say
from messor.errors import InterruptedRunError, UsageError
from messor.extraction import queue
from messor.extraction.compare import compare_archive
from messor.extraction.component import ExtractionComponent, ExtractionResult
from messor.extraction.extract import Tally
from messor.extraction.reader_pool import wanted_kinds
from messor.parsers.page_reading import installed_parsers
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.runtime.ends import Interruptible, stopping_on_signals
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import Session, open_session

CONNECTIONS = 8  # for batches in progress and model requests

PROCESSES = click.option(
    "--processes",
    type=click.IntRange(1, 256),
    help="Number of reader processes; default: one per core.",
)


@click.command()
@click.option(
    "--once/--follow", default=True, help="Exit when no page is waiting, or keep waiting for more."
)
@PROCESSES
@json_option
def extract(once: bool, processes: int | None, as_json: bool) -> None:
    """Extract records from crawled pages; nothing is fetched.

    \b
    Example:
      messor extract --once
      messor extract --follow --processes 4
    """
    _show(run(_extract(follow=not once, processes=processes)), as_json)


@click.command()
@click.option("--domain", help="Only pages of this domain.")
@click.option(
    "--parser", help="Only pages read by this parser; NAME=VERSION re-reads them with that version."
)
@click.option("--since", metavar="DATE", help="Only pages fetched since then, such as 2026-05-01.")
@click.option("--resume", is_flag=True, help="Continue an interrupted replay.")
@click.option("--dry-run", is_flag=True, help="Show what would change without changing it.")
@PROCESSES
@json_option
def replay(
    *,
    domain: str | None,
    parser: str | None,
    since: str | None,
    resume: bool,
    dry_run: bool,
    processes: int | None,
    as_json: bool,
) -> None:
    """Re-extract archived pages with the current parsers or a given version.

    The result replaces the earlier extraction; changes are attributed to the parser, not to the
    site. It can be stopped at any time and continued with --resume.

    \b
    Example:
      messor replay --domain example.org --dry-run
      messor replay --parser products=2 --since 2026-05-01
      messor replay --resume
    """
    if resume and (domain or parser or since or dry_run):
        raise UsageError("--resume cannot be combined with filters or --dry-run.")
    name, _, version = (parser or "").partition("=")
    if parser is not None:
        installed_parsers().get(name, version or None)  # raises if it is not installed
    selection = ReplaySelection(
        domain, _parse_date(since), name or None, parser if version else None
    )
    if not dry_run:
        _show(run(_replay(selection, resume=resume, processes=processes)), as_json)
        return
    report = run(_compare(selection, processes))
    if as_json:
        print_json(report)
    else:
        print_comparison(report, candidate=selection.pin)


@dataclass(frozen=True, slots=True)
class ReplaySelection:
    """The pages to extract again, and the parser to use."""

    domain: str | None
    since: datetime | None
    parser: str | None
    pin: str | None  # NAME=VERSION when a version was given


async def _extract(*, follow: bool, processes: int | None) -> ExtractionResult:
    settings = Settings()
    async with open_session(settings, pool_size=CONNECTIONS) as session:
        caught = await queue.catch_up(session.database)
        if caught:
            say(f"{caught} pages that were never extracted were queued.")
        return await _work(settings, session, processes, follow=follow)


async def _replay(
    selection: ReplaySelection, *, resume: bool, processes: int | None
) -> ExtractionResult:
    settings = Settings()
    async with open_session(settings, pool_size=CONNECTIONS) as session:
        database = session.database
        if not resume:
            # A pinned version reads all selected pages, not only those its parser reads now.
            queued = await queue.replay(
                database,
                domain_id=await _domain_id(database, selection.domain),
                since=selection.since,
                parser=None if selection.pin else selection.parser,
                pin=selection.pin,
            )
            say(f"{queued} pages were queued for extraction.")
        done = await _work(settings, session, processes, follow=False)
        left = (await queue.waiting(database)).replayed
    if left:
        say(f"{left} pages remain. To continue: messor replay --resume")
    return done


async def _compare(selection: ReplaySelection, processes: int | None) -> dict[str, Any]:
    settings = Settings()
    async with open_session(settings) as session:
        report = await compare_archive(
            session.database,
            Archive.of(settings),
            processes=processes,
            domain_id=await _domain_id(session.database, selection.domain),
            since=selection.since,
            kinds=_kinds_to_compare(settings, selection.parser),
            pin=selection.pin,
            progress=progress_line(lambda pages: f"{pages} pages compared"),
        )
    end_line()
    return report.as_json()


def _kinds_to_compare(settings: Settings, name: str | None) -> frozenset[str] | None:
    """Return the parser's record kinds, or all enabled ones without a parser."""
    if name is not None:
        return frozenset(installed_parsers().get(name).kinds)
    return wanted_kinds(settings.record_kinds)


async def _work(
    settings: Settings, session: Session, processes: int | None, *, follow: bool
) -> ExtractionResult:
    waiting = (await queue.waiting(session.database)).waiting
    extraction = ExtractionComponent(
        settings,
        session,
        processes=processes,
        progress=_progress(waiting),
    )
    try:
        interruptible = Interruptible(extraction)
        async with stopping_on_signals(interruptible):
            done = await extraction.run(follow=follow)
    finally:
        end_line()
    left = (await queue.waiting(session.database)).waiting
    if interruptible.was_interrupted and not follow and left:
        raise InterruptedRunError(
            f"Interrupted: {left} pages remain. To continue, run messor extract again, or "
            "messor replay --resume after a replay."
        )
    return done


async def _domain_id(database: Database, domain: str | None) -> Any:
    if domain is None:
        return None
    return (await registry.get(database, Submission.understand(domain).domain)).id


def _parse_date(since: str | None) -> datetime | None:
    if since is None:
        return None
    try:
        moment = datetime.fromisoformat(since)
    except ValueError as error:
        raise UsageError(f"--since: {since!r} is not a date such as 2026-05-01.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _progress(waiting: int) -> Callable[[Tally], None]:
    started = time.monotonic()

    def line(tally: Tally) -> str:
        rate = tally.pages / max(time.monotonic() - started, 0.001)
        left = max(waiting - tally.pages, 0)
        return (
            f"{tally.pages} of {max(waiting, tally.pages)} pages, {tally.records} records,"
            f" {rate:.0f} pages/s, {left / rate if rate else 0:.0f} s left"
        )

    return progress_line(line)


def _show(done: ExtractionResult, as_json: bool) -> None:
    tally, model_requests = done.tally, done.asked
    if as_json:
        print_json({**asdict(tally), "asked": dict(model_requests)})
        return
    say(
        f"{tally.pages} pages read: {tally.records} records,"
        f" {tally.new} new, {tally.changed} changed, {tally.removed} removed."
    )
    if tally.put_off or tally.set_aside:
        say(
            f"{tally.put_off} pages will be retried, {tally.set_aside} failed for good (see the table error_logs)."
        )
    if model_requests:
        counts = ", ".join(f"{count} {state}" for state, count in sorted(model_requests.items()))
        say(f"Sent to the model: {counts} (see messor jobs list --type extract_ai).")
