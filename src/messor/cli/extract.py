"""`messor extract` and `messor replay`: records from what lies in the archive, without a request."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from messor.cli.output import json_option, print_json, run, say
from messor.cli.running import stopping_on_signals
from messor.engine.comparing import compare_archive
from messor.engine.extracting import Extractor, Tally
from messor.engine.readers import Readers
from messor.errors import UsageError
from messor.extract import due
from messor.extract.reading import installed_parsers
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import Session, open_session

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
    tally = run(_extract(follow=not once, processes=processes))
    _show(tally, as_json)


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
    name, _, version = (parser or "").partition("=")
    if name:
        installed_parsers().get(name, version or None)  # says so if there is none
    moment = _moment(since)
    work = _compare if dry_run else _replay
    found = run(
        work(
            domain=domain,
            since=moment,
            name=name or None,
            pin=parser if version else None,
            resume=resume,
            processes=processes,
        )
    )
    if isinstance(found, Tally):
        _show(found, as_json)
    else:
        print_json(found)


async def _extract(*, follow: bool, processes: int | None) -> Tally:
    settings = Settings()
    async with open_session(settings) as session:
        caught = await due.catch_up(session.database)
        if caught:
            say(f"{caught} pages that were never extracted wait now.")
        return await _work(settings, session, processes, follow=follow)


class Following:
    """Extraction beside workers: what they bring is read as it comes."""

    def __init__(self, settings: Settings, session: Session, *, processes: int = 1) -> None:
        self._readers = Readers(processes)
        self._extractor = Extractor(
            session.database, settings.data_dir / "archive", self._readers, repair=session.repair
        )

    def stop(self) -> None:
        self._extractor.stop()

    async def run(self) -> None:
        try:
            await self._extractor.run(follow=True)
        finally:
            await self._readers.close()


async def _replay(
    *,
    domain: str | None,
    since: datetime | None,
    name: str | None,
    pin: str | None,
    resume: bool,
    processes: int | None,
) -> Tally:
    settings = Settings()
    async with open_session(settings) as session:
        domain_id = await _domain_id(session.database, domain)
        if not resume:
            # All pages of a domain are read by a named version; others only where it reads already.
            parser = None if pin else name
            queued = await due.replay(
                session.database, domain_id=domain_id, since=since, parser=parser, pin=pin
            )
            say(f"{queued} pages are read anew.")
        return await _work(settings, session, processes, follow=False)


async def _compare(
    *,
    domain: str | None,
    since: datetime | None,
    name: str | None,
    pin: str | None,
    resume: bool,
    processes: int | None,
) -> dict[str, Any]:
    del resume
    settings = Settings()
    async with open_session(settings) as session:
        domain_id = await _domain_id(session.database, domain)
        report = await compare_archive(
            session.database,
            settings.data_dir / "archive",
            processes=processes,
            domain_id=domain_id,
            since=since,
            kinds=frozenset(installed_parsers().get(name).kinds) if name else None,
            pin=pin,
            progress=_line(lambda pages: f"{pages} pages compared") if _is_live() else None,
        )
    _end_line()
    return report.as_json()


async def _work(
    settings: Settings, session: Session, processes: int | None, *, follow: bool
) -> Tally:
    readers = Readers(processes)
    waiting = (await due.waiting(session.database)).waiting
    extractor = Extractor(
        session.database,
        settings.data_dir / "archive",
        readers,
        progress=_progress(waiting) if _is_live() else None,
        repair=session.repair,
    )
    try:
        async with stopping_on_signals(extractor):
            return await extractor.run(follow=follow)
    finally:
        await readers.close()
        _end_line()


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

    return _line(line)


def _line(text: Callable[[Any], str]) -> Callable[[Any], None]:
    return lambda given: click.echo(f"\r\x1b[K{text(given)}"[:160], nl=False, err=True)


def _is_live() -> bool:
    return sys.stderr.isatty()


def _end_line() -> None:
    if _is_live():
        click.echo(err=True)


def _show(tally: Tally, as_json: bool) -> None:
    if as_json:
        print_json(asdict(tally))
        return
    say(
        f"{tally.pages} pages read: {tally.records} records,"
        f" {tally.new} new, {tally.changed} changed, {tally.removed} removed."
    )
    if tally.put_off or tally.set_aside:
        say(
            f"{tally.put_off} readings put off, {tally.set_aside} pages set aside (see error_logs)."
        )
