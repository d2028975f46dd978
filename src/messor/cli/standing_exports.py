"""`messor export standing`: exports that are made on a schedule and delivered to a place."""

from __future__ import annotations

from typing import Any

import click

from messor.cli.listing import list_options, show_list, typed_filters
from messor.cli.output import json_option, print_json, run
from messor.cli.session import LOCAL_ADMIN, transact
from messor.core.terminal import say
from messor.exports.formats import FORMATS
from messor.exports.nouns import NOUNS
from messor.exports.places import Places
from messor.schedule import standing_exports
from messor.schedule.standing_exports import NewStandingExport
from messor.schedule.standing_queries import STANDING_EXPORTS, StandingExport
from messor.settings import Settings

HEAD = ("name", "what", "format", "cadence", "place", "state", "next run", "last", "problem")


@click.group()
def standing() -> None:
    """Export on a schedule to a folder or bucket named in MESSOR_EXPORT_PLACES.

    `messor up` must be running; its task O-Exports checks every five minutes.

    \b
    Example:
      messor export standing add prices prices --to lake --cadence "0 3 * * *" --incremental
      messor export standing list
    """


@standing.command()
@click.argument("name")
@click.argument("noun", type=click.Choice(tuple(NOUNS)))
@click.option("--to", "place", required=True, help="Destination: a name from MESSOR_EXPORT_PLACES.")
@click.option("--cadence", required=True, help='Schedule, such as "0 3 * * *" (UTC) or @every 6h.')
@click.option("--format", "format_", type=click.Choice(tuple(FORMATS)), default="jsonl",
              show_default=True, help="Format.")  # fmt: skip
@click.option("--filter", "filters", multiple=True, metavar="NAME=VALUE",
              help="Filter of the noun's list, such as domain=shop.example; repeatable.")  # fmt: skip
@click.option("--columns", metavar="NAMES", help="Columns, comma-separated; default: all.")
@click.option("--bom", is_flag=True, help="Start a CSV file with a byte order mark, for Excel.")
@click.option(
    "--incremental", is_flag=True, help="Only what changed since the last delivered export."
)
@json_option
def add(name: str, noun: str, as_json: bool, **given: Any) -> None:
    """Add a standing export and enable it.

    \b
    Example:
      messor export standing add shops products --to lake --cadence @daily --format parquet
    """
    columns = given["columns"]
    wanted = NewStandingExport(
        name,
        noun,
        given["format_"],
        given["cadence"],
        given["place"],
        typed_filters(given["filters"]),
        tuple(one.strip() for one in columns.split(",")) if columns else (),
        given["bom"],
        given["incremental"],
    )
    places = Places.of_settings(Settings())
    made = run(
        transact(
            lambda connection: standing_exports.add(
                connection, wanted, places, actor=LOCAL_ADMIN, may_audit=True
            )
        )
    )
    _tell(made, as_json=as_json)


def _tell(made: StandingExport, *, as_json: bool) -> None:
    if as_json:
        print_json(made)
    elif made.is_active:
        say(f"{made.name} next runs at {made.next_run_at:%Y-%m-%d %H:%M} UTC.")
    else:
        say(f"{made.name} is disabled.")


@standing.command("list")
@list_options(STANDING_EXPORTS)
def list_(**given: Any) -> None:
    """List standing exports with the result of their last run.

    \b
    Example:
      messor export standing list --active
    """
    show_list(STANDING_EXPORTS, given, HEAD, _row, empty="There are no standing exports.")


def _row(found: StandingExport) -> tuple[Any, ...]:
    return (
        found.name, found.noun, found.format, found.cadence, found.place,
        "on" if found.is_active else "off", found.next_run_at,
        found.delivered_as or found.last_state, found.problem,
    )  # fmt: skip


@standing.command()
@click.argument("name")
@json_option
def on(name: str, as_json: bool) -> None:
    """Enable a standing export from its next scheduled time.

    \b
    Example:
      messor export standing on prices
    """
    _switch(name, on=True, as_json=as_json)


@standing.command()
@click.argument("name")
@json_option
def off(name: str, as_json: bool) -> None:
    """Disable a standing export.

    \b
    Example:
      messor export standing off prices
    """
    _switch(name, on=False, as_json=as_json)


def _switch(name: str, *, on: bool, as_json: bool) -> None:
    made = run(
        transact(
            lambda connection: standing_exports.switch(connection, name, on=on, actor=LOCAL_ADMIN)
        )
    )
    _tell(made, as_json=as_json)


@standing.command()
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> None:
    """Remove a standing export; delivered files stay until an erasure removes them.

    \b
    Example:
      messor export standing remove prices
    """
    run(transact(lambda connection: standing_exports.remove(connection, name, actor=LOCAL_ADMIN)))
    if as_json:
        print_json({"removed": name})
    else:
        say(f"{name} was removed.")
