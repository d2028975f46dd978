"""`messor extract` and `messor replay`: records from what lies in the archive, without a request."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import click

from messor.cli.comparison import print_comparison
from messor.cli.output import json_option, print_json, run
from messor.cli.progress_line import end_line, progress_line
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
from messor.runtime.signals import Interruptible, stopping_on_signals
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import Session, open_session

CONNECTIONS = 8  # of the batches under way, and of the questions to a model

PROCESSES = click.option(
    "--processes", type=click.IntRange(1, 256), help="Reading processes; as many as cores if unset."
)


@click.command()
@click.option("--once/--follow", default=True, help="End when nothing waits, or go on waiting.")
@PROCESSES
@json_option
def extract(once: bool, processes: int | None, as_json: bool) -> None:
    """Extract records from pages that were crawled; nothing is fetched.

    \b
    Example:
      messor extract --once
      messor extract --follow --processes 4
    """
    _show(run(_extract(follow=not once, processes=processes)), as_json)


@click.command()
@click.option("--domain", help="Only pages of this domain.")
@click.option("--parser", help="Only pages this parser reads; NAME=VERSION to read them by one.")
@click.option("--since", metavar="DATE", help="Only pages seen since then, such as 2026-05-01.")
@click.option("--resume", is_flag=True, help="Go on with what an earlier replay left.")
@click.option("--dry-run", is_flag=True, help="Tell what would change, and change nothing.")
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
    """Read pages in the archive anew, with the parsers of today or a version you name.

    What is found replaces what was read before; changes are marked as the reader's, not the web's.
    Stop it at any time: --resume goes on.

    \b
    Example:
      messor replay --domain example.org --dry-run
      messor replay --parser products=2 --since 2026-05-01
      messor replay --resume
    """
    if resume and (domain or parser or since or dry_run):
        raise UsageError("--resume goes on with what was left, and takes nothing else to go by.")
    name, _, version = (parser or "").partition("=")
    if parser is not None:
        installed_parsers().get(name, version or None)  # says so if there is none
    chosen = Chosen(domain, _moment(since), name or None, parser if version else None)
    if not dry_run:
        _show(run(_replay(chosen, resume=resume, processes=processes)), as_json)
        return
    report = run(_compare(chosen, processes))
    if as_json:
        print_json(report)
    else:
        print_comparison(report, candidate=chosen.pin)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which pages are read anew, and by whom."""

    domain: str | None
    since: datetime | None
    parser: str | None
    pin: str | None  # of a version that was named, as NAME=VERSION


async def _extract(*, follow: bool, processes: int | None) -> ExtractionResult:
    settings = Settings()
    async with open_session(settings, pool_size=CONNECTIONS) as session:
        caught = await queue.catch_up(session.database)
        if caught:
            say(f"{caught} pages that were never extracted wait now.")
        return await _work(settings, session, processes, follow=follow)


async def _replay(chosen: Chosen, *, resume: bool, processes: int | None) -> ExtractionResult:
    settings = Settings()
    async with open_session(settings, pool_size=CONNECTIONS) as session:
        database = session.database
        if not resume:
            # All pages of a domain are read by a named version; others only where it reads already.
            queued = await queue.replay(
                database,
                domain_id=await _domain_id(database, chosen.domain),
                since=chosen.since,
                parser=None if chosen.pin else chosen.parser,
                pin=chosen.pin,
            )
            say(f"{queued} pages are read anew.")
        done = await _work(settings, session, processes, follow=False)
        left = (await queue.waiting(database)).replayed
    if left:
        say(f"{left} pages are left. To go on: messor replay --resume")
    return done


async def _compare(chosen: Chosen, processes: int | None) -> dict[str, Any]:
    settings = Settings()
    async with open_session(settings) as session:
        report = await compare_archive(
            session.database,
            settings.data_dir / "archive",
            processes=processes,
            domain_id=await _domain_id(session.database, chosen.domain),
            since=chosen.since,
            kinds=_compared(settings, chosen.parser),
            pin=chosen.pin,
            progress=progress_line(lambda pages: f"{pages} pages compared"),
        )
    end_line()
    return report.as_json()


def _compared(settings: Settings, name: str | None) -> frozenset[str] | None:
    """Kinds of records that are compared: a parser's, or all that are read."""
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
            f"Interrupted: {left} pages are still to be read. The same command goes on with them; "
            "after messor replay it is: messor replay --resume"
        )
    return done


async def _domain_id(database: Database, domain: str | None) -> Any:
    if domain is None:
        return None
    return (await registry.get(database, Submission.understand(domain).domain)).id


def _moment(since: str | None) -> datetime | None:
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
        pace = tally.pages / max(time.monotonic() - started, 0.001)
        left = max(waiting - tally.pages, 0)
        return (
            f"{tally.pages} of {max(waiting, tally.pages)} pages, {tally.records} records,"
            f" {pace:.0f} pages/s, {left / pace if pace else 0:.0f} s left"
        )

    return progress_line(line)


def _show(done: ExtractionResult, as_json: bool) -> None:
    tally, asked = done.tally, done.asked
    if as_json:
        print_json({**asdict(tally), "asked": dict(asked)})
        return
    say(
        f"{tally.pages} pages read: {tally.records} records,"
        f" {tally.new} new, {tally.changed} changed, {tally.removed} removed."
    )
    if tally.put_off or tally.set_aside:
        say(
            f"{tally.put_off} readings put off, {tally.set_aside} pages set aside (see error_logs)."
        )
    if asked:
        counted = ", ".join(f"{count} {state}" for state, count in sorted(asked.items()))
        say(f"Put to the model: {counted} (see: messor jobs list --type extract_ai).")
