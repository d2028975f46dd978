"""`messor jobs`: background jobs, their errors, and dead letters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

import click

from messor.cli.listing import filter_options, filters_of, list_options, show_list
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, with_database
from messor.core.terminal import say
from messor.errors import NotFoundError, UsageError
from messor.jobs import dead_letters, queries
from messor.jobs import jobs as queue
from messor.jobs.dead_letter_queries import DEAD_LETTERS, DeadLetter, DeadLetterFilter
from messor.jobs.patterns import ErrorPattern, patterns
from messor.jobs.queries import JOBS, JobRow
from messor.jobs.redaction import shown_job
from messor.ledger import events
from messor.ledger.errors import CATEGORIES
from messor.ledger.events import Event
from messor.store.database import Database
from messor.store.listing import age_of

Result = TypeVar("Result")
Command = TypeVar("Command", bound=Callable[..., Any])

HEAD = ("id", "type", "state", "priority", "attempts", "key", "worker", "available", "finished")
DEAD_HEAD = ("id", "type", "category", "error", "attempts", "died", "reason")
STATS_HEAD = ("type", "queued", "due", "running", "abandoned", "done", "dead", "cancelled", "oldest wait", "mean run")  # fmt: skip
ERRORS_HEAD = ("times", "category", "error", "first", "last", "pattern")
REASON_WIDTH = 80
ALL = 2**31  # dead letters counted before an act

_limit = click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1, 100_000),
    help="Maximum number of rows.",
)
_yes = click.option("--yes", is_flag=True, help="Confirm an action on more than one job.")
_category = click.option("--category", type=click.Choice(CATEGORIES), help="Only errors of this category.")  # fmt: skip


@click.group()
def jobs() -> None:
    """Show background jobs, and requeue, purge or cancel them.

    \b
    Example:
      messor jobs stats
      messor jobs errors --since 24h
      messor jobs requeue --category network --yes
    """


@jobs.command(name="list")
@list_options(JOBS)
def list_jobs(**given: Any) -> None:
    """List jobs.

    \b
    Example:
      messor jobs list --state running
      messor jobs list --job-type score --limit 200 --json -o jobs.json
    """
    show_list(JOBS, given, HEAD, _row, empty="No matching jobs.")


@jobs.command()
@click.argument("job_id", type=click.UUID)
@json_option
def show(job_id: UUID, as_json: bool) -> None:
    """Show a job in detail, with its latest errors.

    \b
    Example:
      messor jobs show 019a8b6e-6c1f-7cc0-8f5a-3a8b1f1c2d3e
    """
    job = run(with_database(lambda database: queries.get(database, job_id)))
    found = shown_job(job, in_full=True)
    del found["is_cut"]
    if as_json:
        print_json(found)
        return
    errors = found.pop("errors")
    for name, value in found.items():
        emit(_printable(f"{name:24} {value if value is not None else '-'}"))
    for error in errors:
        message = f"{error['category']} {error['error_type']}: {error['error_message']}"
        emit(_printable(f"\n{error['occurred_at']:%Y-%m-%d %H:%M:%S} {message}"))
        emit(_printable((error["stack_trace"] or "").rstrip()))


@jobs.command()
@json_option
def stats(as_json: bool) -> None:
    """Count jobs by type and state; done jobs are counted until their window ends.

    \b
    Example:
      messor jobs stats --json
    """
    found = run(with_database(queries.stats))
    if as_json:
        print_json([asdict(figures) for figures in found])
    elif found:
        print_table(STATS_HEAD, [_figures(figures) for figures in found])
    else:
        say("No jobs yet.")


@jobs.command()
@list_options(DEAD_LETTERS, without=("job_ids",))
def dead(**given: Any) -> None:
    """List dead letters with their reasons.

    \b
    Example:
      messor jobs dead --category parse
      messor jobs dead --pattern "no route" --older-than 7d --json
    """
    show_list(DEAD_LETTERS, given, DEAD_HEAD, _letter, empty="No matching dead letters.")


@jobs.command()
@click.argument("job_ids", nargs=-1, type=click.UUID)
@filter_options(DEAD_LETTERS, without=("job_ids",))
@click.option("--all", "everything", is_flag=True, help="Select all dead letters.")
@_yes
@json_option
def requeue(job_ids: tuple[UUID, ...], as_json: bool, **options: Any) -> None:
    """Requeue dead letters with all their attempts, by id or by filter.

    \b
    Example:
      messor jobs requeue 019a8b6e-6c1f-7cc0-8f5a-3a8b1f1c2d3e
      messor jobs requeue --type serp --category network --yes
    """
    done = _decide(dead_letters.requeue, "requeue", job_ids, **options)
    _report("requeued", done, as_json)


@jobs.command()
@click.argument("job_ids", nargs=-1, type=click.UUID)
@filter_options(DEAD_LETTERS, without=("job_ids",))
@click.option("--all", "everything", is_flag=True, help="Select all dead letters.")
@_yes
@json_option
def purge(job_ids: tuple[UUID, ...], as_json: bool, **options: Any) -> None:
    """Move dead letters to the history; they cannot be requeued, and their keys can be reused.

    \b
    Example:
      messor jobs purge --older-than 30d --yes
    """
    done = _decide(dead_letters.purge, "purge", job_ids, **options)
    _report("purged", done, as_json)


@jobs.command()
@click.argument("job_ids", nargs=-1, type=click.UUID)
@click.option("--job-type", help="Cancel all queued and running jobs of this type.")
@_yes
@json_option
def cancel(job_ids: tuple[UUID, ...], job_type: str | None, yes: bool, as_json: bool) -> None:
    """Cancel queued or running jobs; a worker stops a running job at its next heartbeat.

    \b
    Example:
      messor jobs cancel 019a8b6e-6c1f-7cc0-8f5a-3a8b1f1c2d3e
      messor jobs cancel --job-type export --yes
    """
    if bool(job_ids) == (job_type is not None):
        raise UsageError("Give either job ids or --job-type.")
    done = run(with_database(lambda database: _cancel(database, job_ids, job_type, yes=yes)))
    if len(job_ids) == 1 and not done:
        raise NotFoundError(f"No job {job_ids[0]} is queued or running.")
    _report("cancelled", done, as_json)


@jobs.command()
@click.option("--since", metavar="AGE", default="7d", show_default=True, help="Only errors of the last 90m, 12h, 7d.")  # fmt: skip
@click.option("--error-type", help="Only errors of this type, such as TimeoutError.")
@_category
@_limit
@json_option
def errors(
    since: str, error_type: str | None, category: str | None, limit: int, as_json: bool
) -> None:
    """Group logged errors of jobs and crawl tasks by message pattern.

    \b
    Example:
      messor jobs errors --since 24h
      messor jobs errors --category network --json
    """
    within = parse_age("--since", since)

    async def read(database: Database) -> list[ErrorPattern]:
        return await patterns(
            database, within=within, category=category, error_type=error_type, limit=limit
        )

    found = run(with_database(read))
    if as_json:
        print_json([asdict(pattern) for pattern in found])
    elif found:
        print_table(ERRORS_HEAD, [_pattern(pattern) for pattern in found])
    else:
        say("No matching errors.")


def parse_age(option: str, text: str) -> timedelta:
    """Parse a duration such as 90m, 12h or 7d."""
    try:
        age = age_of(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}.") from error
    if not isinstance(age, timedelta):
        raise UsageError(f"{option}: {text[:50]!r} is not a duration such as 90m, 12h or 7d.")
    return age


def _decide(
    act: Callable[..., Awaitable[int]],
    verb: str,
    job_ids: Sequence[UUID],
    *,
    everything: bool,
    yes: bool,
    **chosen: Any,
) -> int:
    """Act on dead letters; on more than one only with --yes."""
    choice = filters_of(DEAD_LETTERS, {**chosen, "job_ids": list(job_ids) or None})
    if (choice == DeadLetterFilter()) != everything:
        raise UsageError("Select dead letters by id, --job-type, --category, --pattern or --older-than, or give --all alone.")  # fmt: skip

    async def decide(database: Database) -> int:
        found = await DEAD_LETTERS.count(database, choice, most=ALL)
        if found and len(job_ids) != 1:
            _require_confirmation(f"{verb} {found:,} dead letters ({choice})", yes=yes)
        return await act(database, choice, actor=LOCAL_ADMIN) if found else 0

    done = run(with_database(decide))
    if len(job_ids) == 1 and not done:
        raise NotFoundError(f"{job_ids[0]} is not a dead letter.")
    return done


def _require_confirmation(what: str, *, yes: bool) -> None:
    if not yes:
        raise UsageError(f"This would {what}. Add --yes to confirm.")
    say(f"About to {what}.")


async def _cancel(
    database: Database, job_ids: Sequence[UUID], job_type: str | None, *, yes: bool
) -> int:
    if job_type is not None:
        counts = (await queue.counts(database)).get(job_type, {})
        found = counts.get("queued", 0) + counts.get("running", 0)
        _require_confirmation(f"cancel {found:,} jobs of type {job_type}", yes=yes)
        done = await queue.cancel_type(database, job_type)
    else:
        if len(job_ids) > 1:
            _require_confirmation(f"cancel up to {len(job_ids):,} jobs", yes=yes)
        async with database.transaction() as connection:
            done = len(await queue.cancel(connection, job_ids))
    if done:
        data = {"jobs": done, "type": job_type, "ids": [str(job_id) for job_id in job_ids][:100]}
        async with database.transaction() as connection:
            await events.record(connection, [Event("jobs.cancelled", LOCAL_ADMIN, data=data)])
    return done


def _report(outcome: str, count: int, as_json: bool) -> None:
    if as_json:
        print_json({outcome: count})
    else:
        say(f"{count:,} {'job' if count == 1 else 'jobs'} {outcome}.")


def _row(line: JobRow) -> tuple[object, ...]:
    attempts = f"{line.attempts}/{line.max_attempts}"
    return (line.id, line.job_type, line.state, line.priority, attempts, _short(line.dedupe_key),
            line.locked_by, line.available_at, line.finished_at)  # fmt: skip


def _letter(letter: DeadLetter) -> tuple[object, ...]:
    return (letter.id, letter.job_type, letter.category, letter.error_type, letter.attempts,
            letter.died_at, _short(letter.reason or "-"))  # fmt: skip


def _figures(figures: queries.JobFigures) -> tuple[object, ...]:
    spans = [span and timedelta(seconds=round(span.total_seconds(), 1)) for span in (figures.oldest_wait, figures.mean_run)]  # fmt: skip
    return (*list(asdict(figures).values())[:-2], *spans)


def _pattern(found: ErrorPattern) -> tuple[object, ...]:
    return (found.times, found.category, found.error_type, found.first_at, found.last_at,
            _short(found.pattern))  # fmt: skip


def _printable(text: str) -> str:
    """Replace control characters, which could steer the terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)  # fmt: skip


def _short(text: str) -> str:
    line = _printable(" ".join(text.split()))
    return line if len(line) <= REASON_WIDTH else f"{line[: REASON_WIDTH - 1]}…"
