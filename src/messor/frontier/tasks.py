"""Crawl tasks: what is to be done about a page and when, and its last result.

Due tasks are ordered by urgency: the stored priority, raised by cheap signs of popularity, by
recent failure and by staleness.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from asyncpg import Record

from messor.frontier.depth import UNKNOWN_DEPTH
from messor.frontier.runs import WAKE, RunTask
from messor.frontier.transitions import BEYOND_SQL, HELD_SQL
from messor.politeness import lanes
from messor.store.database import Connection, Database
from messor.web.urls import Url, url_hash

ROBOTS_PRIORITY = 0  # before everything people can request
ASKED_PRIORITY = 1  # a person is waiting for it
SITEMAP_PRIORITY = 2
DEFAULT_PRIORITY = 5
LOWEST_PRIORITY = 10
POPULAR_DEPTH = 1  # pages this near the start page are linked from most others

DAY = 86_400.0
SHORTEST_FREQUENCY = 60.0
TRACK_LEVELS = {"A": DAY, "B": 7 * DAY, "C": 30 * DAY, "D": 91 * DAY}

# One index probe per priority and lane: tasks that are not due are never read.
DUE = """
SELECT t.page_id, t.host_id, t.kind, t.priority, p.url, p.depth, p.hops, t.retry_count,
       t.max_retries, t.crawl_frequency, t.outcome, t.snapshot_id, t.raw_hash, t.etag,
       t.last_modified, t.refusal, t.provider, t.deaths, t.history, d.track_level, d.track_interval, t.wire_tag,
       p.found_by = 'manual' AS is_named, t.waits, t.next_provider, t.shell_hash, t.rounds,
       d.scrape_frequency_hours, t.due_at, (SELECT messor.clock()) AS now,
       p.sitemap_lastmod IS NOT NULL OR p.found_by = 'sitemap' AS listed
  FROM unnest($1::bigint[]) AS lane (host_id)
  JOIN messor.hosts h ON h.id = lane.host_id JOIN messor.domains d ON d.id = h.domain_id
 CROSS JOIN generate_series(0, 10) AS rank (priority)
 CROSS JOIN LATERAL (
   SELECT * FROM messor.crawl_tasks t
    WHERE t.host_id = lane.host_id AND t.priority = rank.priority
      AND t.due_at <= (SELECT messor.clock()) + make_interval(secs => $3)
    ORDER BY t.due_at LIMIT $2) t
  JOIN messor.pages p ON p.id = t.page_id
"""

# A known page is made due again instead (a seed requested twice); a paused one stays paused and is
# due once resumed.
ADD = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, depth) VALUES ($1, $2, $3, $4, $7)
  ON CONFLICT (host_id, url_hash) DO UPDATE SET depth = least(messor.pages.depth, excluded.depth)
  RETURNING id, host_id, xmax = 0 AS fresh
), counted AS (
  UPDATE messor.domains d SET pages_known = d.pages_known + 1
    FROM page p JOIN messor.hosts h ON h.id = p.host_id WHERE d.id = h.domain_id AND p.fresh
), task AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, kind, priority, due_at)
  SELECT id, host_id, $5, $6, messor.clock() FROM page
  ON CONFLICT (page_id) DO UPDATE
     SET due_at = CASE WHEN messor.crawl_tasks.status <> 'paused' THEN messor.clock() END,
         held_due_at = CASE WHEN messor.crawl_tasks.status = 'paused' THEN messor.clock() END,
         status = CASE WHEN messor.crawl_tasks.status = 'paused' THEN 'paused' ELSE 'pending' END,
         priority = excluded.priority, retry_count = 0, rounds = 0
  RETURNING page_id, host_id, due_at
), lane AS (
  UPDATE messor.lanes l SET due_at = least(l.due_at, t.due_at),
         claim_at = CASE WHEN l.worker_id IS NULL
                         THEN greatest(l.ready_at, least(l.due_at, t.due_at)) ELSE l.claim_at END
    FROM task t WHERE l.host_id = t.host_id AND t.due_at IS NOT NULL
)
SELECT page_id FROM task
"""


# A request to crawl everything again. Cancelled and paused tasks stay as they are, as do pages
# beyond the domain's depth that only a run reached.
RECRAWL = f"""
WITH due AS (
  UPDATE messor.crawl_tasks t SET due_at = messor.clock(), status = 'pending', retry_count = 0,
         rounds = 0
    FROM messor.hosts h
   WHERE h.id = t.host_id AND ($1::uuid[] IS NULL OR h.domain_id = ANY ($1))
     AND t.kind = 'page' AND t.status NOT IN ({HELD_SQL}) AND NOT ({BEYOND_SQL})
  RETURNING t.host_id
), woken AS (
  {WAKE}
)
SELECT count(*) FROM due
"""

# Only if the host has none yet: a known robots.txt keeps its own schedule.
ADD_ROBOTS = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by) VALUES ($1, $2, $3, 'robots')
  ON CONFLICT (host_id, url_hash) DO UPDATE SET url = messor.pages.url RETURNING id, host_id
)
INSERT INTO messor.crawl_tasks AS t (page_id, host_id, kind, priority, due_at)
SELECT id, host_id, 'robots', $4, messor.clock() FROM page
ON CONFLICT (page_id) DO UPDATE SET due_at = messor.clock()
 -- Read for another host before this one was of interest: nothing applies here.
 WHERE (SELECT CASE WHEN coalesce(scheme, $5) = $5 THEN robots_id ELSE other_robots_id END IS NULL
          FROM messor.hosts WHERE id = $1) AND t.due_at > messor.clock()
"""

# The same for a worker restricted to one run; every robots.txt comes first.
DUE_OF_RUN = DUE.replace(
    "make_interval(secs => $3)",
    """make_interval(secs => $3)
      AND (t.kind = 'robots'
           OR t.page_id IN (SELECT k.page_id FROM messor.crawl_run_tasks($4::uuid) k))""",
)


@dataclass(slots=True)
class Task:
    """One page's task, as loaded for a visit."""

    page_id: int
    host_id: int
    kind: str
    priority: int
    url: str
    depth: int
    hops: int
    retry_count: int
    max_retries: int
    crawl_frequency: timedelta | None
    outcome: str | None
    snapshot_id: int | None
    raw_hash: bytes | None
    etag: str | None
    last_modified: str | None
    refusal: str | None
    provider: str | None = None  # provider of the newest good content, if not HTTP
    deaths: int = 0  # workers it crashed
    history: int = 1  # see frontier.cadence
    track_level: str | None = None  # of its domain
    track_interval: timedelta | None = None  # of the level, if its vertical has its own
    wire_tag: int | None = None  # of the bytes of its last good response, see fetch.wire
    is_named: bool = False  # requested by a person
    waits: int = 0  # consecutive, for a provider that was not available
    next_provider: str | None = None  # tried first, in place of HTTP
    shell_hash: bytes | None = None  # of the response that `provider` was needed for
    rounds: int = 0  # consecutive, that failed for good
    turns: tuple[RunTask, ...] = ()  # its part in open runs

    @property
    def ahead(self) -> int:
        """How many links further a run goes from here."""
        return max((turn.ahead for turn in self.turns), default=0)

    def take_part(self, turns: tuple[RunTask, ...]) -> None:
        """Do this task for runs; following a page needs its links, so it is fetched unconditionally."""
        self.turns = turns
        if self.ahead > 0:
            self.etag = self.last_modified = self.wire_tag = None
            self.raw_hash = self.shell_hash = None


FIELDS = len(Task.__slots__) - 1  # validators loaded with it


def seconds_of(interval: timedelta | None) -> float | None:
    return None if interval is None else interval.total_seconds()


def base_frequency(
    own: float | None,
    track_level: str | None,
    domain: float | None,
    track_interval: float | None = None,
) -> float:
    """Seconds between two crawls: the first that is set; `messor.base_frequency` in SQL."""
    if own is not None:
        return own
    if track_level is not None and track_interval is not None:
        return track_interval
    if track_level is not None:
        return TRACK_LEVELS[track_level]
    return domain or DAY


def urgency(priority: int, *, depth: int, listed: bool, retry_count: int, lateness: float) -> int:
    """The effective priority of a page: raised, but never to that of a waiting person.

    Inbound links are not counted; pages near the start page or listed in a sitemap count as
    popular. `lateness` is how long it is overdue, in its own intervals: each doubling raises it,
    so that nothing waits forever.
    """
    if priority <= ASKED_PRIORITY:
        return priority
    raised = (depth <= POPULAR_DEPTH or listed) + (retry_count > 0)
    raised += int(math.log2(1.0 + max(lateness, 0.0)))
    return max(priority - raised, ASKED_PRIORITY + 1)


def _turn(row: Record) -> tuple[int, int, datetime, int]:
    """Sort key of a lane's due tasks."""
    priority: int = row["priority"]
    if row["kind"] == "page":
        priority = urgency(
            priority,
            depth=row["depth"],
            listed=row["listed"],
            retry_count=row["retry_count"],
            lateness=_lateness(row),
        )
    return priority, row["priority"], row["due_at"], row["page_id"]


def _lateness(row: Record) -> float:
    """How long a task is overdue, in its own intervals."""
    overdue: float = (row["now"] - row["due_at"]).total_seconds()
    if overdue < SHORTEST_FREQUENCY:
        return 0.0
    own, hours = row["crawl_frequency"], row["scrape_frequency_hours"]
    return overdue / base_frequency(
        seconds_of(own),
        row["track_level"],
        hours * 3600.0 if hours else None,
        seconds_of(row["track_interval"]),
    )


async def due(
    database: Database,
    host_ids: Sequence[int],
    limit: int,
    look_ahead: float,
    run_id: UUID | None = None,
) -> dict[int, list[Task]]:
    """The due tasks of lanes, most urgent first, at most `limit` each; optionally of one run only."""
    tasks: dict[int, list[Task]] = defaultdict(list)
    if run_id is None:
        rows = await database.fetch(DUE, host_ids, limit, look_ahead)
    else:
        rows = await database.fetch(DUE_OF_RUN, host_ids, limit, look_ahead, run_id)
    for row in sorted(rows, key=_turn):
        lane = tasks[row["host_id"]]
        if len(lane) < limit:
            lane.append(Task(*tuple(row)[:FIELDS]))
    return tasks


async def add(
    connection: Connection,
    host_id: int,
    url: Url,
    *,
    found_by: str,
    kind: str = "page",
    priority: int = DEFAULT_PRIORITY,
) -> int:
    """Put one URL on the frontier, due now; return its page id.

    A seed is its domain's homepage; how far from it another page is, nobody knows yet.
    """
    depth = UNKNOWN_DEPTH if found_by == "manual" else 0
    page_id: int = await connection.fetchval(
        ADD, host_id, url_hash(url), url.href, found_by, kind, priority, depth
    )
    return page_id


async def add_robots(connection: Connection, host_id: int, url: Url) -> None:
    """Add the task that reads a host's robots.txt, before anything else and then daily."""
    await connection.execute(
        ADD_ROBOTS, host_id, url_hash(url), url.href, ROBOTS_PRIORITY, url.scheme
    )


async def recrawl(connection: Connection, domain_ids: Sequence[UUID] | None = None) -> int:
    """Make every page of domains (by default all) due now; return how many."""
    await lanes.lock_domains(connection, domain_ids)  # lanes before tasks, as in a flush
    pages: int = await connection.fetchval(RECRAWL, domain_ids)
    return pages
