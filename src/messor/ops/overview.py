"""Current activity in figures: requests, workers, queued work, risk, next runs.

Every statement is bounded and counts in the database; charts use rolled-up data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from messor.fetch.proxies.registry import FAILING
from messor.store.database import Connection, Database

MINUTES = 60
MOST_DUE = 10_000  # maximum tasks counted; more are shown as "at least"

# Minutes are rolled up except for the last ones, which are counted in the log.
RATES = f"""
WITH span AS MATERIALIZED (
  SELECT n.now, n.now - interval '{MINUTES} minutes' AS since,
         greatest(r.rolled_until, n.now - interval '{MINUTES} minutes') AS rolled_until
    FROM messor.fetch_rollup r CROSS JOIN (SELECT messor.clock() AS now) n
)
SELECT floor(extract(epoch FROM s.now - c.at) / 60)::int AS minutes_ago, c.outcome,
       sum(c.fetches)::int AS fetches
  FROM span s CROSS JOIN (
    SELECT m.minute AS at, m.outcome, m.fetches FROM messor.fetch_minutes m
     WHERE m.minute > (SELECT since FROM span) AND m.minute < (SELECT rolled_until FROM span)
    UNION ALL
    SELECT date_trunc('minute', f.fetched_at), f.outcome, count(*)::int
      FROM messor.http_fetches f
     WHERE f.fetched_at >= (SELECT rolled_until FROM span) AND f.fetched_at <= (SELECT now FROM span)
     GROUP BY 1, 2) c
 GROUP BY 1, 2
"""

# Only due lanes have due tasks, and each is found by its key.
WAITING = f"""
SELECT (SELECT count(*) FROM messor.lanes l WHERE l.worker_id IS NOT NULL)::int AS lanes_held,
       (SELECT count(*) FROM messor.lanes l JOIN messor.domains d ON d.id = l.domain_id
         WHERE l.worker_id IS NULL AND l.claim_at <= (SELECT messor.clock())
           AND d.status = 'approved' AND d.active)::int AS lanes_waiting,
       (SELECT count(*) FROM (
          SELECT FROM messor.lanes l JOIN messor.domains d ON d.id = l.domain_id
           CROSS JOIN generate_series(0, 10) AS p (priority)
            JOIN messor.crawl_tasks t ON t.host_id = l.host_id AND t.priority = p.priority
                                     AND t.due_at <= (SELECT messor.clock())
           WHERE l.due_at <= (SELECT messor.clock()) AND d.status = 'approved' AND d.active
           LIMIT $1) due)::int AS tasks_due,
       (SELECT count(*) FROM messor.jobs WHERE state = 'queued')::int AS jobs_queued,
       (SELECT count(*) FROM messor.jobs WHERE state = 'running')::int AS jobs_running,
       (SELECT count(*) FROM messor.jobs WHERE state = 'dead')::int AS jobs_dead,
       (SELECT coalesce(sum(pages_known), 0) FROM messor.domains)::bigint AS pages_known,
       (SELECT count(*) FROM messor.domains WHERE status = 'approved')::int AS domains_approved,
       (SELECT count(*) FROM messor.worker_leases
         WHERE ended_at IS NULL AND expires_at > (SELECT messor.clock()))::int AS workers,
       EXISTS (SELECT FROM messor.standstill) AS stands_still,
       (SELECT count(*) FROM messor.proxies)::int AS proxies,
       (SELECT count(*) FROM messor.proxies WHERE {FAILING})::int AS proxies_failing
"""

VISITED = """
SELECT h.host, d.domain, l.claimed_at, l.delay, w.name AS worker
  FROM messor.lanes l JOIN messor.hosts h ON h.id = l.host_id
  JOIN messor.domains d ON d.id = l.domain_id
  LEFT JOIN messor.worker_leases w ON w.id = l.worker_id
 WHERE l.worker_id IS NOT NULL ORDER BY l.claimed_at DESC LIMIT $1
"""

# A score loses a tenth each day: after 16 days none is above the lowest level.
RISKY = """
SELECT h.host, d.domain, r.risk, h.cooldown_until, h.cooldown_reason
  FROM messor.hosts h JOIN messor.domains d ON d.id = h.domain_id
 CROSS JOIN LATERAL (SELECT messor.risk_at(h.risk_score, h.risk_at, (SELECT messor.clock())) AS risk) r
 WHERE messor.risk_level(h.risk_score) <> 'low' AND h.risk_at > (SELECT messor.clock()) - interval '16 days' AND messor.risk_level(r.risk) <> 'low'
 ORDER BY r.risk DESC, h.host LIMIT $1
"""

NEXT = """
SELECT name, next_run_at, last_run_at, last_outcome FROM messor.schedules
 WHERE enabled AND next_run_at IS NOT NULL ORDER BY next_run_at LIMIT $1
"""


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """Queued work, and who performs it."""

    lanes_held: int
    lanes_waiting: int
    tasks_due: int  # MOST_DUE means that many or more
    jobs_queued: int
    jobs_running: int
    jobs_dead: int
    pages_known: int
    domains_approved: int
    workers: int
    stands_still: bool
    proxies: int
    proxies_failing: int


@dataclass(frozen=True, slots=True)
class Visited:
    """A host that is being visited."""

    host: str
    domain: str
    claimed_at: datetime
    delay: float
    worker: str | None


@dataclass(frozen=True, slots=True)
class Risky:
    """A host with a raised risk."""

    host: str
    domain: str
    risk: float
    cooldown_until: datetime | None
    cooldown_reason: str | None


@dataclass(frozen=True, slots=True)
class NextRun:
    """An orchestrator's next scheduled run, and its last result."""

    name: str
    next_run_at: datetime
    last_run_at: datetime | None
    last_outcome: str | None


@dataclass(frozen=True, slots=True)
class RequestRates:
    """Requests of the last hour: by minute, oldest first, and by outcome."""

    by_minute: list[int] = field(default_factory=lambda: [0] * MINUTES)
    by_outcome: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return sum(self.by_minute)


async def rates(source: Connection | Database) -> RequestRates:
    found = RequestRates()
    for row in await source.fetch(RATES):
        minute = MINUTES - 1 - min(row["minutes_ago"], MINUTES - 1)
        found.by_minute[minute] += row["fetches"]
        so_far = found.by_outcome.get(row["outcome"], 0)
        found.by_outcome[row["outcome"]] = so_far + row["fetches"]
    return found


async def waiting(source: Connection | Database) -> WaitingWork:
    row = await source.fetchrow(WAITING, MOST_DUE)
    assert row is not None
    return WaitingWork(**row)


async def visited(source: Connection | Database, limit: int = 8) -> list[Visited]:
    """Hosts whose visits began last."""
    return [Visited(*row) for row in await source.fetch(VISITED, limit)]


async def risky(source: Connection | Database, limit: int = 6) -> list[Risky]:
    """Hosts above the lowest risk level, riskiest first."""
    return [Risky(*row) for row in await source.fetch(RISKY, limit)]


async def next_runs(source: Connection | Database, limit: int = 6) -> list[NextRun]:
    return [NextRun(*row) for row in await source.fetch(NEXT, limit)]
