"""`messor events`: print the event log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from messor.cli.actors import Names, names_in, with_names
from messor.cli.listing import filters_of, list_options, read_list
from messor.cli.output import emit, emit_json, run
from messor.core.terminal import say
from messor.ledger.queries import EVENTS, ListedEvent, newest
from messor.settings import Settings
from messor.store.database import Database
from messor.store.listing import MAX_LIMIT
from messor.store.session import open_session

POLL_SECONDS = 0.5


@click.command()
@click.option("--follow", "-f", is_flag=True, help="Then print new events until Ctrl-C.")
@list_options(EVENTS, without=("with_audit",))
def events(follow: bool, as_json: bool, **given: Any) -> None:
    """Print events, newest first; with --follow in commit order.

    \b
    Example:
      messor events --type domain.approved,domain.rejected
      messor events --domain example.org --follow
    """
    given["with_audit"] = True
    try:
        run(_events(given, follow=follow, as_json=as_json))
    except KeyboardInterrupt:
        say("")


async def _events(given: dict[str, Any], *, follow: bool, as_json: bool) -> None:
    names = ("order", "cursor", "limit")
    filters = filters_of(EVENTS, {name: one for name, one in given.items() if name not in names})
    async with open_session(Settings(), pool_size=1) as session:
        database = session.database
        at = await newest(database)
        found, following = await read_list(EVENTS, database, given)
        await _print(database, found[::-1] if follow else found, as_json=as_json)
        if following is not None and not follow:
            say(f"More follow: repeat the command with --cursor {following}")
        while follow:
            new, reached = await EVENTS.select(database, filters, "committed", at, MAX_LIMIT)
            await _print(database, new, as_json=as_json)
            at = reached or (new[-1].position if new else at)
            if reached is None:
                await asyncio.sleep(POLL_SECONDS)


async def _print(database: Database, found: Sequence[ListedEvent], *, as_json: bool) -> None:
    names = await names_in(database, () if as_json else (event.actor for event in found))
    for event in found:
        if as_json:
            emit_json(asdict(event))
        else:
            emit(_line(event, names))


def _line(event: ListedEvent, names: Names) -> str:
    data = " ".join(f"{name}={value}" for name, value in event.data.items() if value)
    actor = with_names(event.actor, names)
    return f"{event.occurred_at:%Y-%m-%d %H:%M:%S} {event.type:20} {actor:12} {data}"
