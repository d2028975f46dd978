"""`messor tasks`: submit and list crawl tasks; `task_acts` holds the other commands."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import asdict
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import click

from messor.cli.listing import list_options, show_list
from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN
from messor.cli.task_acts import pause, recrawl, resume, retry, stop
from messor.core.terminal import say
from messor.errors import PartiallyRefusedError, UsageError
from messor.frontier import batch_queries, batches, cadence
from messor.frontier import tasks as frontier
from messor.frontier.batch_lines import FORMATS, BadLine, Line, guess_format
from messor.frontier.batch_queries import BATCH_ERRORS, BATCHES, TaskBatch
from messor.frontier.batches import BatchReport, BatchSubmitter
from messor.frontier.cadence import parse_interval
from messor.frontier.failed_task_queries import FAILED_TASKS, FailedTask
from messor.frontier.task_queries import TASKS, KnownTask
from messor.settings import Settings
from messor.store.session import open_session

HEAD = ("status", "outcome", "priority", "scheduled", "last crawl", "every", "url")
DEAD_HEAD = ("failed", "category", "http", "tries", "rounds", "next crawl", "reason", "url")
BATCH_HEAD = (
    "batch", "name", "lines", "accepted", "new", "fetched", "duplicates", "rejected", "submitted",
)  # fmt: skip
REJECTED_HEAD = ("line", "reason", "text")
MAX_REJECTED = 20  # rejected lines in a table; --json and `tasks errors` list all


@click.group()
def tasks() -> None:
    """Submit pages to crawl, and pause, resume, stop, retry or recrawl them.

    \b
    Example:
      messor tasks submit products.csv --priority 3 --every 12h
      messor tasks pause --domain shop.example
      messor tasks list --status failed
    """


for act in (pause, resume, stop, retry, recrawl):
    tasks.add_command(act)


@tasks.command()
@click.argument("source", metavar="FILE|-|SITEMAP-URL")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Input format; detected by default."
)
@click.option("--priority", default=frontier.DEFAULT_PRIORITY, show_default=True,
              type=click.IntRange(1, frontier.LOWEST_PRIORITY), help="1 is highest; a line may set its own.")  # fmt: skip
@click.option("--every", help="Crawl frequency from now on: 12h, 7d, weekly …")
@click.option("--name", help="Name of the batch.")
@json_option
def submit(
    *,
    source: str,
    form: str | None,
    priority: int,
    every: str | None,
    name: str | None,
    as_json: bool,
) -> None:
    """Submit a batch of pages from a file, standard input (-) or a sitemap URL.

    Formats: CSV with a header (url, priority, frequency), JSON lines, sitemap, or one URL per
    line. A sitemap URL is fetched by a worker. Every line is checked; accepted pages are due
    immediately, rejected lines are listed with a reason. Exits with 3 when some lines were
    rejected, with 2 when all were.

    \b
    Example:
      messor tasks submit products.csv --priority 3 --every 12h
      grep news urls.txt | messor tasks submit - --name news
      messor tasks submit https://shop.example/sitemap.xml
    """
    frequency = parse_interval(every) if every else None

    async def submit_batch() -> BatchReport:
        with ExitStack() as files:
            lines, found = _lines(source, form, files)
            label = "stdin" if source == "-" else source
            async with open_session(Settings(), pool_size=2) as session:
                submitter = BatchSubmitter(
                    session.database, actor=LOCAL_ADMIN, priority=priority, frequency=frequency
                )
                return await submitter.submit(lines, name=name or label, source=label, form=found)

    report = run(submit_batch())
    _show_report(report, as_json)
    _raise_if_rejected(report)


def _lines(source: str, form: str | None, files: ExitStack) -> tuple[AsyncIterator[Line], str]:
    """Return the lines of a source and their format."""
    if source.startswith(("http://", "https://")):
        return batches.sitemap_at(source), "sitemap"
    file: BufferedReader[Any]
    if source == "-":
        file = BufferedReader(cast("RawIOBase", sys.stdin.buffer))
    else:
        try:
            file = files.enter_context(Path(source).open("rb"))  # noqa: SIM115 - the stack is one
        except OSError as error:
            raise UsageError(f"{source} cannot be read: {error.strerror}") from error
    found = form or guess_format("" if source == "-" else source, file.peek(4096)[:4096])
    return batches.lines_of(file, found), found


def _show_report(report: BatchReport, as_json: bool) -> None:
    if as_json:
        print_json(asdict(report))
        return
    if report.errors:
        print_table(REJECTED_HEAD, [_rejected_row(line) for line in report.errors[:MAX_REJECTED]])
        if len(report.errors) > MAX_REJECTED:
            say(f"… List all: messor tasks errors {report.id}")
    say(
        f"Batch {report.id}: {report.accepted} of {report.lines} lines accepted "
        f"({report.fresh} new pages), {report.duplicates} duplicates, {report.rejected} rejected."
    )


def _raise_if_rejected(report: BatchReport) -> None:
    if report.accepted == 0:
        first = report.errors[0] if report.errors else None
        why = f"line {first.line}: {first.reason}" if first else "the input is empty."
        raise UsageError(f"No line was accepted; {why}")
    if report.rejected:
        raise PartiallyRefusedError(
            f"{report.rejected} of {report.lines} lines were rejected. List them: "
            f"messor tasks errors {report.id}"
        )


def _rejected_row(line: BadLine) -> tuple[Any, ...]:
    text = "".join(c if c.isprintable() else "\ufffd" for c in line.text[:80])
    return line.line, line.reason, text


@tasks.command(name="list")
@list_options(TASKS)
def list_tasks(**given: Any) -> None:
    """List tasks with status, due time and crawl frequency.

    \b
    Example:
      messor tasks list --status failed --domain shop.example
    """
    show_list(TASKS, given, HEAD, _row, empty="No matching tasks.")


def _row(row: KnownTask) -> tuple[Any, ...]:
    every = cadence.spell(row.frequency.interval) if row.kind == "page" else None
    return (
        row.status, row.outcome or "waiting", row.priority, row.scheduled_at, row.last_crawled_at,
        every, row.url,
    )  # fmt: skip


@tasks.command(name="dead")
@list_options(FAILED_TASKS)
def list_dead(**given: Any) -> None:
    """List tasks that failed for good, with the reason: the dead letters of crawling.

    A page is retried at its usual cadence; after five such rounds it rests until it is requested
    or its sitemap reports a change.

    \b
    Example:
      messor tasks dead --category network --domain shop.example
      messor tasks retry --url https://shop.example/kettle
    """
    show_list(FAILED_TASKS, given, DEAD_HEAD, _dead_row, empty="No matching failed tasks.")


def _dead_row(row: FailedTask) -> tuple[Any, ...]:
    again = row.next_crawl_at or "rests"
    return (
        row.failed_at, row.category, row.http_status, row.tries, row.rounds, again, row.reason,
        row.url,
    )  # fmt: skip


@tasks.command(name="batches")
@list_options(BATCHES)
def list_batches(**given: Any) -> None:
    """List batches.

    \b
    Example:
      messor tasks batches
    """
    show_list(BATCHES, given, BATCH_HEAD, _batch_row, empty="No matching batches.")


def _batch_row(row: TaskBatch) -> tuple[Any, ...]:
    return (
        row.id, row.name, row.lines, row.accepted, row.fresh, row.fetched, row.duplicates,
        row.rejected, row.created_at,
    )  # fmt: skip


@tasks.command(name="errors")
@click.argument("batch_id", type=click.UUID)
@list_options(BATCH_ERRORS, without=("batch_id",))
def list_errors(batch_id: UUID, **given: Any) -> None:
    """List the rejected lines of a batch.

    \b
    Example:
      messor tasks errors 019a8a3e-5f2b-7c11-8d4e-0242ac120002
    """
    show_list(
        BATCH_ERRORS,
        {"batch_id": batch_id, **given},
        REJECTED_HEAD,
        _rejected_row,
        empty="No lines of this batch were rejected.",
        check=lambda database: batch_queries.batch(database, batch_id),
    )
