"""`messor schedule`: show and change the scheduled orchestrators."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import click

from messor.cli.output import emit, json_option, print_item, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, with_database
from messor.core.terminal import say
from messor.errors import MessorError
from messor.schedule import leader, plan
from messor.schedule.leader import ByHand, Leader
from messor.schedule.orchestrators import Orchestrator, Registry
from messor.schedule.plan import Plan, Plans
from messor.schedule.runs import ScheduleRunner, begin_by_hand
from messor.schedule.standard import standard_registry
from messor.settings import Settings
from messor.store.database import Database

ON_TIME = timedelta(minutes=1)  # overdue by less than this counts as on time
HEAD = ("name", "cadence", "next run", "reason", "last run", "outcome")


@click.group()
def schedule() -> None:
    """Show and change the schedule of automatic runs. All times are UTC.

    \b
    Example:
      messor schedule show
      messor schedule set O-Daily "30 3 * * *"
    """


@schedule.command()
@json_option
def show(as_json: bool) -> None:
    """Show next and last runs, and which process is the leader.

    \b
    Example:
      messor schedule show
    """

    async def read(database: Database) -> tuple[Plans, Leader | None]:
        return await plan.find(database), await leader.find(database)

    registry = standard_registry(Settings())
    plans, led = run(with_database(read))
    found = [_facts(orchestrator, plans) for orchestrator in registry] + _reserved(registry)
    if as_json:
        print_json({"now": plans.now, "leader": led, "schedules": found})
        return
    print_table(HEAD, [_row(facts) for facts in found])
    emit("")
    for facts in found:
        emit(f"{facts['name']:10}  {facts['does']}")
    emit("")
    emit(_leader_line(led))


@schedule.command(name="set")
@click.argument("name")
@click.argument("cadence")
@json_option
def set_cadence(name: str, cadence: str, as_json: bool) -> None:
    """Set the CADENCE of NAME: five cron fields in UTC, @daily, or @every 90m.

    \b
    Example:
      messor schedule set O-Sweeper "*/15 * * * *"
      messor schedule set O-Robots "@every 6h"
    """
    _change(name, partial(plan.override, text=cadence), as_json)


@schedule.command()
@click.argument("name")
@json_option
def reset(name: str, as_json: bool) -> None:
    """Reset NAME to its default cadence.

    \b
    Example:
      messor schedule reset O-Sweeper
    """
    _change(name, partial(plan.override, text=None), as_json)


@schedule.command()
@click.argument("name")
@json_option
def enable(name: str, as_json: bool) -> None:
    """Enable automatic runs of NAME; missed runs are not made up.

    \b
    Example:
      messor schedule enable O-Robots
    """
    _change(name, partial(plan.switch, enabled=True), as_json)


@schedule.command()
@click.argument("name")
@json_option
def disable(name: str, as_json: bool) -> None:
    """Disable automatic runs of NAME; it can still be run manually.

    \b
    Example:
      messor schedule disable O-Robots
    """
    _change(name, partial(plan.switch, enabled=False), as_json)


@schedule.command(name="run")
@click.argument("name")
@json_option
def run_now(name: str, as_json: bool) -> None:
    """Run NAME now, in this process, and print what it did.

    \b
    Example:
      messor schedule run O-Sweeper
    """

    async def act(database: Database) -> tuple[str, Plan]:
        started = await begin_by_hand(database, orchestrator, LOCAL_ADMIN)
        outcome = await ScheduleRunner(database, ByHand()).carry_out(started)
        return outcome, (await plan.find(database)).of(orchestrator)

    orchestrator = standard_registry(Settings()).get(name)
    outcome, found = run(with_database(act))
    detail = found.last_detail or {}
    if outcome == "failed":
        raise MessorError(f"{orchestrator.name} failed: {detail.get('error')}")
    if as_json:
        print_json({"name": orchestrator.name, "outcome": outcome, "detail": detail})
        return
    for label, count in detail.items():
        emit(f"{label:20} {count}")
    say(f"{orchestrator.name} finished.")


def _change(name: str, act: Callable[..., Awaitable[None]], as_json: bool) -> None:
    """Change a schedule and print its new state."""
    orchestrator = standard_registry(Settings()).get(name)

    async def change(database: Database) -> Plans:
        async with database.transaction() as connection:
            await act(connection, orchestrator, actor=LOCAL_ADMIN)
        return await plan.find(database)

    facts = _facts(orchestrator, run(with_database(change)))
    print_item(facts, as_json, HEAD, _row)


def _facts(orchestrator: Orchestrator, plans: Plans) -> dict[str, Any]:
    found = plans.of(orchestrator)
    next_run = found.next_run(orchestrator, plans.now) if found.enabled else None
    return {
        "name": orchestrator.name,
        "does": orchestrator.does,
        "available": True,
        "enabled": found.enabled,
        "cadence": found.in_force(orchestrator).text,
        "usual_cadence": orchestrator.cadence,
        "next_run_at": next_run,
        "why": _why(found, next_run, plans.now),
        "overridden_by": found.overridden_by,
        "overridden_at": found.overridden_at,
        "last_run_at": found.last_run_at,
        "last_finished_at": found.last_finished_at,
        "last_outcome": "unfinished" if found.is_unfinished else found.last_outcome,
        "last_detail": found.last_detail,
    }


def _why(found: Plan, next_run: datetime | None, now: datetime) -> str:
    if next_run is None:
        return "disabled"
    why = "default"
    if found.cadence is not None:
        why = f"set by {found.overridden_by} since {found.overridden_at:%Y-%m-%d %H:%M}"
    if next_run > now:
        return why
    late = "due now" if now - next_run < ON_TIME else f"catching up, due {next_run:%Y-%m-%d %H:%M}"
    return f"{why}; {late}"


def _reserved(registry: Registry) -> list[dict[str, Any]]:
    return [
        {
            "name": reserved.name,
            "does": reserved.does,
            "available": False,
            "cadence": reserved.cadence,
            "next_run_at": None,
            "why": f"not available: {reserved.until}",
        }
        for reserved in registry.reserved
    ]


def _row(facts: dict[str, Any]) -> tuple[Any, ...]:
    keys = ("name", "cadence", "next_run_at", "why", "last_run_at", "last_outcome")
    return tuple(facts.get(key) for key in keys)


def _leader_line(led: Leader | None) -> str:
    if led is None:
        return "No leader yet: the schedule runs only while messor up runs."
    until = f"{led.expires_at:%Y-%m-%d %H:%M:%S}"
    if led.leads:
        return f"Leader: {led.holder}, lease until {until}, renewed while it runs."
    return (
        f"No leader: the lease of {led.holder} ended at {until}. "
        "The schedule runs only while messor up runs."
    )
