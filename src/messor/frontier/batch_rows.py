"""The rows of a batch: the lines of one chunk become pages and tasks of approved domains.

Lines that may not be accepted become rejected lines. A chunk costs a handful of statements,
however many lines, hosts and domains it contains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from messor.frontier import pages, tasks
from messor.frontier.batch_lines import MAX_SHOWN, BadLine, BatchItem
from messor.frontier.categories import categorise
from messor.frontier.depth import UNKNOWN_DEPTH
from messor.frontier.pages import NewPage
from messor.frontier.tasks import SITEMAP_PRIORITY
from messor.politeness import lanes
from messor.store.database import Connection
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse, url_hash

# Locked, so that a domain approved now stays approved until the chunk commits.
DOMAINS = """
SELECT id, domain, status, rejection_reason, page_budget FROM messor.domains
 WHERE domain = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE
"""
HOSTS = "SELECT id, host, domain_id FROM messor.hosts WHERE host = ANY ($1::text[])"

ADD_PAGES = f"""
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::text[], $5::text[])
           AS g (host_id, url_hash, url, kind, category)
), made AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, depth, category)
  SELECT host_id, url_hash, url, 'manual', CASE WHEN kind = 'page' THEN {UNKNOWN_DEPTH} ELSE 0 END,
         category
    FROM given ORDER BY host_id, url_hash
  ON CONFLICT (host_id, url_hash) DO NOTHING RETURNING id, host_id, url_hash
), reached AS (
  -- It was requested: a known page is crawled from now on, however deep it is.
  UPDATE messor.pages p SET found_by = 'manual'
    FROM given g JOIN messor.hosts h ON h.id = g.host_id JOIN messor.domains d ON d.id = h.domain_id
   WHERE p.host_id = g.host_id AND p.url_hash = g.url_hash AND p.depth > d.max_crawl_depth
), sitemap AS (
  INSERT INTO messor.sitemaps (page_id, host_id)
  SELECT m.id, m.host_id FROM made m JOIN given g USING (host_id, url_hash)
   WHERE g.kind = 'sitemap'
), counted AS (
  UPDATE messor.domains d SET pages_known = d.pages_known + n.pages
    FROM (SELECT h.domain_id, count(*)::int AS pages
            FROM made m JOIN given g USING (host_id, url_hash)
            JOIN messor.hosts h ON h.id = m.host_id WHERE g.kind = 'page' GROUP BY 1) n
   WHERE d.id = n.domain_id
)
SELECT count(*) FROM made
"""

# A separate statement, so that pages just found by another worker are seen as well. Paused tasks
# stay paused and are due once resumed; cancelled ones are scheduled again.
ADD_TASKS = """
WITH page AS (
  SELECT p.id, p.host_id, g.kind, g.priority, g.frequency, g.line
    FROM unnest($2::bigint[], $3::bytea[], $4::text[], $5::smallint[], $6::interval[], $7::int[])
         AS g (host_id, url_hash, kind, priority, frequency, line)
    JOIN messor.pages p ON p.host_id = g.host_id AND p.url_hash = g.url_hash
), task AS (
  INSERT INTO messor.crawl_tasks AS t (page_id, host_id, kind, priority, crawl_frequency, due_at)
  SELECT id, host_id, kind, priority, frequency, (SELECT messor.clock()) FROM page ORDER BY id
  ON CONFLICT (page_id) DO UPDATE
     SET priority = CASE WHEN t.kind = 'page' THEN excluded.priority ELSE t.priority END,
         crawl_frequency = coalesce(excluded.crawl_frequency, t.crawl_frequency),
         due_at = CASE WHEN t.status <> 'paused' THEN excluded.due_at END,
         held_due_at = CASE WHEN t.status = 'paused' THEN excluded.due_at END,
         status = CASE WHEN t.status = 'paused' THEN t.status ELSE 'pending' END,
         retry_count = 0
  RETURNING t.host_id, t.due_at
), member AS (
  INSERT INTO messor.batch_pages (batch_id, page_id, line) SELECT $1, id, line FROM page
  ON CONFLICT DO NOTHING
)
UPDATE messor.lanes l
   SET due_at = least(l.due_at, n.due_at),
       claim_at = CASE WHEN l.worker_id IS NULL
                       THEN greatest(l.ready_at, least(l.due_at, n.due_at)) ELSE l.claim_at END
  FROM (SELECT host_id, min(due_at) AS due_at FROM task WHERE due_at IS NOT NULL GROUP BY 1) n
 WHERE l.host_id = n.host_id
"""


class BatchChunk:
    """Lines to be written in one transaction."""

    def __init__(self, items: Sequence[BatchItem], bad: Sequence[BadLine]) -> None:
        self.items = list(items)
        self.bad = list(bad)
        self.hashes = {item.line: url_hash(item.url) for item in items}
        self.fresh = 0

    def refuse(self, refused: Mapping[int, str]) -> None:
        """Reject lines, by line number and reason."""
        if refused:
            self.bad += [refused_line(w, refused[w.line]) for w in self.items if w.line in refused]
            self.items = [item for item in self.items if item.line not in refused]


async def write(
    connection: Connection,
    batch_id: UUID,
    chunk: BatchChunk,
    priority: int,
    frequency: timedelta | None,
) -> None:
    """Write domains, lanes, pages and tasks, locked in the order of a flush."""
    if not chunk.items:
        return
    domains = await _approved(connection, chunk)
    await _fit(connection, chunk, domains)
    if not chunk.items:
        return
    hosts = await _hosts(connection, chunk, domains)
    await lanes.lock(connection, set(hosts.values()))
    items = chunk.items
    ids = [hosts[item.url.authority] for item in items]
    hashes = [chunk.hashes[item.line] for item in items]
    kinds = [item.kind for item in items]
    chunk.fresh = await connection.fetchval(
        ADD_PAGES,
        ids,
        hashes,
        [w.url.href for w in items],
        kinds,
        [_category(w) for w in items],
    )
    await connection.execute(
        ADD_TASKS,
        batch_id,
        ids,
        hashes,
        kinds,
        [_priority_of(item, priority) for item in items],
        [item.frequency or frequency for item in items],
        [item.line for item in items],
    )


def _priority_of(item: BatchItem, usual: int) -> int:
    if item.kind == "sitemap":
        return SITEMAP_PRIORITY
    return usual if item.priority is None else item.priority


async def _approved(connection: Connection, chunk: BatchChunk) -> dict[str, Any]:
    """The approved domains by host name; lines of other domains are rejected."""
    names = {item.url.host: registrable_domain(item.url.host) for item in chunk.items}
    wanted = sorted({name for name in names.values() if name is not None})
    rows = {row["domain"]: row for row in await connection.fetch(DOMAINS, wanted)}
    objections = {name: _objection(name, rows.get(name or "")) for name in names.values()}
    chunk.refuse({w.line: reason for w in chunk.items if (reason := objections[names[w.url.host]])})
    return {host: rows[name] for host, name in names.items() if name in rows}


async def _fit(connection: Connection, chunk: BatchChunk, domains: dict[str, Any]) -> None:
    """Reject pages beyond their domain's budget."""
    given = [(_page(item, chunk, domains), item) for item in chunk.items]
    _, refused = await pages.admit(connection, [page for page, _ in given])
    spent = {(page.host, page.url_hash) for page in refused}
    chunk.refuse(
        {
            item.line: f"all {row['page_budget']} pages of the budget of {row['domain']} are known"
            for page, item in given
            if (page.host, page.url_hash) in spent
            for row in [domains[item.url.host]]
        }
    )


async def _hosts(
    connection: Connection, chunk: BatchChunk, domains: dict[str, Any]
) -> dict[str, int]:
    """Ids of all hosts; new ones are created with the task to read their robots.txt first."""
    first = {item.url.authority: item for item in chunk.items}
    known = {row["host"]: row for row in await connection.fetch(HOSTS, list(first))}
    hosts = {name: row["id"] for name, row in known.items()}
    new = {name: _page(item, chunk, domains) for name, item in first.items() if name not in known}
    if new:
        hosts |= await pages.open_hosts(connection, dict(sorted(new.items())))
    for name, row in known.items():
        domain_id = domains[first[name].url.host]["id"]
        if row["domain_id"] != domain_id:  # known only for another host's robots.txt
            await lanes.open_host(connection, domain_id, name)
            robots = parse(f"{first[name].url.origin}/robots.txt")
            assert robots is not None
            await tasks.add_robots(connection, row["id"], robots)
    return hosts


def refused_line(item: BatchItem, reason: str) -> BadLine:
    return BadLine(item.line, item.text[:MAX_SHOWN], reason)


def _objection(name: str | None, row: Any) -> str | None:
    """Why pages of a domain are rejected, and what to do; None if they are accepted."""
    if name is None:
        return "its host has no registrable domain"
    if row is None:
        return f"{name} is unknown. Submit it: messor domains submit {name}"
    because = f": {row['rejection_reason']}" if row["rejection_reason"] else ""
    return {
        "approved": None,
        "pending_review": f"{name} is awaiting review. Approve it: messor domains approve {name}",
        "suspended": f"{name} is suspended. Approve it again: messor domains approve {name}",
        "rejected": f"{name} was rejected{because}",
        "blacklisted": f"{name} is blacklisted{because}",
    }[row["status"]]


def _page(item: BatchItem, chunk: BatchChunk, domains: dict[str, Any]) -> NewPage:
    domain_id = domains[item.url.host]["id"]
    url = item.url
    return NewPage(
        domain_id,
        url.authority,
        chunk.hashes[item.line],
        url.href,
        "manual",
        0,
        0,
        0,
        kind=item.kind,
    )


def _category(item: BatchItem) -> str | None:
    found = categorise(item.url.path) if item.kind == "page" else None
    return found.name if found else None
