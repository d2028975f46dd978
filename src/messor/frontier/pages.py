"""Pages: what is known of a URL and does not change with each fetch; and how links become pages."""

from __future__ import annotations

from collections import Counter
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
"""

# In a statement after, so that a host another worker has just made is seen as well.
HOST_IDS = "SELECT id, host FROM messor.hosts WHERE host = ANY ($1::text[])"

# What is left of domains' budgets; locked, so that it stays true until this flush commits.
BUDGETS = """
SELECT id, greatest(page_budget - pages_known, 0) AS remaining FROM messor.domains
 WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
"""

# Asked only when a budget is nearly spent: then each page must be known or new for certain.
KNOWN = """
SELECT h.host, p.url_hash FROM unnest($1::text[], $2::bytea[]) AS g (host, url_hash)
  JOIN messor.hosts h ON h.host = g.host
  JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = g.url_hash
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
UPDATE messor.domains d SET pages_known = d.pages_known + n.pages
  FROM (SELECT h.domain_id, count(*)::int AS pages
          FROM found f JOIN messor.hosts h ON h.id = f.host_id GROUP BY 1) n
 WHERE d.id = n.domain_id
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
    await connection.execute(
        OPEN_HOSTS,
        [page.domain_id for page in hosts.values()],
        list(hosts),
        robots,
        [url_hash(url) for url in robots],
        ROBOTS_PRIORITY,
    )
    rows = await connection.fetch(HOST_IDS, list(hosts))
    return {row["host"]: row["id"] for row in rows}


async def admit(
    connection: Connection, found: Sequence[NewPage]
) -> tuple[list[NewPage], list[NewPage]]:
    """Which pages fit their domains' budgets, and which do not; pages known already fit."""
    wanted = Counter(page.domain_id for page in found)
    rows = await connection.fetch(BUDGETS, sorted(wanted))
    left = {row["id"]: row["remaining"] for row in rows}
    if all(count <= left.get(domain, 0) for domain, count in wanted.items()):
        return list(found), []
    rows = await connection.fetch(
        KNOWN, [page.host for page in found], [page.url_hash for page in found]
    )
    known = {(row["host"], row["url_hash"]) for row in rows}
    admitted: list[NewPage] = []
    refused: list[NewPage] = []
    for page in found:
        if (page.host, page.url_hash) in known:
            admitted.append(page)
        elif left.get(page.domain_id, 0) > 0:
            left[page.domain_id] -= 1
            admitted.append(page)
        else:
            refused.append(page)
    return admitted, refused


async def add(
    connection: Connection,
    pages: Sequence[NewPage],
    host_ids: Mapping[str, int],
    held: Sequence[int],
) -> None:
    """Put pages on the frontier, due now, and count the new ones towards their budgets.

    Lanes in `held` are the caller's own: giving them back finds what is due.
    """
    await connection.execute(
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


async def refuse_links(connection: Connection, counts: Mapping[tuple[int, str], int]) -> None:
    """Count links that never became pages, by the rule that said no."""
    await connection.execute(
        REFUSE_LINKS,
        [host_id for host_id, _ in counts],
        [rule for _, rule in counts],
        list(counts.values()),
    )
