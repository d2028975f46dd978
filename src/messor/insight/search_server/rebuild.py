"""A new index, filled beside the live one and then put in its place: searches never see a gap.

Writes are noted in the outbox as soon as the new index is registered. It is filled from PostgreSQL,
then follows the outbox, and one request moves the aliases. A rebuild that was interrupted continues.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from messor.errors import ConflictError
from messor.insight.search_server import indexes, outbox
from messor.insight.search_server.client import SearchServer, SearchServerRefusedError
from messor.insight.search_server.documents import documents_after
from messor.insight.search_server.layout import index_body
from messor.store.database import Database

BARRIER_SECONDS = 0.2
NUMBERED = "%Y%m%d%H%M%S%f"
# Transactions that began before the registration may write without a note; all after it note.
BARRIER = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
PASSED = "SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::text::xid8"

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A rebuild's index and what was sent to it."""

    name: str
    documents: int
    refused: int


def _silent(_: int) -> None:
    return


async def rebuild(
    database: Database, server: SearchServer, progress: Progress = _silent
) -> Rebuilt:
    """Fill a new index and make it the live one; `progress` is called with documents sent."""
    now: datetime = await database.fetchval("SELECT messor.clock()")
    name = await indexes.register(database, f"{server.settings.alias}-{now:{NUMBERED}}")
    await _create(server, name)
    await _wait_for_writers(database)
    done = await _fill(database, server, name, progress)
    done += await outbox.send_waiting(database, server, name)
    await server.ask("PUT", f"{name}/_settings", {"index": {"refresh_interval": None}})
    await server.ask("POST", f"{name}/_refresh")
    await _move_aliases(server, name)
    await indexes.make_live(database, name)
    await _drop_old(server, name)
    return Rebuilt(name, done.documents, done.refused)


async def drop(database: Database, server: SearchServer | None) -> list[str]:
    """Forget all indexes, and delete them if the server is configured: PostgreSQL answers."""
    if server is not None:
        for status in await indexes.statuses(database):
            await server.find("DELETE", status.name)
    names = await indexes.forget(database)
    await indexes.prune(database)
    return list(names)


async def _create(server: SearchServer, name: str) -> None:
    try:
        await server.ask("PUT", name, index_body())
    except SearchServerRefusedError as error:
        if error.kind != "resource_already_exists_exception":
            raise


async def _wait_for_writers(database: Database) -> None:
    barrier = await database.fetchval(BARRIER)
    while not await database.fetchval(PASSED, barrier):  # noqa: ASYNC110 - the end of others' transactions
        await asyncio.sleep(BARRIER_SECONDS)


async def _fill(
    database: Database, server: SearchServer, name: str, progress: Progress
) -> outbox.Sent:
    done = outbox.Sent()
    last = await indexes.filled_to(database, name)
    while True:
        documents, reached = await documents_after(database, last, outbox.BATCH)
        if reached is None:
            return done
        actions = [outbox.indexing(name, one, outbox.FILL_VERSION) for one in documents]
        done += await outbox.send(database, server, name, actions)
        last = reached
        await indexes.note_filled(database, name, last)
        progress(done.documents)


async def _move_aliases(server: SearchServer, name: str) -> None:
    """One request: an alias points to the old index or to the new one, never to none."""
    alias, products = server.settings.alias, server.settings.products_alias
    removals = [
        {"remove": {"index": old, "alias": each}}
        for each in (alias, products)
        for old in await holders(server, each)
        if old != name
    ]
    additions: list[dict[str, Any]] = [
        {"add": {"index": name, "alias": alias}},
        {"add": {"index": name, "alias": products, "filter": {"term": {"kind": "product"}}}},
    ]
    await server.ask("POST", "_aliases", {"actions": [*removals, *additions]})


async def holders(server: SearchServer, alias: str) -> list[str]:
    """The indexes that an alias points to; raises if an index has its name."""
    if await server.find("GET", f"_alias/{alias}") is None:
        if await server.find("GET", alias) is not None:
            raise ConflictError(
                f"The search server {server.place} has an index named {alias}: choose another name "
                "with MESSOR_SEARCH_SERVER_INDEX and MESSOR_SEARCH_SERVER_PRODUCTS, or delete it."
            )
        return []
    return sorted(await server.ask("GET", f"_alias/{alias}"))


async def _drop_old(server: SearchServer, name: str) -> None:
    """Delete earlier indexes of ours; one that was interrupted left its own behind."""
    ours = re.compile(rf"{re.escape(server.settings.alias)}-\d{{20}}")
    found = await server.find("GET", f"{server.settings.alias}-*/_alias") or {}
    for old in sorted(found):
        if ours.fullmatch(old) and old != name and not found[old].get("aliases"):
            await server.find("DELETE", old)
