"""Crawl runs: one crawl of a domain from a start URL, with its own limits.

Which pages belong to a bounded run, and their distance from the start URL, is stored beside the
frontier; the domain's terms are unchanged. A fresh page belongs to a run without being fetched for
it. Any worker may do a run's tasks while the run is open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from messor.core.ids import new_id
from messor.frontier.transitions import BEYOND_SQL, HELD_SQL
from messor.store.database import Connection, Database

ALIVE_SECONDS = 60.0  # how long a run counts as open after its command was last seen
COLUMNS = """id, domain_id, url, page_id, started_by, bounded, sitemaps, max_depth, max_pages, delay, refetch,
       status, started_at, ended_at, left_out, scope::text AS scope"""

START = f"""
INSERT INTO messor.crawl_runs (id, domain_id, url, page_id, started_by, bounded, max_depth,
                               max_pages, delay, refetch, sitemaps, scope)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb) RETURNING {COLUMNS}
"""

# The same command resumes a run that was stopped or whose process died.
RESUME = f"""
UPDATE messor.crawl_runs SET status = 'running', ended_at = NULL, seen_at = messor.clock()
 WHERE id = (SELECT id FROM messor.crawl_runs
              WHERE domain_id = $1 ORDER BY started_at DESC LIMIT 1)
   AND (status = 'interrupted' OR (status = 'running'
        AND seen_at < messor.clock() - make_interval(secs => {ALIVE_SECONDS})))
   AND url = ANY ($2::text[]) AND max_depth IS NOT DISTINCT FROM $3 AND max_pages IS NOT DISTINCT FROM $4
   AND delay IS NOT DISTINCT FROM $5 AND refetch = $6 AND scope IS NOT DISTINCT FROM $7::jsonb
   AND started_at > messor.clock() - interval '7 days'
RETURNING {COLUMNS}
"""

# The lanes of tasks just made due; last part of such a statement.
WAKE = """UPDATE messor.lanes l SET due_at = least(l.due_at, messor.clock()),
       claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, messor.clock())
                       ELSE l.claim_at END
 WHERE l.host_id IN (SELECT host_id FROM due)"""

SEE = "UPDATE messor.crawl_runs SET seen_at = messor.clock() WHERE id = $1"

# A page not fetched since the run began is due for it.
TAKE_UP = f"""
WITH due AS (
  UPDATE messor.crawl_tasks t SET due_at = messor.clock(), status = 'pending', retry_count = 0
    FROM messor.crawl_run_pages m JOIN messor.crawl_runs r ON r.id = m.run_id
   WHERE m.run_id = $1 AND m.fetched AND t.page_id = m.page_id AND t.status NOT IN ({HELD_SQL})
     AND NOT coalesce(t.last_fetched_at >= r.started_at, false)
  RETURNING t.host_id
)
{WAKE}
"""

LOCK = "SELECT FROM messor.crawl_runs WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE"

# Fresh pages are not fetched again: good or gone, and not due yet. Pages beyond `max_pages` are
# counted and left out.
JOIN = f"""
WITH given AS (
  SELECT g.run_id, g.host, g.url_hash, min(g.depth) AS depth
    FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::smallint[])
         AS g (run_id, host, url_hash, depth) GROUP BY 1, 2, 3
), known AS (
  SELECT g.run_id, t.page_id, t.host_id, g.depth, t.due_at, r.max_pages,
         r.refetch OR t.page_id = r.page_id OR t.last_fetched_at IS NULL OR t.outcome IS NULL
           OR t.outcome NOT IN ('ok', 'unchanged', 'not_found', 'redirected')
           -- A page that is never due by itself stays fresh for a day, as without a frequency.
           OR coalesce(t.due_at <= messor.clock(),
                       t.last_fetched_at < messor.clock() - interval '24 hours') AS wanted
    FROM given g JOIN messor.crawl_runs r ON r.id = g.run_id AND r.ended_at IS NULL
    JOIN messor.hosts h ON h.host = g.host AND h.domain_id = r.domain_id
    JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = g.url_hash
    JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
     AND t.status NOT IN ({HELD_SQL})
   WHERE NOT EXISTS (SELECT FROM messor.crawl_run_pages m
                      WHERE m.run_id = g.run_id AND m.page_id = t.page_id)
     AND (r.scope IS NULL OR r.page_id = t.page_id OR messor.run_takes(r.scope, h.host, p.url))
), counted AS (
  SELECT k.*, count(*) FILTER (WHERE k.wanted) OVER (PARTITION BY k.run_id ORDER BY k.page_id)
           + (SELECT count(*) FROM messor.crawl_run_pages m WHERE m.run_id = k.run_id AND m.fetched)
           AS place
    FROM known k
), joined AS (
  INSERT INTO messor.crawl_run_pages (run_id, page_id, depth, fetched, due_before)
  SELECT run_id, page_id, depth, wanted, due_at FROM counted
   WHERE NOT wanted OR max_pages IS NULL OR place <= max_pages
  RETURNING run_id, page_id, fetched
), over AS (
  UPDATE messor.crawl_runs r SET left_out = r.left_out + o.pages
    FROM (SELECT run_id, count(*)::int AS pages FROM counted WHERE wanted AND place > max_pages
           GROUP BY 1) o WHERE r.id = o.run_id
), due AS (
  UPDATE messor.crawl_tasks t SET due_at = messor.clock(), status = 'pending', retry_count = 0
    FROM joined j WHERE j.fetched AND t.page_id = j.page_id
  RETURNING t.host_id
)
{WAKE}
"""

LISTED = """
SELECT h.host, p.url_hash FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
 WHERE h.domain_id = $1 AND (p.found_by = 'sitemap' OR p.sitemap_lastmod IS NOT NULL)
 ORDER BY p.id LIMIT $2
"""
MAX_LISTED = 10_000

# Pages that the domain's frequency would leave for later although they never succeeded: refused by
# a rule, which costs nothing to decide again, failed, or not requested while only requested pages
# were crawled.
RETRY = f"""
WITH due AS (
  UPDATE messor.crawl_tasks t SET due_at = messor.clock(), status = 'pending', retry_count = 0
    FROM messor.hosts h JOIN messor.domains d ON d.id = h.domain_id, messor.pages p
   WHERE h.id = t.host_id AND h.domain_id = $1 AND t.kind = 'page' AND p.id = t.page_id
     AND t.status NOT IN ({HELD_SQL}) AND coalesce(t.due_at > messor.clock(), true)
     AND NOT ({BEYOND_SQL})
     AND (t.refusal IS NOT NULL OR t.outcome IN ('error', 'timeout', 'blocked', 'empty')
          OR (t.outcome IS NULL
              AND (p.depth <= d.max_crawl_depth OR p.found_by = 'manual')))
  RETURNING t.host_id
)
{WAKE}
"""

# A run without limits follows what its domain's depth includes; from a start URL beyond that depth
# it goes as many links as the domain's depth.
TURNS = """
SELECT m.page_id, m.run_id, m.depth,
       CASE WHEN r.bounded THEN r.max_depth - m.depth
            WHEN s.depth > d.max_crawl_depth THEN d.max_crawl_depth - m.depth ELSE 0 END AS ahead
  FROM messor.crawl_run_pages m JOIN messor.crawl_runs r ON r.id = m.run_id
  JOIN messor.domains d ON d.id = r.domain_id JOIN messor.pages s ON s.id = r.page_id
 WHERE m.page_id = ANY ($1::bigint[]) AND m.run_id = ANY ($2::uuid[])
"""

# Tasks of a run still to be done, and those whose lane will be free soon.
STANDING = """
SELECT count(*) AS remaining,
       count(*) FILTER (WHERE l.worker_id IS NOT NULL
                           OR l.claim_at <= messor.clock() + make_interval(secs => $2)) AS waiting
  FROM messor.crawl_run_tasks($1) t
  JOIN messor.lanes l ON l.host_id = t.host_id JOIN messor.domains d ON d.id = l.domain_id
 WHERE t.due_at <= messor.clock() + interval '1 second'
   AND d.status = 'approved' AND d.active
"""

OUTCOMES = """
SELECT coalesce(CASE WHEN t.due_at > messor.clock() OR t.due_at IS NULL
                       OR t.last_fetched_at >= r.started_at OR NOT m.fetched
                     THEN t.outcome END, 'waiting') AS outcome, m.fetched, count(*)::int AS pages
  FROM messor.crawl_run_pages m JOIN messor.crawl_runs r ON r.id = m.run_id
  JOIN messor.crawl_tasks t ON t.page_id = m.page_id
 WHERE m.run_id = $1 GROUP BY 1, 2 ORDER BY 3 DESC
"""

# Pages of a run actually fetched for it; a rule may have refused others.
FETCHED = """
SELECT count(*) FROM messor.crawl_run_pages m JOIN messor.crawl_runs r ON r.id = m.run_id
  JOIN messor.crawl_tasks t ON t.page_id = m.page_id
 WHERE m.run_id = $1 AND m.fetched AND t.last_fetched_at >= r.started_at
"""

# Progress of a run over the whole domain: pages fetched since it began, still due, and those that
# were good or gone and not due yet.
REACHED = """
SELECT count(*) FILTER (WHERE t.last_fetched_at >= $2)::int AS fetched,
       count(*) FILTER (WHERE t.due_at <= messor.clock())::int AS remaining,
       count(*) FILTER (WHERE t.last_fetched_at < $2 AND t.due_at > messor.clock()
                          AND t.refusal IS NULL
                          AND t.outcome IN ('ok', 'unchanged', 'not_found', 'redirected'))::int
         AS fresh
  FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
 WHERE h.domain_id = $1 AND t.kind = 'page'
"""

# Tasks due for this run only return to their previous state.
END = """
WITH ended AS (
  UPDATE messor.crawl_runs SET status = $2, ended_at = messor.clock() WHERE id = $1
  RETURNING id, started_at
)
UPDATE messor.crawl_tasks t SET due_at = m.due_before
  FROM messor.crawl_run_pages m JOIN ended e ON e.id = m.run_id
 WHERE t.page_id = m.page_id AND m.fetched AND t.due_at <= messor.clock()
   AND NOT coalesce(t.last_fetched_at >= e.started_at, false)
   AND (m.due_before IS NULL OR m.due_before > messor.clock())
"""

LEFT_OUT = "SELECT left_out FROM messor.crawl_runs WHERE id = $1"

FRESH = """
SELECT m.page_id, m.depth, p.url, t.host_id, t.snapshot_id, s.content_type, g.name, s.segment_offset,
       s.segment_length
  FROM messor.crawl_run_pages m JOIN messor.crawl_runs r ON r.id = m.run_id
  JOIN messor.crawl_tasks t ON t.page_id = m.page_id JOIN messor.pages p ON p.id = m.page_id
  LEFT JOIN messor.page_snapshots s ON s.id = t.snapshot_id
  LEFT JOIN messor.segments g ON g.id = s.segment_id
 WHERE m.run_id = $1 AND NOT m.fetched AND NOT m.expanded AND m.depth < r.max_depth
   AND t.outcome <> 'not_found'
 ORDER BY m.depth, m.page_id LIMIT 20
"""
FETCH_AGAIN = f"""
WITH member AS (
  UPDATE messor.crawl_run_pages m SET fetched = true, expanded = true
    FROM messor.crawl_runs r
   WHERE m.run_id = $1 AND m.page_id = $2 AND r.id = m.run_id
     AND (r.max_pages IS NULL OR r.max_pages > (SELECT count(*) FROM messor.crawl_run_pages o
                                                 WHERE o.run_id = $1 AND o.fetched))
  RETURNING m.page_id
), passed AS (
  UPDATE messor.crawl_run_pages m SET expanded = true
   WHERE m.run_id = $1 AND m.page_id = $2 AND NOT EXISTS (SELECT FROM member)
), due AS (
  UPDATE messor.crawl_tasks t SET due_at = messor.clock(), status = 'pending', retry_count = 0
    FROM member m WHERE t.page_id = m.page_id RETURNING t.host_id
)
{WAKE}
"""
EXPANDED = "UPDATE messor.crawl_run_pages SET expanded = true WHERE run_id = $1 AND page_id = $2"
RECENT = f"""
SELECT {COLUMNS} FROM messor.crawl_runs WHERE domain_id = $1 ORDER BY started_at DESC LIMIT $2
"""

# Runs that nobody resumes any more.
FORGET = """
DELETE FROM messor.crawl_run_pages m USING messor.crawl_runs r
 WHERE r.id = m.run_id AND r.domain_id = $1 AND r.seen_at < messor.clock() - interval '7 days'
"""


@dataclass(frozen=True, slots=True)
class CrawlRun:
    """One crawl run."""

    id: UUID
    domain_id: UUID
    url: str
    page_id: int
    started_by: str
    bounded: bool  # only pages that joined it are fetched for it
    sitemaps: bool  # pages listed by sitemaps belong to it, one step away
    max_depth: int | None
    max_pages: int | None
    delay: float | None
    refetch: bool
    status: str
    started_at: datetime
    ended_at: datetime | None
    left_out: int
    scope: str | None  # JSON: see messor.run_takes


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits requested for a run."""

    depth: int | None = None
    pages: int | None = None
    delay: float | None = None
    refetch: bool = False
    scope: str | None = None  # JSON: see messor.run_takes
    sitemaps: bool = True


class RunTask(NamedTuple):
    """A task's part in a run: its distance from the start URL, and how much further the run goes."""

    run_id: UUID
    depth: int
    ahead: int


class Join(NamedTuple):
    """A page that a run discovered."""

    run_id: UUID
    host: str
    url_hash: bytes
    depth: int


@dataclass(frozen=True, slots=True)
class RunBacklog:
    """Pages that a run still has to fetch, and those that can be fetched soon."""

    remaining: int
    waiting: int


def is_root(url: str) -> bool:
    return url.count("/") == 3 and url.endswith("/")


async def resume(
    connection: Connection, domain_id: UUID, urls: Sequence[str], limits: RunLimits
) -> CrawlRun | None:
    """The unfinished run of the same command."""
    row = await connection.fetchrow(
        RESUME,
        domain_id,
        urls,
        limits.depth,
        limits.pages,
        limits.delay,
        limits.refetch,
        limits.scope,
    )
    if row is None:
        return None
    run = CrawlRun(**row)
    await connection.execute(TAKE_UP, run.id)
    return run


async def start(
    connection: Connection,
    domain_id: UUID,
    page: tuple[int, str],
    limits: RunLimits,
    *,
    actor: str,
    bounded: bool,
) -> CrawlRun:
    page_id, url = page
    await connection.execute(FORGET, domain_id)
    sitemaps = limits.sitemaps and bounded and (limits.depth or 0) > 0 and is_root(url)
    row = await connection.fetchrow(
        START,
        new_id(),
        domain_id,
        url,
        page_id,
        actor,
        bounded,
        limits.depth,
        limits.pages,
        limits.delay,
        limits.refetch,
        sitemaps,
        limits.scope,
    )
    assert row is not None
    return CrawlRun(**row)


async def see(database: Database, run_id: UUID) -> None:
    """Note that the run's command is alive."""
    await database.fetchval(SEE, run_id)


async def lock(connection: Connection, joins: Iterable[Join]) -> None:
    """Lock the runs that pages are about to join: after their lanes, before any task."""
    run_ids = sorted({each.run_id for each in joins})
    if run_ids:
        await connection.execute(LOCK, run_ids)


async def join(connection: Connection, joins: Iterable[Join]) -> None:
    """Add pages to locked runs, and make them due unless fresh."""
    given = sorted(set(joins))
    if not given:
        return
    await connection.execute(
        JOIN,
        [each.run_id for each in given],
        [each.host for each in given],
        [each.url_hash for each in given],
        [each.depth for each in given],
    )


async def join_listed(connection: Connection, run: CrawlRun) -> None:
    """Add pages known from sitemaps, one step from the homepage."""
    rows = await connection.fetch(LISTED, run.domain_id, MAX_LISTED)
    await join(connection, [Join(run.id, row["host"], row["url_hash"], 1) for row in rows])


async def fetch_again(connection: Connection, run: CrawlRun, page_id: int) -> None:
    """Fetch a fresh page for a run after all, within its limit."""
    await connection.execute(FETCH_AGAIN, run.id, page_id)


async def retry(connection: Connection, domain_id: UUID) -> None:
    """Make refused and failed pages due again."""
    await connection.execute(RETRY, domain_id)


async def turns(
    database: Database, page_ids: Sequence[int], run_ids: Sequence[UUID]
) -> dict[int, tuple[RunTask, ...]]:
    """Which tasks belong to which open runs."""
    found: dict[int, list[RunTask]] = defaultdict(list)
    for row in await database.fetch(TURNS, page_ids, run_ids):
        found[row["page_id"]].append(RunTask(row["run_id"], row["depth"], row["ahead"]))
    return {page_id: tuple(of_page) for page_id, of_page in found.items()}


async def standing(database: Database, run_id: UUID, patience: float) -> RunBacklog:
    row = await database.fetchrow(STANDING, run_id, patience)
    assert row is not None
    return RunBacklog(row["remaining"], row["waiting"])


async def outcomes(database: Database, run: CrawlRun) -> tuple[dict[str, int], int]:
    """The run's pages by outcome, and how many were fresh."""
    rows = await database.fetch(OUTCOMES, run.id)
    found: dict[str, int] = defaultdict(int)
    for row in rows:
        found[row["outcome"]] += row["pages"]
    return dict(found), sum(row["pages"] for row in rows if not row["fetched"])


async def fetched(database: Database, run: CrawlRun) -> int:
    """Number of a bounded run's pages fetched since it began."""
    count: int = await database.fetchval(FETCHED, run.id)
    return count


async def reached(database: Database, run: CrawlRun) -> tuple[int, int, int]:
    """Pages of the domain: fetched since the run began, still due, and fresh."""
    row = await database.fetchrow(REACHED, run.domain_id, run.started_at)
    assert row is not None
    return row["fetched"], row["remaining"], row["fresh"]


async def left_out(database: Database, run: CrawlRun) -> int:
    """Number of links discovered after a run reached its page limit."""
    count: int = await database.fetchval(LEFT_OUT, run.id)
    return count


async def end(connection: Connection, run: CrawlRun, status: str) -> None:
    """End a run as done or interrupted; tasks due only for it are no longer due."""
    await connection.execute(END, run.id, status)


async def recent(database: Database, domain_id: UUID, limit: int = 5) -> list[CrawlRun]:
    """The newest runs of a domain."""
    return [CrawlRun(**row) for row in await database.fetch(RECENT, domain_id, limit)]
