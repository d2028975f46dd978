"""Drift: where the index at the server differs from PostgreSQL, and the repair.

Documents that wait in the outbox are no drift. A repair notes what differs in the outbox again; what
the index has and PostgreSQL has not is deleted the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from messor.errors import NotFoundError
from messor.insight.search_server import indexes
from messor.insight.search_server.client import SearchServer
from messor.insight.search_server.documents import FINGERPRINTS, STANDING, Key
from messor.insight.search_server.layout import key_of, parts_of
from messor.store.database import Connection, Database

BATCH = 1000
NAMED = 20  # documents named in a report
PENDING = """
SELECT DISTINCT o.page, o.record FROM messor.search_outbox o, messor.search_indexes i
 WHERE i.name = $1 AND (o.tx, o.id) > (i.tx, i.outbox_id) AND o.page = ANY ($2::bigint[])
"""
NOTE = "INSERT INTO messor.search_outbox (page, record) SELECT * FROM unnest($1::bigint[], $2::bigint[])"


@dataclass(slots=True)
class Drift:
    """What an index has differently; keys of documents."""

    name: str
    documents: int = 0  # of PostgreSQL
    missing: list[Key] = field(default_factory=list)
    different: list[Key] = field(default_factory=list)
    extra: list[Key] = field(default_factory=list)

    @property
    def keys(self) -> list[Key]:
        return [*self.missing, *self.different, *self.extra]


async def check(database: Database, server: SearchServer) -> Drift:
    """Compare every document of PostgreSQL with the live index, and every document of the index."""
    name = await indexes.name_of(database, "live")
    if name is None:
        raise NotFoundError(
            "There is no live search index; make one with: messor search-index rebuild"
        )
    await server.ask("POST", f"{name}/_refresh")
    found = Drift(name)
    await _look_for_ours(database, server, found)
    await _look_for_theirs(database, server, found)
    return found


async def repair(source: Connection | Database, drift: Drift) -> int:
    """Note all that differs in the outbox; returns how many documents."""
    keys = drift.keys
    await source.fetch(NOTE, [page for page, _ in keys], [record for _, record in keys])
    return len(keys)


async def _look_for_ours(database: Database, server: SearchServer, found: Drift) -> None:
    last = 0
    while rows := await database.fetch(FINGERPRINTS, last, BATCH):
        last = rows[-1]["id"]
        found.documents += len(rows)
        wanted = {(row["page_id"], row["record_id"]): row["fingerprint"] for row in rows}
        body = {"docs": [{"_id": key_of(*key), "_source": ["fingerprint"]} for key in wanted]}
        said = await server.ask("POST", f"{found.name}/_mget", body)
        theirs = {one["_id"]: _fingerprint(one) for one in said["docs"] if one.get("found")}
        suspects = [key for key, one in wanted.items() if theirs.get(key_of(*key)) != one]
        for key in await _settled(database, found.name, suspects):
            (found.different if key_of(*key) in theirs else found.missing).append(key)


async def _look_for_theirs(database: Database, server: SearchServer, found: Drift) -> None:
    body: dict[str, Any] = {"size": BATCH, "sort": [{"key": "asc"}], "_source": False}
    while True:
        hits = (await server.ask("POST", f"{found.name}/_search", body))["hits"]["hits"]
        if not hits:
            return
        keys = [parts_of(hit["_id"]) for hit in hits]
        rows = await database.fetch(STANDING, [page for page, _ in keys], [one for _, one in keys])
        standing = {(row["page_id"], row["record_id"]) for row in rows}
        gone = [key for key in keys if key not in standing]
        found.extra += await _settled(database, found.name, gone)
        body["search_after"] = hits[-1]["sort"]


async def _settled(database: Database, name: str, keys: Sequence[Key]) -> list[Key]:
    """Those of them that do not wait in the outbox."""
    if not keys:
        return []
    rows = await database.fetch(PENDING, name, [page for page, _ in keys])
    pending = {(row["page"], row["record"]) for row in rows}
    return [key for key in keys if key not in pending]


def _fingerprint(document: dict[str, Any]) -> str | None:
    source = document.get("_source") or {}
    found: str | None = source.get("fingerprint")
    return found
