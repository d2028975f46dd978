"""`messor db slow`: slow queries, tables read without an index, and indexes nobody uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import click

from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import with_database
from messor.core.terminal import say
from messor.ops import slow_queries

RUNNING = ("pid", "seconds", "state", "waits for", "query")
STATEMENTS = ("calls", "seconds", "mean ms", "max ms", "rows", "query")
SCANNED = ("table", "scans", "rows read", "index scans")
UNUSED = ("table", "index", "bytes")


@click.command()
@click.option("--running", "running_seconds", type=click.FloatRange(0, 86_400), default=1.0,
              show_default=True, help="Minimum seconds a running statement has taken.")  # fmt: skip
@click.option("--mean", "mean_ms", type=click.FloatRange(0, 86_400_000), default=10.0,
              show_default=True, help="Minimum mean milliseconds of a finished statement.")  # fmt: skip
@json_option
def slow(running_seconds: float, mean_ms: float, as_json: bool) -> None:
    """Show slow queries, tables read by full scans, and unused indexes.

    Statistics of finished statements need the extension pg_stat_statements.

    \b
    Example:
      messor db slow
      messor db slow --running 0.1 --mean 100 --json
    """
    found = run(
        with_database(
            lambda database: slow_queries.look(
                database, running_seconds=running_seconds, mean_ms=mean_ms
            )
        )
    )
    if as_json:
        print_json(found)
        return
    _section("Running now", RUNNING, found.running)
    _section("Finished statements, most time first", STATEMENTS, found.statements or [])
    if found.advice is not None:
        say(f"There are no statistics of finished statements. {found.advice}")
    _section("Tables read as a whole", SCANNED, found.scanned)
    _section("Indexes that no query has used", UNUSED, found.unused)


def _section(title: str, head: Sequence[str], rows: Sequence[Any]) -> None:
    emit(f"{title}: {len(rows) or 'none'}")
    if rows:
        print_table(head, [tuple(_plain(value) for value in astuple(row)) for row in rows])


def _plain(value: Any) -> Any:
    return f"{value:.1f}" if isinstance(value, float) else value
