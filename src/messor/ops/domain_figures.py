"""Figures of one domain: outcomes and risk by day, and its robots.txt in force."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from messor.store.database import Connection, Database

DAYS = 30
MAX_HOSTS = 20

# Days are rolled up except for the last minutes, which are counted in the log.
OUTCOMES = """
WITH hosts AS MATERIALIZED (SELECT array_agg(id) AS ids FROM messor.hosts WHERE domain_id = $1),
span AS MATERIALIZED (
  SELECT date_trunc('day', (SELECT messor.clock())) - make_interval(days => $2 - 1) AS since,
         (SELECT rolled_until FROM messor.fetch_rollup) AS rolled_until
)
SELECT c.day, c.outcome, sum(c.fetches)::int AS fetches
  FROM (SELECT d.day, d.outcome, d.fetches FROM messor.fetch_days d
         WHERE d.day = ANY (ARRAY(SELECT (s.since AT TIME ZONE 'UTC')::date + n
                                    FROM span s CROSS JOIN generate_series(0, $2 - 1) n))
           AND d.host_id = ANY ((SELECT ids FROM hosts)::bigint[])
        UNION ALL
        SELECT (f.fetched_at AT TIME ZONE 'UTC')::date, f.outcome, 1 FROM messor.http_fetches f
         WHERE f.host_id = ANY ((SELECT ids FROM hosts)::bigint[])
           AND f.fetched_at >= (SELECT greatest(since, rolled_until) FROM span)) c
 GROUP BY 1, 2
"""

# The highest score of a day: reached on it, or left from the days before.
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

ROBOTS = """
SELECT r.id, coalesce(r.scheme || '://', '') || h.host AS host, r.verdict, r.reason, r.status_code, r.crawl_delay, r.fetched_at, r.body
  FROM messor.robots_files r JOIN messor.hosts h ON h.id = r.host_id
 WHERE r.id = ANY (SELECT unnest(ARRAY[robots_id, other_robots_id]) FROM messor.hosts
                    WHERE domain_id = $1 ORDER BY id LIMIT $2)
 ORDER BY h.id, r.id
"""


@dataclass(frozen=True, slots=True)
class DayOutcomes:
    """Outcomes of one day's requests."""

    day: date
    outcome: str
    fetches: int


@dataclass(frozen=True, slots=True)
class DayRisk:
    """The highest risk of one day."""

    day: date
    risk: float


@dataclass(frozen=True, slots=True)
class RobotsSummary:
    """A robots.txt as parsed, and its effects."""

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
    """Requests by day and outcome; days without any are omitted."""
    return [DayOutcomes(*row) for row in await source.fetch(OUTCOMES, domain_id, days)]


async def risk(source: Connection | Database, domain_id: UUID, days: int = DAYS) -> list[DayRisk]:
    """The risk of each day, of the riskiest host."""
    return [DayRisk(*row) for row in await source.fetch(RISK, domain_id, days, MAX_HOSTS)]


async def robots(source: Connection | Database, domain_id: UUID) -> list[RobotsSummary]:
    """The robots.txt in force for each of a domain's hosts."""
    return [RobotsSummary(*row) for row in await source.fetch(ROBOTS, domain_id, MAX_HOSTS)]
