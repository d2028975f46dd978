"""`messor events`: print the event log."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

import click

from messor.cli.actors import Names, names_in, with_names
from messor.cli.output import emit, emit_json, json_option, run
from messor.core.terminal import say
from messor.ledger.events import Cursor, RecordedEvent, read_after
from messor.settings import Settings
from messor.store.session import open_session

POLL_SECONDS = 0.5


@click.command()
@click.option("--follow", "-f", is_flag=True, help="Keep printing new events until Ctrl-C.")
@json_option
def events(follow: bool, as_json: bool) -> None:
    """Print events in commit order.

    \b
    Example:
      messor events --follow
    """
    try:
        run(_events(follow=follow, as_json=as_json))
    except KeyboardInterrupt:
        say("")


async def _events(*, follow: bool, as_json: bool) -> None:
    cursor = Cursor()
    async with open_session(Settings(), pool_size=1) as session:
        while True:
            found = await read_after(session.database, cursor)
            actors = () if as_json else (each.event.actor for each in found)
            names = await names_in(session.database, actors)
            for event in found:
                if as_json:
                    emit_json(_data(event))
                else:
                    emit(_line(event, names))
                cursor = event.cursor
            if found:
                continue
            if not follow:
                return
            await asyncio.sleep(POLL_SECONDS)


def _data(recorded: RecordedEvent) -> dict[str, Any]:
    return {"occurred_at": recorded.occurred_at, **asdict(recorded.event)}


def _line(recorded: RecordedEvent, names: Names) -> str:
    event, actor = recorded.event, with_names(recorded.event.actor, names)
    data = " ".join(f"{name}={value}" for name, value in (event.data or {}).items() if value)
    return f"{recorded.occurred_at:%Y-%m-%d %H:%M:%S} {event.type:20} {actor:12} {data}"
