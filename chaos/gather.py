"""Gathering: reads a finished run's history out of the server's log and the database."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

from chaos.history import Fetch, History, Lease, Page, Request, Snapshot, Visit
from messor.store.database import Database
from simweb import LoggedRequest, World

FETCHES = """
SELECT p.url, extract(epoch FROM f.fetched_at)::float8 AS at,
       CASE WHEN f.error_json ->> 'type' = 'cut_off' THEN 'cut_off' ELSE f.outcome END AS outcome
  FROM messor.http_fetches f JOIN messor.pages p ON p.id = f.page_id ORDER BY f.fetched_at
"""

# A visit that nobody ended lasts as long as the worker lease it hangs on.
VISITS = """
SELECT h.host, v.token, v.worker_id AS lease, extract(epoch FROM v.claimed_at)::float8 AS claimed_at,
       extract(epoch FROM coalesce(v.ended_at, w.ended_at, w.expires_at))::float8 AS ended_at
  FROM messor.visits v JOIN messor.hosts h ON h.id = v.host_id
  JOIN messor.worker_leases w ON w.id = v.worker_id
"""

LEASES = """
SELECT id, name, extract(epoch FROM coalesce(ended_at, expires_at))::float8 AS ended_at,
       coalesce(end_reason, 'expired') AS reason FROM messor.worker_leases ORDER BY id
"""

SNAPSHOTS = """
SELECT p.url, s.raw_hash, g.name AS segment, s.segment_offset AS at, s.segment_length AS length,
       s.verdict
  FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id
  LEFT JOIN messor.segments g ON g.id = s.segment_id ORDER BY s.id
"""

NEW_PAGES = """
SELECT p.url FROM messor.page_changes c JOIN messor.pages p ON p.id = c.page_id
 WHERE c.state = 'new'
"""


def page_of(url: str) -> Page:
    parts = urlsplit(url)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return Page(parts.netloc, path)


def pages_of(world: World) -> frozenset[Page]:
    """Every page of a simulated web, as its sitemaps list them."""
    found: set[Page] = set()
    for site in world.sites:
        for part in _locations(world, page_of(f"{site.base}/sitemap.xml")):
            found.update(_locations(world, part))
    return frozenset(found)


def _locations(world: World, sitemap: Page) -> Iterable[Page]:
    body = world.respond(sitemap.host, sitemap.path).body.decode()
    return [page_of(url) for url in re.findall(r"<loc>(.*?)</loc>", body)]


def requests_of(log: Iterable[LoggedRequest]) -> list[Request]:
    """The log's requests, their arrival told on the Unix clock too."""
    offset = time.time() - time.monotonic()
    return [
        Request(
            Page(entry.host, entry.path),
            entry.arrived_ns / 1e9,
            entry.answered_ns / 1e9,
            entry.arrived_ns / 1e9 + offset,
            entry.status,
        )
        for entry in log
    ]


async def read_tables(database: Database, history: History) -> None:
    """Fill a history with what the database recorded."""
    history.fetches = [
        Fetch(page_of(row["url"]), row["at"], row["outcome"])
        for row in await database.fetch(FETCHES)
    ]
    history.visits = [Visit(**row) for row in await database.fetch(VISITS)]
    history.leases = [
        Lease(row["id"], _pid(row["name"]), row["ended_at"], row["reason"])
        for row in await database.fetch(LEASES)
    ]
    history.snapshots = [
        Snapshot(
            page_of(row["url"]),
            row["raw_hash"],
            row["segment"] or "",
            row["at"],
            row["length"],
            row["verdict"],
        )
        for row in await database.fetch(SNAPSHOTS)
    ]
    history.new_pages = [page_of(row["url"]) for row in await database.fetch(NEW_PAGES)]


def _pid(name: str) -> int:
    """A lease is named after its machine and process."""
    return int(name.rpartition("-")[2])
