"""`messor changes`: print the change feed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any

import click

from messor.cli.listing import filters_of, list_options, read_list
from messor.cli.output import emit, emit_json, run
from messor.core.terminal import say
from messor.feed.queries import CHANGES, COMMITTED, MAX_BATCH, Change, read_feed
from messor.rights.release import Purpose, release
from messor.rights.uses import USE_NAMES, ApprovedUse, parsed
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session

POLL_SECONDS = 0.5
_PAGING = ("order", "cursor", "limit")


@click.command()
@click.option("--follow", "-f", is_flag=True, help="Keep printing new changes until Ctrl-C.")
@click.option(
    "--use",
    "uses",
    multiple=True,
    type=click.Choice(USE_NAMES),
    help="What it is for; repeatable. Default: what each domain is approved for.",
)
@list_options(CHANGES)
def changes(follow: bool, uses: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Print changes in commit order, with tombstones for erased data.

    \b
    Example:
      messor changes --kinds product --domain shop.example
      messor changes --follow --json --cursor CURSOR
    """
    try:
        show = Show(parsed(uses), as_json)
        run(_follow(given, show) if follow else _list(given, show))
    except KeyboardInterrupt:
        say("")


@dataclass(frozen=True, slots=True)
class Show:
    """How entries are printed, and what for."""

    uses: tuple[ApprovedUse, ...]
    as_json: bool


async def _list(given: dict[str, Any], show: Show) -> None:
    order = given["order"]
    async with open_session(Settings(), pool_size=1) as session:
        found, following = await read_list(CHANGES, session.database, dict(given))
        await _print(session.database, found, show)
    if following is not None:
        again = "" if order == COMMITTED else f" --sort {order}"
        say(f"More follow: repeat the command with{again} --cursor {following}")


async def _follow(given: dict[str, Any], show: Show) -> None:
    """Every entry from the cursor on; the cursor to continue from is said with each batch."""
    filters = filters_of(CHANGES, {name: one for name, one in given.items() if name not in _PAGING})
    cursor = given["cursor"]
    async with open_session(Settings(), pool_size=1) as session:
        while True:
            page = await read_feed(session.database, filters, cursor=cursor, limit=MAX_BATCH)
            await _print(session.database, page.items, show)
            cursor = page.cursor
            if page.items:
                say(f"To continue after these: --cursor {cursor}")
            if page.next is None:
                await asyncio.sleep(POLL_SECONDS)


async def _print(database: Database, found: Sequence[Change], show: Show) -> None:
    """Print what may leave: programs follow this output as they follow the API."""
    for change in await release(database, Purpose.FEED, found, attrgetter("page_id"), show.uses):
        if show.as_json:
            emit_json(asdict(change))
        else:
            emit(_line(change))


def _line(change: Change) -> str:
    what = f"{change.topic or change.kind} {change.state}"
    moved = [
        f"{name}: {(change.before or {}).get(name)} → {(change.after or {}).get(name)}"
        for name in (change.after or {})
        if change.state == "changed" and change.before
    ]
    where = change.url or change.domain or ""
    time = f"{change.occurred_at:%Y-%m-%d %H:%M:%S}"
    return f"{time} {what:24} {change.subject:16} {where} {'; '.join(moved)}".rstrip()
