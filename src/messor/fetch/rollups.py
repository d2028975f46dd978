"""Requests counted by minute and by day, so that charts need not read the log.

A part of the log is rolled up once it has settled: rows arrive with their flush, some time after
the request was sent, and a worker's are rejected once its lease has ended. Newer rows are counted
from the log by the reader.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from messor.store.database import Connection

SETTLED = timedelta(minutes=5)  # by then a request, its flush and a worker lease are over
STEP = timedelta(hours=1)  # of the log at a time, to bound a transaction
DAYS_BACK = 31  # where the first rollup begins: as far back as charts go
KEPT_DAYS = 92
KEPT_MINUTES = timedelta(hours=2)

SPAN = """
WITH moment AS MATERIALIZED (SELECT messor.clock() AS now)
SELECT greatest(r.rolled_until, date_trunc('day', m.now) - make_interval(days => $1)) AS since,
       date_trunc('minute', m.now - $2::interval) AS settled, m.now - $3::interval AS minutes_from
  FROM messor.fetch_rollup r CROSS JOIN moment m FOR UPDATE OF r
"""
COUNT = """
WITH counted AS MATERIALIZED (
  SELECT date_trunc('minute', f.fetched_at) AS minute, (f.fetched_at AT TIME ZONE 'UTC')::date AS day,
         f.host_id, f.outcome, count(*)::int AS fetches
    FROM messor.http_fetches f WHERE f.fetched_at >= $1 AND f.fetched_at < $2
   GROUP BY GROUPING SETS ((1, f.outcome), (2, f.host_id, f.outcome))
), minutes AS (
  INSERT INTO messor.fetch_minutes AS m (minute, outcome, fetches)
  SELECT c.minute, c.outcome, c.fetches FROM counted c WHERE c.minute >= $3 ORDER BY 1, 2
  ON CONFLICT (minute, outcome) DO UPDATE SET fetches = m.fetches + excluded.fetches
), days AS (
  INSERT INTO messor.fetch_days AS d (day, host_id, outcome, fetches)
  SELECT c.day, c.host_id, c.outcome, c.fetches FROM counted c WHERE c.day IS NOT NULL ORDER BY 1, 2, 3
  ON CONFLICT (day, host_id, outcome) DO UPDATE SET fetches = d.fetches + excluded.fetches
)
UPDATE messor.fetch_rollup SET rolled_until = $2
"""
FORGET = """
WITH minutes AS (DELETE FROM messor.fetch_minutes WHERE minute < $1)
DELETE FROM messor.fetch_days WHERE day < ($1 AT TIME ZONE 'UTC')::date - $2::int
"""


async def roll_up(connection: Connection) -> bool:
    """Roll up the next settled step of the log; returns whether there is more.

    The caller's transaction locks out others until it ends.
    """
    row = await connection.fetchrow(SPAN, DAYS_BACK, SETTLED, KEPT_MINUTES)
    assert row is not None
    since: datetime = row["since"]
    until: datetime = min(since + STEP, row["settled"])
    if until <= since:
        return False
    await connection.execute(COUNT, since, until, row["minutes_from"])
    if until == row["settled"]:
        await connection.execute(FORGET, row["minutes_from"], KEPT_DAYS)
    return bool(until < row["settled"])
