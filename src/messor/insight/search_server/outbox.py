"""The outbox: documents that were written or deleted, sent in commit order.

A document is read when it is sent. Its version is the number of the entry, which grows with every
write of the document, since the writer holds its row; so the server refuses (409) what is older than
what it has, and sending anything twice, late or from two processes changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from messor.insight.search_server import indexes
from messor.insight.search_server.client import (
    SearchServer,
    SearchServerDownError,
    SearchServerRefusedError,
    encode,
)
from messor.insight.search_server.documents import Document, Key, documents_of
from messor.insight.search_server.layout import key_of
from messor.store.database import Database

BATCH = 500
MAX_BULK_BYTES = 5_000_000
FILL_VERSION = 1  # of documents in a new index; every entry of the outbox is newer
TRIES = 4  # of what an overloaded server puts off
PAUSE_SECONDS = 0.5

WAITING = """
SELECT o.tx::text AS tx, o.id, o.page, o.record
  FROM messor.search_indexes i
  JOIN messor.search_outbox o ON (o.tx, o.id) > (i.tx, i.outbox_id)
   AND o.tx < messor.commit_horizon()
 WHERE i.name = $1 ORDER BY o.tx, o.id LIMIT $2
"""
REACHED = """
UPDATE messor.search_indexes
   SET tx = $2::text::xid8, outbox_id = $3, sent_at = messor.clock(), trouble = NULL
 WHERE name = $1 AND (tx, outbox_id) < ($2::text::xid8, $3)
"""


@dataclass(frozen=True, slots=True)
class Action:
    """One line of a bulk request, with the document's line if there is one."""

    key: str
    lines: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent; what the server will not take is refused."""

    documents: int = 0
    refused: int = 0

    def __add__(self, other: Sent) -> Sent:
        return Sent(self.documents + other.documents, self.refused + other.refused)


async def send_waiting(database: Database, server: SearchServer, name: str) -> Sent:
    """Send all that waits for an index; raises SearchServerDownError, and nothing is lost."""
    done = Sent()
    try:
        while rows := await database.fetch(WAITING, name, BATCH):
            done += await _send_entries(database, server, name, rows)
            last = rows[-1]
            await database.fetch(REACHED, name, last["tx"], last["id"])
    except (SearchServerDownError, SearchServerRefusedError) as error:
        await indexes.note_trouble(database, name, str(error))
        raise
    await indexes.note_trouble(database, name, None)
    await indexes.prune(database)
    return done


async def _send_entries(
    database: Database, server: SearchServer, name: str, rows: Sequence[Any]
) -> Sent:
    newest: dict[Key, int] = {}
    for row in rows:
        key = (row["page"], row["record"])
        newest[key] = max(row["id"], newest.get(key, 0))
    found = {
        (one.page_id, one.record_id): one for one in await documents_of(database, list(newest))
    }
    actions = [
        indexing(name, found[key], number + FILL_VERSION)
        if key in found
        else deleting(name, key_of(*key), number + FILL_VERSION)
        for key, number in newest.items()
    ]
    return await send(database, server, name, actions)


def indexing(name: str, document: Document, version: int) -> Action:
    """Write a document, unless the server has a newer version."""
    return Action(
        document.key, (_head("index", name, document.key, version), encode(document.body))
    )


def deleting(name: str, key: str, version: int) -> Action:
    """Delete a document, unless the server has a newer version."""
    return Action(key, (_head("delete", name, key, version),))


def _head(verb: str, name: str, key: str, version: int) -> bytes:
    head = {"_index": name, "_id": key, "version": version, "version_type": "external"}
    return encode({verb: head})


async def send(
    database: Database, server: SearchServer, name: str, actions: Sequence[Action]
) -> Sent:
    """Send actions in requests of bounded size, and note what the server will not take."""
    refusals: list[str] = []
    for batch in _batches(actions):
        refusals += await _send_batch(server, batch)
    if refusals:
        await indexes.note_refused(database, name, len(refusals), refusals[-1])
    return Sent(len(actions), len(refusals))


def _batches(actions: Sequence[Action]) -> list[list[Action]]:
    batches: list[list[Action]] = []
    size = MAX_BULK_BYTES
    for action in actions:
        length = sum(map(len, action.lines))
        if size + length > MAX_BULK_BYTES or not batches:
            batches.append([])
            size = 0
        batches[-1].append(action)
        size += length
    return batches


async def _send_batch(server: SearchServer, batch: list[Action]) -> list[str]:
    """Refusals of a batch; what the server puts off is sent again a few times."""
    refusals: list[str] = []
    for attempt in range(TRIES):
        try:
            results = await server.bulk([line for action in batch for line in action.lines])
        except SearchServerRefusedError as error:
            if error.status != 413 or len(batch) == 1:
                raise
            half = len(batch) // 2
            rest = await _send_batch(server, batch[half:])
            return [*refusals, *await _send_batch(server, batch[:half]), *rest]
        pairs = list(zip(batch, results, strict=True))
        refusals += [_refusal(action, said) for action, said in pairs if _is_refused(said)]
        batch = [action for action, said in pairs if _is_put_off(said["status"])]
        if not batch:
            return refusals
        await asyncio.sleep(PAUSE_SECONDS * 2**attempt)
    raise SearchServerDownError(
        f"The search server {server.place} is overloaded: it deferred {len(batch)} documents "
        f"{TRIES} times. They will be resent later."
    )


def _is_put_off(status: int) -> bool:
    return status == 429 or status >= 500


def _is_refused(said: dict[str, Any]) -> bool:
    """A version conflict (409) is done already, and so is the deletion of nothing (404)."""
    status = said["status"]
    return 400 <= status < 500 and status not in (404, 409, 429)


def _refusal(action: Action, said: dict[str, Any]) -> str:
    error = said.get("error") or {}
    return f"{action.key}: {error.get('reason', 'no reason given')}"
