"""`messor analytics` and `messor query`: ready questions and read-only SQL."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from messor.analytics import sync as syncing
from messor.analytics.answers import MAX_DAYS, Analytics, Answered, labels_of, rows_of, store_of
from messor.analytics.queried import query as put_query
from messor.analytics.questions import QUESTIONS, AnswerScope
from messor.analytics.store import SqlAnswer
from messor.analytics.sync import Synced
from messor.cli.output import end_line, json_option, print_json, print_table, progress_line, run
from messor.cli.session import LOCAL_ADMIN, with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.settings import Settings
from messor.store.database import Database

BAR = 24  # characters of the longest bar


@click.group()
def analytics() -> None:
    """Answer ready questions about prices, changes, coverage, cost and review.

    The tables are Parquet files read by DuckDB; with MESSOR_CLICKHOUSE_URL they are in ClickHouse.
    `messor up` brings them up to date every hour.

    \b
    Example:
      messor analytics sync
      messor analytics ask price-trends --domain shop.example
    """


@analytics.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the ready questions.

    \b
    Example:
      messor analytics list
    """
    head = ("question", "about", "limited by")
    rows = [(each.name, each.about, ", ".join(each.takes)) for each in QUESTIONS.values()]
    if as_json:
        print_json([dict(zip(("name", "about", "takes"), row, strict=True)) for row in rows])
    else:
        print_table(head, rows)


@analytics.command()
@click.argument("question", type=click.Choice(list(QUESTIONS)))
@click.option("--days", type=click.IntRange(1, MAX_DAYS), default=90, help="How far back.")
@click.option("--domain", help="Only this domain.")
@click.option("--category", help="Only this category of products.")
@json_option
def ask(question: str, days: int, domain: str | None, category: str | None, as_json: bool) -> None:
    """Answer a ready question; the longest bar is the greatest value.

    \b
    Example:
      messor analytics ask price-trends --category Kettles --days 60
      messor analytics ask coverage --json
    """
    scope = AnswerScope(datetime.now(UTC), days, domain, category)
    found = run(Analytics.of(Settings()).ask(question, scope))
    if as_json:
        print_json(rows_of(found.answer))
    else:
        _print_answer(found)


@analytics.command()
@json_option
def status(as_json: bool) -> None:
    """Show the tables, and how far they are.

    \b
    Example:
      messor analytics status
    """
    found = run(Analytics.of(Settings()).status())
    if as_json:
        print_json(asdict(found))
        return
    rows = [(each.name, f"{each.rows:,}", f"{each.bytes / 1e6:,.1f} MB") for each in found.tables]
    print_table(("table", "rows", "size"), rows)
    until = f"{found.read_until:%Y-%m-%d %H:%M} UTC" if found.read_until else "never"
    say(f"{found.store} at {found.place}, brought up to date: {until}")


@analytics.command()
@json_option
def sync(as_json: bool) -> None:
    """Bring the tables up to date from the change feed; the first time, fill them.

    \b
    Example:
      messor analytics sync
    """
    _run_sync(is_rebuild=False, as_json=as_json)


@analytics.command()
@json_option
def rebuild(as_json: bool) -> None:
    """Delete the tables and fill them anew.

    What only they still have, logs beyond their retention, is lost.

    \b
    Example:
      messor analytics rebuild
    """
    _run_sync(is_rebuild=True, as_json=as_json)


def _run_sync(*, is_rebuild: bool, as_json: bool) -> None:
    settings = Settings()

    report = progress_line(lambda one: f"{one[0]}: {one[1]:,} rows")

    def progress(table: str, rows: int) -> None:
        report((table, rows))

    async def act(database: Database) -> Synced:
        with store_of(settings) as store:
            if is_rebuild:
                return await syncing.rebuild(database, store, progress)
            return await syncing.sync(database, store, progress, measure=True)

    done = run(with_database(act))
    end_line()
    if as_json:
        print_json(asdict(done))
        return
    print_table(("table", "rows read"), [(name, f"{rows:,}") for name, rows in done.tables.items()])
    how = "filled" if done.was_filled else f"{done.entries:,} changes applied"
    say(f"The tables are up to date: {how}, {done.rows:,} rows read, {done.gone:,} gone.")


@click.command()
@click.argument("sql")
@click.option("--rows", type=click.IntRange(1), help="Maximum rows; at most MESSOR_QUERY_ROWS.")
@json_option
def query(sql: str, rows: int | None, as_json: bool) -> None:
    """Answer one SELECT over the tables of analytics; `-` reads it from standard input.

    Files, other servers and changes are out of its reach. Time, memory and rows are limited by
    MESSOR_QUERY_SECONDS, MESSOR_QUERY_MEMORY_MB and MESSOR_QUERY_ROWS.

    \b
    Example:
      messor query "SELECT domain, count(*) FROM products GROUP BY domain"
      messor query - --json < question.sql
    """
    text = sys.stdin.read() if sql == "-" else sql
    if not text.strip():
        raise UsageError('Give one SELECT, such as: messor query "SELECT count(*) FROM products"')

    async def act(database: Database) -> SqlAnswer:
        found = Analytics.of(Settings())
        return await put_query(database, found, text, actor=LOCAL_ADMIN, rows=rows)

    answer = run(with_database(act))
    if as_json:
        print_json(rows_of(answer))
    else:
        print_table(answer.columns, [tuple(map(_cell, row)) for row in answer.rows])
    if answer.is_cut:
        say(f"There are more rows than these {len(answer.rows):,}.")


def _print_answer(found: Answered) -> None:
    question, rows = found.question, rows_of(found.answer)
    top = max((abs(float(row[question.chart.value] or 0)) for row in rows), default=0.0)
    names = [name for name, _ in question.columns]
    kinds = dict(question.columns)
    table = [
        (*(_shown(row[name], kinds[name]) for name in names), _bar(row[question.chart.value], top))
        for row in rows
    ]
    print_table((*names, question.chart.value), table)
    if not rows:
        say(f"{question.title}: there is nothing to show for this period.")
    labels: Sequence[str] = sorted({labels_of(question, row) for row in rows})
    say(f"{question.title}: {question.about}; {len(rows):,} rows, {len(labels):,} groups.")


def _bar(value: Any, top: float) -> str:
    return "█" * round(BAR * abs(float(value)) / top) if value and top else ""


def _shown(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "time":
        return f"{value:%Y-%m-%d %H:%M}"
    if kind == "share":
        return f"{value:.1%}"
    return _cell(value)


def _cell(value: Any) -> Any:
    return f"{value:,.4g}" if isinstance(value, float) and abs(value) < 1_000 else value
