"""The chain behind a page: decisions on its domain, its requests with their pace, robots.txt, and rights."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import msgspec

from messor.explain import rights as explained_rights
from messor.explain import why
from messor.rights import permissions, uses
from messor.settings import Settings
from messor.store.database import Connection, Database

EVENTS = 200
REQUESTS = 20

# What was decided about the domain, and what happened to the page.
OF_DOMAIN = """
SELECT id, occurred_at, type, actor, page_id, data::text AS data FROM messor.events
 WHERE domain_id = $1 AND occurred_at <= $3
   AND (split_part(type, '.', 1) IN ('domain', 'permission', 'robots', 'host') OR page_id = $2)
 ORDER BY occurred_at DESC, id DESC LIMIT $4
"""
# The request that brought the snapshot, those of its host before it, and later ones of the page.
OF_HOST = """
(SELECT f.* FROM messor.http_fetches f
  WHERE f.host_id = $1 AND f.fetched_at <= $3 ORDER BY f.fetched_at DESC, f.id DESC LIMIT $4)
UNION
(SELECT f.* FROM messor.http_fetches f WHERE f.page_id = $2 ORDER BY f.fetched_at DESC, f.id DESC LIMIT $4)
"""
REQUESTS_OF = f"""
SELECT f.id, f.fetched_at, f.page_id, p.url, f.outcome, f.status_code, f.fetch_provider, f.rule,
       f.policy_version, f.robots_id, f.waited_ms, f.delay_ms, f.duration_ms
  FROM ({OF_HOST}) f LEFT JOIN messor.pages p ON p.id = f.page_id ORDER BY f.fetched_at, f.id
"""
ROBOTS = """
SELECT id, fetched_at, verdict, reason, status_code, body, crawl_delay FROM messor.robots_files
 WHERE id = ANY ($1::bigint[]) ORDER BY id
"""
SIGNALS = "SELECT signals::text FROM messor.page_snapshots WHERE id = $1"
PERMITTED = f"""
SELECT {permissions.COLUMNS} FROM {permissions.TABLE} WHERE q.domain_id = $1 ORDER BY q.granted_at
"""


@dataclass(frozen=True, slots=True)
class BundledPage:
    """What a bundle is about."""

    page_id: int
    host_id: int
    domain_id: Any
    url: str
    snapshot_id: int
    crawled_at: datetime


@dataclass(frozen=True, slots=True)
class Chain:
    """What goes into the bundle, and the rows of logs that it rests on."""

    files: dict[str, bytes]
    events: list[int]
    requests: list[int]


async def of_subject(database: Database, settings: Settings, subject: BundledPage) -> Chain:
    """Collect the chain as it is known now."""
    explained = await why.explain(database, settings, subject.url)
    said_now = await explained_rights.of_url(database, settings, subject.url)
    async with database.transaction() as connection:
        events = await connection.fetch(
            OF_DOMAIN, subject.domain_id, subject.page_id, await _now(connection), EVENTS
        )
        requests = await connection.fetch(
            REQUESTS_OF, subject.host_id, subject.page_id, subject.crawled_at, REQUESTS
        )
        versions = {row["robots_id"] for row in requests} - {None}
        robots = await connection.fetch(ROBOTS, list(versions))
        rights = {
            "with_the_snapshot": _decoded(await connection.fetchval(SIGNALS, subject.snapshot_id)),
            "now": asdict(said_now),
            "approved_uses": await uses.of_domain(connection, subject.domain_id),
            "permissions": [
                dict(row) for row in await connection.fetch(PERMITTED, subject.domain_id)
            ],
        }
    files = {
        "decisions.json": _json(
            {
                "now": asdict(explained),
                "events": [{**row, "data": _decoded(row["data"])} for row in map(dict, events)],
            }
        ),
        "rights.json": _json(rights),
        "politeness.json": _json(
            {
                "requests": [dict(row) for row in requests],
                "robots": [{**row, "body": f"robots-{row['id']}.txt"} for row in map(dict, robots)],
            }
        ),
        **{f"robots-{row['id']}.txt": bytes(row["body"]) for row in robots},
    }
    return Chain(files, [row["id"] for row in events], [row["id"] for row in requests])


async def _now(connection: Connection) -> datetime:
    found: datetime = await connection.fetchval("SELECT messor.clock()")
    return found


def _decoded(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)


def _json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2)
