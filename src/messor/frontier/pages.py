"""Pages: what is known of a URL and does not change with each fetch; and how links become pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from messor.frontier.tasks import DEFAULT_PRIORITY, ROBOTS_PRIORITY
from messor.store.database import Connection
from messor.web.urls import url_hash

# New hosts of approved domains: host, lane, and first of all the task to read its robots.txt.
OPEN_HOSTS = """
WITH given AS (
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[])
           AS g (domain_id, host, robots_url, robots_hash)
), made AS (
  INSERT INTO messor.hosts (domain_id, host) SELECT domain_id, host FROM given ORDER BY host
  ON CONFLICT (host) DO NOTHING RETURNING id, domain_id, host
), lane AS (
  INSERT INTO messor.lanes (host_id, domain_id, due_at, claim_at)
  SELECT id, domain_id, messor.clock(), messor.clock() FROM made
), page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by)
  SELECT m.id, g.robots_hash, g.robots_url, 'robots' FROM made m JOIN given g USING (host)
  RETURNING id, host_id
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at)
  SELECT id, host_id, 'robots', $5, messor.clock() FROM page
)
SELECT id, host FROM made
UNION ALL
SELECT h.id, h.host FROM messor.hosts h JOIN given g ON g.host = h.host
"""

# Adds the candidates to their domains' counts and says how much of the budget is left.
SPEND_BUDGET = """
WITH given AS (SELECT * FROM unnest($1::uuid[], $2::int[]) AS g (id, pages)),
locked AS (
  SELECT d.id FROM messor.domains d JOIN given g USING (id) ORDER BY d.id FOR NO KEY UPDATE OF d
)
UPDATE messor.domains d SET pages_known = d.pages_known + g.pages
  FROM given g JOIN locked USING (id) WHERE d.id = g.id
RETURNING d.id, d.page_budget - d.pages_known AS remaining
"""

ADD = """
WITH found AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, found_on, depth, hops)
  SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::text[], $5::bigint[],
                       $6::smallint[], $7::smallint[]) ORDER BY 1, 2
  ON CONFLICT (host_id, url_hash) DO NOTHING
  RETURNING id, host_id
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, priority, due_at)
  SELECT id, host_id, $8, (SELECT messor.clock()) FROM found
), woken AS (
  UPDATE messor.lanes l
     SET due_at = least(l.due_at, messor.clock()),
         claim_at = CASE WHEN l.worker_id IS NULL
                         THEN greatest(l.ready_at, least(l.due_at, messor.clock()))
                         ELSE l.claim_at END
   WHERE l.host_id IN (SELECT host_id FROM found) AND NOT l.host_id = ANY ($9::bigint[])
)
SELECT h.domain_id, count(*)::int AS pages
  FROM found f JOIN messor.hosts h ON h.id = f.host_id GROUP BY 1
"""

REFUSE_LINKS = """
INSERT INTO messor.refused_links AS r (host_id, rule, links)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[]) ORDER BY 1, 2
ON CONFLICT (host_id, rule) DO UPDATE SET links = r.links + excluded.links
"""


@dataclass(frozen=True, slots=True)
class NewPage:
    """A URL found on the way; `host` names its lane, which may not exist yet."""

    domain_id: UUID
    host: str
    url_hash: bytes
    url: str
    found_by: str
    found_on: int
    depth: int
    hops: int


async def open_hosts(connection: Connection, hosts: Mapping[str, NewPage]) -> dict[str, int]:
    """Ids of hosts that were met for the first time, by name."""
    robots = [f"{page.url.partition('://')[0]}://{host}/robots.txt" for host, page in hosts.items()]
    rows = await connection.fetch(
        OPEN_HOSTS,
        [page.domain_id for page in hosts.values()],
        list(hosts),
        robots,
        [url_hash(url) for url in robots],
        ROBOTS_PRIORITY,
    )
    return {row["host"]: row["id"] for row in rows}


async def spend_budget(connection: Connection, pages: Mapping[UUID, int]) -> dict[UUID, int]:
    """Count pages (or uncount them, below zero) towards their domains' budgets; what is left."""
    ids = sorted(pages)
    rows = await connection.fetch(SPEND_BUDGET, ids, [pages[domain_id] for domain_id in ids])
    return {row["id"]: row["remaining"] for row in rows}


async def add(
    connection: Connection,
    pages: Sequence[NewPage],
    host_ids: Mapping[str, int],
    held: Sequence[int],
) -> dict[UUID, int]:
    """Put pages on the frontier, due now; answers how many were new, by domain.

    Lanes in `held` are the caller's own: giving them back finds what is due.
    """
    rows = await connection.fetch(
        ADD,
        [host_ids[page.host] for page in pages],
        [page.url_hash for page in pages],
        [page.url for page in pages],
        [page.found_by for page in pages],
        [page.found_on for page in pages],
        [page.depth for page in pages],
        [page.hops for page in pages],
        DEFAULT_PRIORITY,
        held,
    )
    return {row["domain_id"]: row["pages"] for row in rows}


async def refuse_links(connection: Connection, counts: Mapping[tuple[int, str], int]) -> None:
    """Count links that never became pages, by the rule that said no."""
    await connection.execute(
        REFUSE_LINKS,
        [host_id for host_id, _ in counts],
        [rule for _, rule in counts],
        list(counts.values()),
    )
