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
from messor.politeness import traffic as switch
from messor.politeness.traffic import Halt
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
@json_option
def status(as_json: bool) -> None:
    """Show whether traffic is halted, since when, by whom and why.

    \b
    Example:
      messor traffic status --json
    """

    async def read(database: Database) -> tuple[Halt | None, dict[str, str]]:
        found = await switch.in_force(database)
        return found, await names_in(database, [found.halted_by] if found else [])

    found, names = run(with_database(read))
    if as_json:
        print_json(_as_data(found))
    elif found is None:
        emit("Traffic is running.")
    else:
        emit(with_names(f"{found.message}.", names))


def _as_data(halt: Halt | None) -> dict[str, Any]:
    return {"halted": halt is not None, "halt": asdict(halt) if halt else None}


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
