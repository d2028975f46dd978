"""`messor traffic`: halt all requests to sites, resume them, and see how it stands."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

import click

from messor.cli.actors import names_in, with_names
from messor.cli.domain_session import LOCAL_ADMIN, transact, with_database
from messor.cli.output import emit, json_option, print_json, run
from messor.core.terminal import say
from messor.politeness import traffic as switch
from messor.politeness.traffic import Halt
from messor.store.database import Connection, Database


@click.group()
def traffic() -> None:
    """Halt all requests to sites at once, on every machine, and resume them.

    A halt takes effect within a second, survives restarts, and stays until an admin lifts it.
    Pages under way are cut off and fetched again after it. The console, the API, extraction,
    search engines, models and webhooks go on.

    \b
    Example:
      messor traffic halt --reason "A site complained: looking into it"
      messor traffic status
      messor traffic resume
    """


@traffic.command()
@click.option("--reason", required=True, help="Why; everybody who asks is shown it.")
@json_option
def halt(reason: str, as_json: bool) -> None:
    """Halt all requests to sites within a second.

    \b
    Example:
      messor traffic halt --reason "Wrong user agent in the settings"
    """

    async def act(connection: Connection) -> Halt:
        return await switch.halt(connection, reason=reason, actor=LOCAL_ADMIN)

    halted = run(transact(act))
    if as_json:
        print_json(_shown(halted))
        return
    say("All traffic to sites is halted. It stays so until: messor traffic resume")


@traffic.command()
@json_option
def resume(as_json: bool) -> None:
    """Lift the halt; pages that are due are fetched again, at their hosts' pace.

    \b
    Example:
      messor traffic resume
    """

    async def act(connection: Connection) -> Halt:
        return await switch.resume(connection, actor=LOCAL_ADMIN)

    lifted = run(transact(act))
    if as_json:
        print_json({"halted": False, "lifted": asdict(lifted)})
        return
    say(f"Traffic runs again. It was halted on {_day(lifted.halted_at)}: {lifted.reason}")


@traffic.command()
@json_option
def status(as_json: bool) -> None:
    """Tell whether traffic is halted, since when, by whom and why.

    \b
    Example:
      messor traffic status --json
    """

    async def look(database: Database) -> tuple[Halt | None, dict[str, str]]:
        found = await switch.in_force(database)
        return found, await names_in(database, [found.halted_by] if found else [])

    found, names = run(with_database(look))
    if as_json:
        print_json(_shown(found))
    elif found is None:
        emit("Traffic runs.")
    else:
        emit(with_names(f"{found.said}.", names))


def _shown(halt: Halt | None) -> dict[str, Any]:
    return {"halted": halt is not None, "halt": asdict(halt) if halt else None}


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
