"""`messor status`: workers, queues and alarms of the installation."""

from __future__ import annotations

import sys

import click

from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.ledger.alarms import Alarm
from messor.ops import vitals
from messor.ops.disk_watch import paused
from messor.ops.vitals import Vitals
from messor.politeness import traffic
from messor.politeness.traffic import Halt
from messor.settings import Settings
from messor.store.session import open_session
from messor.store.space import Space


@click.command()
@json_option
def status(as_json: bool) -> None:
    """Show workers, queues and alarms; exits with 1 while an alarm is active.

    \b
    Example:
      messor status
      messor status --json
    """
    settings = Settings()
    found, halt = run(_read(settings))
    shortage = Space.of(settings).message
    if as_json:
        print_json({"vitals": found, "halt": halt, "disk": shortage and paused(shortage)})
    else:
        _show(found, halt, shortage)
    if found.alarms or shortage:
        sys.exit(1)


async def _read(settings: Settings) -> tuple[Vitals, Halt | None]:
    async with open_session(settings, pool_size=1) as session:
        return await vitals.vitals(session.database), await traffic.in_force(session.database)


def _show(found: Vitals, halt: Halt | None, shortage: str | None) -> None:
    queued = sum(states.get("queued", 0) for states in found.jobs.values())
    emit(f"workers: {found.workers}")
    emit(f"domains waiting for review: {found.domains_waiting}")
    emit(f"queued jobs: {queued}")
    if halt is not None:
        emit(halt.message)
    if shortage is not None and not any(alarm.name == "disk" for alarm in found.alarms):
        emit(paused(shortage))
    _show_alarms(found.alarms)


def _show_alarms(alarms: list[Alarm]) -> None:
    if not alarms:
        emit("alarms: none")
        return
    rows = [(alarm.name, alarm.raised_at, alarm.place, alarm.message) for alarm in alarms]
    print_table(("alarm", "since", "where", "message"), rows)
