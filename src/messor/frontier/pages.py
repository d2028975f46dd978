"""Pages: what is known of a URL and does not change with each fetch; and how links become pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from messor.frontier.tasks import DEFAULT_PRIORITY, ROBOTS_PRIORITY
from messor.frontier.transitions import HELD_SQL
from messor.store.database import Connection
from messor.web.urls import url_hash

SITEMAPS = "sitemaps"  # the pattern under which a host's sitemaps are counted
SITEMAP_BUDGET = 2_000
HASH_BYTES = 32

# New hosts of approved domains: host, lane, and first the task to read its robots.txt.
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

# A separate statement, so that a host just created by another worker is seen as well.
HOST_IDS = "SELECT id, host FROM messor.hosts WHERE host = ANY ($1::text[])"

# What is left of domains' budgets; locked until this flush commits.
BUDGETS = """
SELECT id, greatest(page_budget - pages_known, 0) AS remaining FROM messor.domains
 WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
"""

# Queried only when a budget is nearly used up: then it must be certain which pages are new.
KNOWN = """
SELECT h.host, p.url_hash FROM unnest($1::text[], $2::bytea[]) AS g (host, url_hash)
  JOIN messor.hosts h ON h.host = g.host
  JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = g.url_hash
"""

# Pages that differ only in their URLs are passed as one row: URLs in lines, hashes concatenated.
# Array elements cost time on both sides, and most pages are like their neighbours.
ADD = f"""
WITH given AS (
  SELECT g.host_id, u.url, substring(g.hashes FROM (32 * u.n - 31)::int FOR 32) AS url_hash,
         g.found_by, g.found_on, g.depth, g.hops, g.kind, g.category, g.priority, g.lastmod, g.due
    FROM unnest($1::bytea[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::smallint[],
                $7::smallint[], $8::text[], $9::text[], $10::smallint[], $11::timestamptz[],
                $12::bool[])
         AS g (hashes, urls, host_id, found_by, found_on, depth, hops, kind, category, priority,
               lastmod, due)
   CROSS JOIN LATERAL unnest(string_to_array(g.urls, E'\n')) WITH ORDINALITY AS u (url, n)
), found AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, found_on, depth, hops, category,
                            sitemap_lastmod, found_at)
  SELECT host_id, url_hash, url, found_by, found_on, depth, hops, category, lastmod,
         (SELECT messor.clock())
    FROM given ORDER BY host_id, url_hash
  ON CONFLICT (host_id, url_hash) DO NOTHING
  RETURNING id, host_id, url_hash
), nearer AS (
  -- Known pages that a shorter way leads to. Sorted, so that two flushes never block each other.
  SELECT p.id, g.depth, g.due FROM given g
    JOIN messor.pages p ON p.host_id = g.host_id AND p.url_hash = g.url_hash AND p.depth > g.depth
   WHERE g.kind = 'page' AND NOT EXISTS (
         SELECT FROM found f WHERE f.host_id = g.host_id AND f.url_hash = g.url_hash)
   ORDER BY p.id FOR NO KEY UPDATE OF p
), lowered AS (
  UPDATE messor.pages p SET depth = n.depth FROM nearer n WHERE p.id = n.id
), reread AS (
  -- Its links may be followed now: an unchanged response is read once more, and a page that was
  -- beyond its domain's depth is due.
  UPDATE messor.crawl_tasks t
     SET raw_hash = NULL, etag = NULL, last_modified = NULL, wire_tag = NULL,
         due_at = CASE WHEN n.due THEN coalesce(t.due_at, (SELECT messor.clock())) ELSE t.due_at END
    FROM nearer n WHERE t.page_id = n.id AND t.kind = 'page' AND t.status NOT IN ({HELD_SQL})
  RETURNING t.host_id, t.due_at
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at)
  SELECT f.id, f.host_id, g.kind, g.priority, CASE WHEN g.due THEN (SELECT messor.clock()) END
    FROM found f JOIN given g USING (host_id, url_hash)
  RETURNING host_id, kind, due_at
), sitemap AS (
  INSERT INTO messor.sitemaps (page_id, host_id, parent_id, depth)
  SELECT f.id, f.host_id, CASE WHEN g.found_by = 'sitemap' THEN g.found_on END, g.depth
    FROM found f JOIN given g USING (host_id, url_hash) WHERE g.kind = 'sitemap'
), woken AS (
  UPDATE messor.lanes l
     SET due_at = least(l.due_at, messor.clock()),
         claim_at = CASE WHEN l.worker_id IS NULL
                         THEN greatest(l.ready_at, least(l.due_at, messor.clock()))
                         ELSE l.claim_at END
   WHERE l.host_id IN (SELECT host_id FROM task WHERE due_at IS NOT NULL UNION
                       SELECT host_id FROM reread WHERE due_at <= (SELECT messor.clock()))
     AND NOT l.host_id = ANY ($13::bigint[])
)
UPDATE messor.domains d SET pages_known = d.pages_known + n.pages
  FROM (SELECT h.domain_id, count(*)::int AS pages
          FROM task f JOIN messor.hosts h ON h.id = f.host_id WHERE f.kind = 'page' GROUP BY 1) n
 WHERE d.id = n.domain_id
"""

# What a sitemap says about known pages. A date after the last fetch makes the page due, unless it
# is in the future or within an hour of that fetch; a frequency set for the task itself is kept. A
# page that rests after failures is tried again.
DATE = """
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::timestamptz[])
           AS g (host_id, url_hash, lastmod)
), moved AS (
  UPDATE messor.pages p SET sitemap_lastmod = g.lastmod FROM given g
   WHERE p.host_id = g.host_id AND p.url_hash = g.url_hash
     AND p.sitemap_lastmod IS DISTINCT FROM g.lastmod
  RETURNING p.id, g.lastmod
), due AS (
  UPDATE messor.crawl_tasks t SET due_at = (SELECT messor.clock()), rounds = 0 FROM moved m
   WHERE t.page_id = m.id AND t.last_fetched_at < m.lastmod
     AND ((t.status = 'completed' AND t.due_at > (SELECT messor.clock())
           AND t.crawl_frequency IS NULL)
          OR (t.status = 'failed' AND t.due_at IS NULL))
     AND m.lastmod <= (SELECT messor.clock())
     AND t.last_fetched_at < (SELECT messor.clock()) - interval '1 hour'
  RETURNING t.host_id
)
UPDATE messor.lanes l
   SET due_at = least(l.due_at, messor.clock()),
       claim_at = CASE WHEN l.worker_id IS NULL
                       THEN greatest(l.ready_at, least(l.due_at, messor.clock()))
                       ELSE l.claim_at END
 WHERE l.host_id IN (SELECT host_id FROM due)
"""

# Locked, so that two workers never fill the same pattern at the same time.
PATTERNS = """
INSERT INTO messor.url_patterns AS u (host_id, pattern)
SELECT * FROM unnest($1::bigint[], $2::text[]) ORDER BY 1, 2
ON CONFLICT (host_id, pattern) DO UPDATE SET pages = u.pages
RETURNING host_id, pattern, pages
"""

COUNT_PATTERNS = """
UPDATE messor.url_patterns u SET pages = u.pages + g.pages
  FROM unnest($1::bigint[], $2::text[], $3::int[]) AS g (host_id, pattern, pages)
 WHERE u.host_id = g.host_id AND u.pattern = g.pattern
"""

MOVE_MAIN_HOST = """
UPDATE messor.domains d SET main_host_id = g.host_id
  FROM unnest($1::uuid[], $2::bigint[]) AS g (domain_id, host_id) WHERE d.id = g.domain_id
"""

REFUSE_LINKS = """
INSERT INTO messor.refused_links AS r (host_id, rule, links)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[]) ORDER BY 1, 2
ON CONFLICT (host_id, rule) DO UPDATE SET links = r.links + excluded.links
"""


@dataclass(slots=True)
class NewPage:
    """A discovered URL; `host` names its lane, which may not exist yet."""

    domain_id: UUID
    host: str
    url_hash: bytes
    url: str
    found_by: str
    found_on: int
    depth: int
    hops: int
    finder: int = 0  # the host whose page led here
    kind: str = "page"
    category: str | None = None
    priority: int = DEFAULT_PRIORITY
    lastmod: datetime | None = None
    pattern: str | None = None  # of URLs that could be endless
    due: bool = True
    is_main: bool = False  # target of the domain's start page

    def come_nearer(self, other: NewPage) -> None:
        """Take over the shorter way by which the same URL was found."""
        self.depth, self.due = other.depth, self.due or other.due
        self.priority = min(self.priority, other.priority)


# All that is stored of a page except its URL, in the order of the statement.
_likeness = attrgetter(
    "host",
    "found_by",
    "found_on",
    "depth",
    "hops",
    "kind",
    "category",
    "priority",
    "lastmod",
    "due",
)


async def open_hosts(connection: Connection, hosts: Mapping[str, NewPage]) -> dict[str, int]:
    """Ids of newly discovered hosts, by name."""
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
    """Split pages into those that fit their domains' budgets and those that do not; known pages fit."""
    wanted = Counter(page.domain_id for page in found if page.kind == "page")
    if not wanted:
        return list(found), []
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
        if page.kind != "page" or (page.host, page.url_hash) in known:
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
    """Put pages on the frontier, count new ones towards their budgets, note shorter ways to others.

    Lanes in `held` belong to the caller: giving them back finds what is due.
    """
    if not pages:
        return
    # Pages found together are adjacent, so they can be grouped without a look-up for each.
    alike = [(key, list(group)) for key, group in groupby(pages, _likeness)]
    hosts, *others = zip(*[key for key, _ in alike], strict=True)
    await connection.execute(
        ADD,
        [_hashes(group) for _, group in alike],
        [_lines(group) for _, group in alike],
        [host_ids[host] for host in hosts],
        *others,
        held,
    )
    await _date(connection, pages, host_ids)
    main = {page.domain_id: host_ids[page.host] for page in pages if page.is_main}
    if main:
        await connection.execute(MOVE_MAIN_HOST, list(main), list(main.values()))


def _hashes(alike: Sequence[NewPage]) -> bytes:
    hashes = b"".join([page.url_hash for page in alike])
    if len(hashes) != HASH_BYTES * len(alike):
        raise ValueError("a page's key is not the SHA-256 of its URL")
    return hashes


def _lines(alike: Sequence[NewPage]) -> str:
    lines = "\n".join([page.url for page in alike])
    if lines.count("\n") != len(alike) - 1:
        raise ValueError("a URL contains a line break")
    return lines


async def _date(
    connection: Connection, pages: Sequence[NewPage], host_ids: Mapping[str, int]
) -> None:
    dated = [page for page in pages if page.lastmod is not None]
    if dated:
        await connection.execute(
            DATE,
            [host_ids[page.host] for page in dated],
            [page.url_hash for page in dated],
            [page.lastmod for page in dated],
        )


async def admit_patterns(
    connection: Connection, found: Sequence[NewPage], host_ids: Mapping[str, int], budget: int
) -> tuple[list[NewPage], list[NewPage]]:
    """Split pages into those that fit their patterns' budgets and those that are probably traps."""
    keys = sorted({(host_ids[page.host], page.pattern) for page in found if page.pattern})
    if not keys:
        return list(found), []
    rows = await connection.fetch(PATTERNS, [key[0] for key in keys], [key[1] for key in keys])
    pages = {(row["host_id"], row["pattern"]): row["pages"] for row in rows}
    taken: Counter[tuple[int, str]] = Counter()
    admitted: list[NewPage] = []
    refused: list[NewPage] = []
    for page in found:
        key = (host_ids[page.host], page.pattern or "")
        if page.pattern is None:
            admitted.append(page)
        elif pages[key] + taken[key] < (SITEMAP_BUDGET if page.pattern == SITEMAPS else budget):
            taken[key] += 1
            admitted.append(page)
        else:
            refused.append(page)
    await connection.execute(
        COUNT_PATTERNS,
        [host_id for host_id, _ in taken],
        [pattern for _, pattern in taken],
        list(taken.values()),
    )
    return admitted, refused


async def refuse_links(connection: Connection, counts: Mapping[tuple[int, str], int]) -> None:
    """Count links that did not become pages, by the rule that refused them."""
    await connection.execute(
        REFUSE_LINKS,
        [host_id for host_id, _ in counts],
        [rule for _, rule in counts],
        list(counts.values()),
    )
