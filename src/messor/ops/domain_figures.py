"""One domain in figures over time: outcomes and risk by day, its newest requests, its robots.txt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from messor.store.database import Connection, Database

DAYS = 30
MOST_HOSTS = 20

OUTCOMES = """
SELECT (f.fetched_at AT TIME ZONE 'UTC')::date AS day, f.outcome, count(*)::int AS fetches
  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
  JOIN messor.http_fetches f ON f.page_id = p.id
 WHERE h.domain_id = $1
   AND f.fetched_at >= date_trunc('day', (SELECT messor.clock())) - make_interval(days => $2 - 1)
 GROUP BY 1, 2
"""

# The highest score of a day: met on it, or left from the days before.
RISK = """
WITH days AS (
  SELECT d AS day FROM generate_series(
    date_trunc('day', (SELECT messor.clock())) - make_interval(days => $2 - 1),
    date_trunc('day', (SELECT messor.clock())), interval '1 day') d
), hosts AS (SELECT id FROM messor.hosts WHERE domain_id = $1 ORDER BY risk_score DESC, id LIMIT $3)
SELECT (d.day AT TIME ZONE 'UTC')::date AS day, coalesce(max(s.score), 0)::float8 AS risk
  FROM days d LEFT JOIN hosts h ON true
  LEFT JOIN LATERAL (
    SELECT greatest(
      (SELECT max(f.score) FROM messor.friction_log f WHERE f.host_id = h.id
          AND f.occurred_at >= d.day AND f.occurred_at < d.day + interval '1 day'),
      (SELECT messor.risk_at(f.score, f.occurred_at, d.day) FROM messor.friction_log f
        WHERE f.host_id = h.id AND f.occurred_at < d.day
        ORDER BY f.occurred_at DESC LIMIT 1)) AS score) s ON true
 GROUP BY d.day ORDER BY d.day
"""

FETCHES = """
SELECT f.fetched_at, p.id AS page_id, p.url, f.outcome, f.status_code, f.size, f.duration_ms,
       f.waited_ms, f.delay_ms, f.fetch_provider, f.quality_gate_failed, f.rule, f.robots_id,
       f.error_json ->> 'message' AS error
  FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
 CROSS JOIN LATERAL (
   SELECT * FROM messor.http_fetches x
    WHERE x.page_id = p.id AND ($2::timestamptz IS NULL OR x.fetched_at < $2)
      AND ($3::text IS NULL OR x.outcome = $3)
    ORDER BY x.fetched_at DESC LIMIT $4) f
 WHERE h.domain_id = $1 ORDER BY f.fetched_at DESC LIMIT $4
"""

ROBOTS = """
SELECT r.id, h.host, r.verdict, r.reason, r.status_code, r.crawl_delay, r.fetched_at, r.body
  FROM messor.robots_files r JOIN messor.hosts h ON h.id = r.host_id
 WHERE r.id = ANY (SELECT robots_id FROM messor.hosts WHERE domain_id = $1 ORDER BY id LIMIT $2)
 ORDER BY h.id
"""


@dataclass(frozen=True, slots=True)
class DayOutcomes:
    """What came of one day's requests."""

    day: date
    outcome: str
    fetches: int


@dataclass(frozen=True, slots=True)
class DayRisk:
    """The highest risk of one day."""

    day: date
    risk: float


@dataclass(frozen=True, slots=True)
class Request:
    """One line of the fetch log."""

    fetched_at: datetime
    page_id: int
    url: str
    outcome: str
    status_code: int | None
    size: int | None
    duration_ms: int
    waited_ms: int
    delay_ms: int | None
    fetch_provider: str
    quality_gate_failed: str | None
    rule: str
    robots_id: int | None
    error: str | None


@dataclass(frozen=True, slots=True)
class RobotsInForce:
    """A robots.txt as it was read, and what follows from it."""

    id: int
    host: str
    verdict: str
    reason: str
    status_code: int | None
    crawl_delay: float | None
    fetched_at: datetime
    body: bytes


async def outcomes(
    source: Connection | Database, domain_id: UUID, days: int = DAYS
) -> list[DayOutcomes]:
    """Requests by day and outcome; days without any are left out."""
    return [DayOutcomes(*row) for row in await source.fetch(OUTCOMES, domain_id, days)]


async def risk(source: Connection | Database, domain_id: UUID, days: int = DAYS) -> list[DayRisk]:
    """The risk of each day, of whichever host was highest."""
    return [DayRisk(*row) for row in await source.fetch(RISK, domain_id, days, MOST_HOSTS)]


async def fetches(
    source: Connection | Database,
    domain_id: UUID,
    *,
    before: datetime | None = None,
    outcome: str | None = None,
    limit: int = 50,
) -> list[Request]:
    """The newest requests first; `before` is when the last one seen was sent."""
    rows = await source.fetch(FETCHES, domain_id, before, outcome, limit)
    return [Request(*row) for row in rows]


async def robots(source: Connection | Database, domain_id: UUID) -> list[RobotsInForce]:
    """The robots.txt in force for each of a domain's hosts."""
    return [RobotsInForce(*row) for row in await source.fetch(ROBOTS, domain_id, MOST_HOSTS)]
