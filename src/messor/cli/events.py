"""`messor events`: the ledger, as it grows."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import click
import msgspec

from messor.cli.output import emit, json_option, run, say
from messor.ledger.events import Cursor, RecordedEvent, read_after
from messor.settings import Settings
from messor.store.session import open_session

PAUSE_SECONDS = 0.5


@click.command()
@click.option("--follow", "-f", is_flag=True, help="Keep printing new ones until Ctrl-C.")
@json_option
def events(follow: bool, as_json: bool) -> None:
    """Print what happened, in the order it was committed.

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
            for event in found:
                emit(_line(event, as_json=as_json))
                cursor = event.cursor
            if found:
                continue
            if not follow:
                return
            await asyncio.sleep(PAUSE_SECONDS)


def _line(recorded: RecordedEvent, *, as_json: bool) -> str:
    event = recorded.event
    if as_json:
        fact = {"occurred_at": recorded.occurred_at, **asdict(event)}
        return msgspec.json.encode(fact).decode()
    data = " ".join(f"{name}={value}" for name, value in (event.data or {}).items() if value)
    return f"{recorded.occurred_at:%Y-%m-%d %H:%M:%S} {event.type:20} {event.actor:12} {data}"
