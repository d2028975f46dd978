"""`messor traffic`: halt and resume all requests to sites."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

import click

from messor.cli.actors import names_in, with_names
from messor.cli.output import emit, json_option, print_json, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.politeness import limits
from messor.politeness import traffic as switch
from messor.politeness.limits import TrafficLimits
from messor.politeness.traffic import Halt
from messor.registry.terms import RANGES
from messor.store.database import Database


@click.group()
def traffic() -> None:
    """Halt all requests to sites immediately, on every machine, and resume them.

    A halt takes effect within a second, survives restarts, and lasts until an admin lifts it.
    Requests in progress are aborted and repeated afterwards. The console, the API, extraction,
    search engines, models and webhooks keep running.

    \b
    Example:
      messor traffic halt --reason "Investigating a complaint"
      messor traffic status
      messor traffic resume
    """


@traffic.command()
@click.option("--reason", required=True, help="Reason; shown with the halt.")
@json_option
def halt(reason: str, as_json: bool) -> None:
    """Halt all requests to sites within a second.

    \b
    Example:
      messor traffic halt --reason "Wrong user agent in the settings"
    """
    halted = run(
        transact(lambda connection: switch.halt(connection, reason=reason, actor=LOCAL_ADMIN))
    )
    if as_json:
        print_json(_as_data(halted))
        return
    say("All traffic to sites is halted. To resume it: messor traffic resume")


@traffic.command()
@json_option
def resume(as_json: bool) -> None:
    """Lift the halt; due pages are fetched again, at each host's usual delay.

    \b
    Example:
      messor traffic resume
    """
    lifted = run(transact(lambda connection: switch.resume(connection, actor=LOCAL_ADMIN)))
    if as_json:
        print_json({"halted": False, "lifted": asdict(lifted)})
        return
    say(f"Traffic is resumed. It was halted at {_time(lifted.halted_at)}: {lifted.reason}")


@traffic.command()
@click.option("--hours", metavar="FROM-TO", help="Crawl hours of the day, such as 22-6.")
@click.option("--time-zone", metavar="ZONE", help="Time zone of the hours; UTC by default.")
@click.option(
    "--megabytes-per-day",
    type=click.IntRange(*RANGES["megabytes_per_day"]),
    help="Maximum received per day from all sites together.",
)
@click.option("--none", "clear", is_flag=True, help="Remove the limits.")
@json_option
def limit(
    hours: str | None,
    time_zone: str | None,
    megabytes_per_day: int | None,
    *,
    clear: bool,
    as_json: bool,
) -> None:
    """Limit all sites together to hours of the day and megabytes per day.

    Visits in progress end within a second when the limit is reached; due pages wait. Limits of single
    domains: messor domains configure.

    \b
    Example:
      messor traffic limit --hours 20-7 --time-zone Europe/Berlin
      messor traffic limit --megabytes-per-day 50000
      messor traffic limit --none
    """
    if clear == bool(hours or megabytes_per_day):
        raise UsageError(
            "Give --hours, --megabytes-per-day or both, or --none to remove the limits."
        )
    wanted = limits.understood(hours, time_zone, megabytes_per_day)
    run(transact(lambda connection: limits.set_limits(connection, wanted, actor=LOCAL_ADMIN)))
    found = run(with_database(limits.find))
    if as_json:
        print_json({"limits": found and asdict(found)})
    else:
        say("There are no limits on all sites together." if found is None else _limited(found))


@traffic.command()
@json_option
def status(as_json: bool) -> None:
    """Show whether traffic is halted, since when, by whom and why; and the limits on all sites.

    \b
    Example:
      messor traffic status --json
    """

    async def read(database: Database) -> tuple[Halt | None, TrafficLimits | None, dict[str, str]]:
        found = await switch.in_force(database)
        names = await names_in(database, [found.halted_by] if found else [])
        return found, await limits.find(database), names

    found, limited, names = run(with_database(read))
    if as_json:
        print_json({**_as_data(found), "limits": limited and asdict(limited)})
        return
    emit("Traffic is running." if found is None else with_names(f"{found.message}.", names))
    if limited is not None:
        emit(_limited(limited))


def _limited(found: TrafficLimits) -> str:
    if found.message is not None:
        return f"{found.message}."
    known = [f"during {found.crawl_hours} h ({found.time_zone})"] if found.crawl_hours else []
    if (most := found.megabytes_per_day) is not None:
        today = found.bytes_today // limits.MEGABYTE
        known.append(f"at most {most:,} MB per day ({found.time_zone}), {today:,} MB today")
    return f"All sites together: {'; '.join(known)}."


def _as_data(halt: Halt | None) -> dict[str, Any]:
    return {"halted": halt is not None, "halt": asdict(halt) if halt else None}


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
