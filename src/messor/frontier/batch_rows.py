"""The rows of a batch: lines of one chunk become pages and tasks of approved domains.

What may not be taken becomes a bad line. One chunk costs a handful of statements, however many
lines, hosts and domains are in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from messor.frontier import pages, tasks
from messor.frontier.batch_lines import SHOWN, BadLine, BatchItem
from messor.frontier.categories import categorise
from messor.frontier.pages import NewPage
from messor.frontier.tasks import SITEMAP_PRIORITY
from messor.politeness import lanes
from messor.store.database import Connection
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse, url_hash

# Locked, so that a domain which is approved now is so until the chunk commits.
DOMAINS = """
SELECT id, domain, status, rejection_reason, page_budget FROM messor.domains
 WHERE domain = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE
"""
HOSTS = "SELECT id, host, domain_id FROM messor.hosts WHERE host = ANY ($1::text[])"

ADD_PAGES = """
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::text[], $5::text[])
           AS g (host_id, url_hash, url, kind, category)
), made AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, category)
  SELECT host_id, url_hash, url, 'manual', category FROM given ORDER BY host_id, url_hash
  ON CONFLICT (host_id, url_hash) DO NOTHING RETURNING id, host_id, url_hash
), reached AS (
  -- Somebody asks for it: a page that is known lies within its domain's reach from now on.
  UPDATE messor.pages p SET depth = d.max_crawl_depth
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

# In a statement after, so that pages which another worker has just found are seen as well. What
# is paused stays so, and is due at once when it is resumed; what was cancelled is asked for anew.
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


class Chunk:
    """Lines on their way into one transaction."""

    def __init__(self, wishes: Sequence[BatchItem], bad: Sequence[BadLine]) -> None:
        self.wishes = list(wishes)
        self.bad = list(bad)
        self.hashes = {wish.line: url_hash(wish.url) for wish in wishes}
        self.fresh = 0

    def refuse(self, refused: Mapping[int, str]) -> None:
        """Turn wishes into bad lines, by their line and the reason."""
        if refused:
            self.bad += [refused_line(w, refused[w.line]) for w in self.wishes if w.line in refused]
            self.wishes = [wish for wish in self.wishes if wish.line not in refused]


async def write(
    connection: Connection, batch_id: UUID, chunk: Chunk, priority: int, frequency: timedelta | None
) -> None:
    """Domains, lanes, pages, tasks: locked in the order of a flush."""
    if not chunk.wishes:
        return
    domains = await _approved(connection, chunk)
    await _fit(connection, chunk, domains)
    if not chunk.wishes:
        return
    hosts = await _hosts(connection, chunk, domains)
    await lanes.lock(connection, set(hosts.values()))
    wishes = chunk.wishes
    ids = [hosts[wish.url.authority] for wish in wishes]
    hashes = [chunk.hashes[wish.line] for wish in wishes]
    kinds = [wish.kind for wish in wishes]
    chunk.fresh = await connection.fetchval(
        ADD_PAGES,
        ids,
        hashes,
        [w.url.href for w in wishes],
        kinds,
        [_category(w) for w in wishes],
    )
    await connection.execute(
        ADD_TASKS,
        batch_id,
        ids,
        hashes,
        kinds,
        [_priority_of(wish, priority) for wish in wishes],
        [wish.frequency or frequency for wish in wishes],
        [wish.line for wish in wishes],
    )


def _priority_of(wish: BatchItem, usual: int) -> int:
    if wish.kind == "sitemap":
        return SITEMAP_PRIORITY
    return usual if wish.priority is None else wish.priority


async def _approved(connection: Connection, chunk: Chunk) -> dict[str, Any]:
    """The approved domains by host name; wishes of others become bad lines."""
    names = {wish.url.host: registrable_domain(wish.url.host) for wish in chunk.wishes}
    wanted = sorted({name for name in names.values() if name is not None})
    rows = {row["domain"]: row for row in await connection.fetch(DOMAINS, wanted)}
    objections = {name: _objection(name, rows.get(name or "")) for name in names.values()}
    chunk.refuse(
        {w.line: reason for w in chunk.wishes if (reason := objections[names[w.url.host]])}
    )
    return {host: rows[name] for host, name in names.items() if name in rows}


async def _fit(connection: Connection, chunk: Chunk, domains: dict[str, Any]) -> None:
    """Refuse pages that go beyond their domain's budget."""
    given = [(_page(wish, chunk, domains), wish) for wish in chunk.wishes]
    _, refused = await pages.admit(connection, [page for page, _ in given])
    spent = {(page.host, page.url_hash) for page in refused}
    chunk.refuse(
        {
            wish.line: f"all {row['page_budget']} pages of the budget of {row['domain']} are known"
            for page, wish in given
            if (page.host, page.url_hash) in spent
            for row in [domains[wish.url.host]]
        }
    )


async def _hosts(connection: Connection, chunk: Chunk, domains: dict[str, Any]) -> dict[str, int]:
    """Ids of all hosts; new ones are made, with the task to read their robots.txt first."""
    first = {wish.url.authority: wish for wish in chunk.wishes}
    known = {row["host"]: row for row in await connection.fetch(HOSTS, list(first))}
    hosts = {name: row["id"] for name, row in known.items()}
    new = {name: _page(wish, chunk, domains) for name, wish in first.items() if name not in known}
    if new:
        hosts |= await pages.open_hosts(connection, dict(sorted(new.items())))
    for name, row in known.items():
        domain_id = domains[first[name].url.host]["id"]
        if row["domain_id"] != domain_id:  # it was known for another's robots.txt
            await lanes.open_host(connection, domain_id, name)
            robots = parse(f"{first[name].url.origin}/robots.txt")
            assert robots is not None
            await tasks.add_robots(connection, row["id"], robots)
    return hosts


def refused_line(wish: BatchItem, reason: str) -> BadLine:
    return BadLine(wish.line, wish.text[:SHOWN], reason)


def _objection(name: str | None, row: Any) -> str | None:
    """Why a domain's pages are not taken, and what to do; None when they are."""
    if name is None:
        return "its host has no registrable domain"
    if row is None:
        return f"{name} is not known. Submit it: messor domains submit {name}"
    because = f": {row['rejection_reason']}" if row["rejection_reason"] else ""
    return {
        "approved": None,
        "pending_review": f"{name} waits for review. Approve it: messor domains approve {name}",
        "suspended": f"{name} is suspended. Approve it again: messor domains approve {name}",
        "rejected": f"{name} was rejected{because}",
        "blacklisted": f"{name} is blacklisted{because}",
    }[row["status"]]


def _page(wish: BatchItem, chunk: Chunk, domains: dict[str, Any]) -> NewPage:
    domain_id = domains[wish.url.host]["id"]
    url = wish.url
    return NewPage(
        domain_id,
        url.authority,
        chunk.hashes[wish.line],
        url.href,
        "manual",
        0,
        0,
        0,
        kind=wish.kind,
    )


def _category(wish: BatchItem) -> str | None:
    found = categorise(wish.url.path) if wish.kind == "page" else None
    return found.name if found else None
