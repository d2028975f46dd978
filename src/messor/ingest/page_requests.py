"""Page requests to workers: tasks made due at the highest priority, watched, and restored.

A lane is always locked before its tasks, as in a flush.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.frontier import tasks
from messor.frontier.categories import categorise
from messor.frontier.depth import UNKNOWN_DEPTH
from messor.frontier.tasks import ASKED_PRIORITY, DEFAULT_PRIORITY, SITEMAP_PRIORITY
from messor.governance import admission
from messor.ingest.runs import LONGEST_RUN_SECONDS
from messor.politeness import lanes
from messor.registry.domains import Domain
from messor.store.database import Connection, Database
from messor.web.urls import Url, parse, url_hash

MODE_SECONDS = 600.0  # how long a mode's pace applies unless renewed
ASSISTED_DELAY = 2.0  # of a lane reopened in spite of its risk

LOCK_DOMAIN = "SELECT FROM messor.domains WHERE id = $1 FOR NO KEY UPDATE"

# Known but not due: the plan decides whether it is fetched.
KNOW = f"""
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, category, depth)
  VALUES ($1, $2, $3, 'manual', $4, {UNKNOWN_DEPTH})
  ON CONFLICT (host_id, url_hash) DO UPDATE SET url = messor.pages.url
  RETURNING id, host_id, xmax = 0 AS fresh
), counted AS (
  UPDATE messor.domains d SET pages_known = d.pages_known + 1
    FROM page p JOIN messor.hosts h ON h.id = p.host_id WHERE d.id = h.domain_id AND p.fresh
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id) SELECT id, host_id FROM page
  ON CONFLICT (page_id) DO NOTHING
)
SELECT id FROM page
"""

KNOW_SITEMAP = f"""
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by) VALUES ($1, $2, $3, 'robots')
  ON CONFLICT (host_id, url_hash) DO NOTHING RETURNING id, host_id
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority)
  SELECT id, host_id, 'sitemap', {SITEMAP_PRIORITY} FROM page
)
INSERT INTO messor.sitemaps (page_id, host_id) SELECT id, host_id FROM page
"""

KNOWN_HOST = "SELECT id FROM messor.hosts WHERE host = $1 AND domain_id = $2"

HOSTS_OF = "SELECT DISTINCT host_id FROM messor.crawl_tasks WHERE page_id = ANY ($1::bigint[])"

# In the given order. What is already due only moves up; what another run fetched meanwhile is
# available, like all good content of the last day.
REQUEST = """
UPDATE messor.crawl_tasks t
   SET due_at = least(t.due_at, messor.clock() - ($2 - w.place) * interval '1 millisecond'),
       priority = least(t.priority, $3), status = 'pending', retry_count = 0
  FROM unnest($1::bigint[]) WITH ORDINALITY AS w (page_id, place)
 WHERE t.page_id = w.page_id AND t.status NOT IN ('paused', 'cancelled')
   AND NOT coalesce(t.last_fetched_at > messor.clock() - interval '24 hours'
                    AND t.outcome IN ('ok', 'unchanged'), false)
RETURNING t.page_id
"""

# Two concurrent runs keep the pace of the slower one.
WAKE = """
UPDATE messor.lanes l
   SET due_at = least(l.due_at, messor.clock()),
       claim_at = CASE WHEN l.worker_id IS NULL THEN greatest(l.ready_at, messor.clock())
                       ELSE l.claim_at END,
       mode_delay = CASE WHEN l.mode_until > messor.clock() THEN greatest(l.mode_delay, $2)
                         ELSE $2 END,
       mode_until = messor.clock() + make_interval(secs => $3),
       assisted_until = CASE WHEN $4 THEN messor.clock() + make_interval(secs => $3)
                             ELSE l.assisted_until END
 WHERE l.host_id = ANY ($1::bigint[])
"""

# A lane closed because of friction may be reopened; one closed at the host's demand may not:
# responses that demand a wait (429, 503) and an unreadable robots.txt.
LIFT = """
WITH shut AS (
  SELECT h.id FROM messor.hosts h JOIN messor.lanes l ON l.host_id = h.id
    LEFT JOIN messor.robots_files r ON r.id = h.robots_id
   WHERE h.id = ANY ($1::bigint[]) AND h.cooldown_until > messor.clock() AND h.refusals = 0
     AND l.worker_id IS NULL AND r.verdict IS DISTINCT FROM 'deny_all'
), opened AS (
  UPDATE messor.hosts h SET cooldown_until = NULL, cooldown_reason = NULL,
         updated_at = messor.clock() FROM shut s WHERE h.id = s.id
)
UPDATE messor.lanes l SET ready_at = messor.clock() + make_interval(secs => $2)
  FROM shut s WHERE l.host_id = s.id
"""

STATES = """
SELECT t.page_id, t.host_id, h.host, p.url, p.category, t.outcome, t.last_status AS status,
       t.snapshot_id, coalesce(t.error_message, t.refusal) AS message,
       coalesce(t.due_at <= c.t, false) AND t.status NOT IN ('paused', 'cancelled') AS pending,
       coalesce(t.last_fetched_at >= $2, false) AS fetched,
       t.refusal IS NOT NULL AS refused,
       coalesce(t.last_fetched_at > c.t - interval '24 hours', false) AS fresh,
       t.outcome IN ('ok', 'unchanged') AND t.snapshot_id IS NOT NULL AS good,
       CASE WHEN t.outcome <> 'redirected' THEN NULL
            WHEN h.https_error IS NOT NULL AND p.url LIKE 'https:%' THEN 'http' || substr(p.url, 6)
            ELSE (SELECT f.final_url FROM messor.http_fetches f WHERE f.page_id = t.page_id
                   ORDER BY f.fetched_at DESC LIMIT 1) END AS location,
       (coalesce(h.cooldown_until > c.t + make_interval(secs => $3), false)
        OR (l.worker_id IS NULL AND l.ready_at > c.t + make_interval(secs => $4))
        OR (NOT coalesce(l.assisted_until > c.t, false)
            AND messor.risk_level(greatest(messor.risk_at(h.risk_score, h.risk_at, c.t),
                         messor.risk_at(m.risk_score, m.risk_at, c.t))) = 'critical')
        OR NOT (d.status = 'approved' AND d.active)) AS silent,
       greatest(l.delay, r.crawl_delay, d.crawl_delay_seconds)::float8 AS delay,
       greatest(messor.risk_at(h.risk_score, h.risk_at, c.t),
                messor.risk_at(m.risk_score, m.risk_at, c.t)) AS risk
  FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id
  JOIN messor.hosts h ON h.id = t.host_id JOIN messor.lanes l ON l.host_id = t.host_id
  JOIN messor.domains d ON d.id = h.domain_id
  LEFT JOIN messor.hosts m ON m.id = d.main_host_id
  LEFT JOIN messor.robots_files r ON r.id = h.robots_id
 CROSS JOIN (SELECT messor.clock() AS t) c
 WHERE t.page_id = ANY ($1::bigint[])
"""

FIND_PAGES = """
SELECT g.ordinality AS place, p.id
  FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS g (host, url_hash, ordinality)
  JOIN messor.hosts h ON h.host = g.host
  JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = g.url_hash
  JOIN messor.crawl_tasks t ON t.page_id = p.id AND t.kind = 'page'
"""

# Runs of other processes whose pages must not be restored here.
OTHERS = """
SELECT r.id FROM messor.ingestion_runs r
 WHERE r.domain_id = $1 AND r.id <> $2 AND r.completed_at IS NULL
   AND r.started_at > messor.clock() - make_interval(secs => $3)
"""

# Of a domain crawled on request only, nothing becomes due again by itself.
RESTORE = f"""
UPDATE messor.crawl_tasks t
   SET due_at = CASE WHEN $2 THEN NULL ELSE t.due_at END,
       priority = CASE WHEN t.priority > {ASKED_PRIORITY} THEN t.priority
                       WHEN t.kind = 'sitemap' THEN {SITEMAP_PRIORITY} ELSE {DEFAULT_PRIORITY} END
 WHERE t.page_id = ANY ($1::bigint[]) AND t.kind <> 'robots'
   AND NOT EXISTS (SELECT FROM messor.ingestion_pages i
                    WHERE i.page_id = t.page_id AND i.run_id = ANY ($3::bigint[]))
"""

SHELVE_SITEMAPS = """
UPDATE messor.crawl_tasks t SET due_at = NULL
  FROM messor.hosts h WHERE h.id = t.host_id AND h.domain_id = $1 AND t.kind = 'sitemap'
   AND t.due_at IS NOT NULL
"""

END_MODE = """
UPDATE messor.lanes SET mode_delay = NULL, mode_until = NULL, assisted_until = NULL
 WHERE host_id = ANY ($1::bigint[])
"""


@dataclass(frozen=True, slots=True)
class RunPace:
    """The pace of a run's lanes."""

    delay: float
    assisted: bool  # a reviewer requested the pages in spite of the risk


@dataclass(frozen=True, slots=True)
class PageState:
    """The state of a page."""

    page_id: int
    host_id: int
    host: str
    url: str
    category: str | None
    outcome: str | None
    status: int | None
    snapshot_id: int | None
    message: str | None
    pending: bool  # still waits for a worker
    fetched: bool  # since the run began
    refused: bool  # by a rule, without a request
    fresh: bool  # fetched within a day
    good: bool
    location: str | None  # where it redirects
    silent: bool  # its host is closed for longer than the caller waits
    delay: float
    risk: float  # of its host or its domain's main host, whichever is higher

    @property
    def is_cached(self) -> bool:
        return self.good and self.fresh

    @property
    def redirects(self) -> bool:
        """Whether it is known to redirect."""
        return self.outcome == "redirected" and self.fresh and self.location is not None

    @property
    def target(self) -> Url | None:
        return parse(self.location, self.url) if self.location else None


async def add(connection: Connection, domain: Domain, url: Url) -> int:
    """A page of the domain, on the frontier but not due; its host's robots.txt comes first."""
    await connection.execute(LOCK_DOMAIN, domain.id)
    url = await lanes.answering(connection, url)
    host_id = await connection.fetchval(KNOWN_HOST, url.authority, domain.id)
    if host_id is None:  # requested first: opening touches its lane, which a flush may hold
        host_id = await lanes.open_host(connection, domain.id, url.authority)
    robots = parse(f"{url.origin}/robots.txt")
    assert robots is not None
    await tasks.add_robots(connection, host_id, robots)
    category = categorise(url.target)
    page_id: int = await connection.fetchval(
        KNOW, host_id, url_hash(url), url.href, category.name if category else None
    )
    return page_id


async def add_sitemap(connection: Connection, host_id: int, url: str) -> None:
    """A sitemap of a known host, on the frontier but not due."""
    await connection.execute(KNOW_SITEMAP, host_id, url_hash(url), url)


async def wake(connection: Connection, host_ids: Sequence[int], pace: RunPace) -> None:
    """Have workers do what is due in these lanes, at the run's pace."""
    await lanes.lock(connection, host_ids)
    await connection.execute(WAKE, host_ids, pace.delay, MODE_SECONDS, pace.assisted)


async def request_pages(connection: Connection, page_ids: Sequence[int], pace: RunPace) -> set[int]:
    """Request pages next, in this order, at the run's pace; returns those that will be fetched."""
    host_ids = [row["host_id"] for row in await connection.fetch(HOSTS_OF, page_ids)]
    await lanes.lock(connection, host_ids)
    requested = await connection.fetch(REQUEST, page_ids, len(page_ids), ASKED_PRIORITY)
    if pace.assisted:
        await connection.execute(LIFT, host_ids, ASSISTED_DELAY)
    await connection.execute(WAKE, host_ids, pace.delay, MODE_SECONDS, pace.assisted)
    return {row["page_id"] for row in requested}


async def states(
    database: Database,
    page_ids: Sequence[int],
    *,
    since: datetime,
    patience: float,
    deadline: float,
) -> dict[int, PageState]:
    """States of pages. `patience` bounds the wait for a closed host, `deadline` for a slow one."""
    rows = await database.fetch(STATES, page_ids, since, patience, deadline)
    return {row["page_id"]: PageState(*row) for row in rows}


async def find_pages(database: Database, urls: Sequence[Url]) -> list[int | None]:
    """The stored pages of URLs, where there are any."""
    rows = await database.fetch(
        FIND_PAGES, [url.authority for url in urls], [url_hash(url) for url in urls]
    )
    found = {row["place"]: row["id"] for row in rows}
    return [found.get(place + 1) for place in range(len(urls))]


async def restore(
    connection: Connection,
    domain_id: UUID,
    run_id: int,
    page_ids: Sequence[int],
    *,
    only_requested: bool,
) -> None:
    """Restore the frontier, except for what was done."""
    others = [
        row["id"] for row in await connection.fetch(OTHERS, domain_id, run_id, LONGEST_RUN_SECONDS)
    ]
    host_ids = [row["host_id"] for row in await connection.fetch(HOSTS_OF, page_ids)]
    await lanes.lock(connection, host_ids)
    await connection.execute(RESTORE, page_ids, only_requested, others)
    if not others:
        await connection.execute(END_MODE, host_ids)
        if only_requested:
            await connection.execute(SHELVE_SITEMAPS, domain_id)


async def settle(connection: Connection, page_ids: Sequence[int]) -> None:
    """Pages of a domain crawled on request only: completed, and not due again."""
    await connection.execute(
        "UPDATE messor.crawl_tasks SET due_at = NULL "
        "WHERE page_id = ANY ($1::bigint[]) AND due_at > messor.clock()",
        page_ids,
    )


async def open_again(connection: Connection, urls: Iterable[Url]) -> None:
    """Retry now the robots.txt of hosts where it could not be fetched."""
    answering = [await lanes.answering(connection, url) for url in urls]
    await lanes.lock_hosts(connection, {url.authority for url in answering})
    for url in answering:
        await admission.ask_robots_again(connection, url)
