"""O-Daily: makes pages due as often as their domain's track level says.

It runs once a day and gives every page that reaches its level's interval before the next run its
exact time; a page due at noon is not due at night. What is due earlier for another reason stays
so; a task with its own frequency, or an unproductive one, is left alone.
"""

from __future__ import annotations

from messor.insight import track_intervals
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.schedule.wake import bring_forward
from messor.store.database import Connection

HOSTS_PER_STEP = 200
PAGES_PER_STEP = 5000

# The pages of tracked hosts in key order, a bounded number at a time: each is checked once per
# run, through the key of its page, whether its task is scheduled or not. A page that is gone or
# refused keeps its own schedule.
SCAN = """
WITH moment AS MATERIALIZED (SELECT messor.clock() AS now), tracked AS MATERIALIZED (
  SELECT h.id AS host_id, messor.base_frequency(d.track_interval, d.track_level, NULL) AS every
    FROM messor.hosts h JOIN messor.domains d ON d.id = h.domain_id
   WHERE h.id >= $1 AND d.track_level IS NOT NULL AND d.status = 'approved' AND d.active
   ORDER BY h.id LIMIT $3
), looked AS MATERIALIZED (
  SELECT k.host_id, k.every, p.id AS page_id, p.url_hash FROM tracked k
   CROSS JOIN LATERAL (
     SELECT p.id, p.url_hash FROM messor.pages p
      WHERE p.host_id = k.host_id
        AND p.url_hash > CASE WHEN k.host_id = $1 THEN $2::bytea ELSE ''::bytea END
      ORDER BY p.url_hash LIMIT $4) p
   ORDER BY k.host_id, p.url_hash LIMIT $4
), due AS (
  SELECT l.host_id, l.page_id, greatest(t.completed_at + l.every, m.now) AS due_at
    FROM looked l JOIN messor.crawl_tasks t ON t.page_id = l.page_id CROSS JOIN moment m
   WHERE t.kind = 'page' AND t.status = 'completed' AND t.crawl_frequency IS NULL
     AND t.outcome IN ('ok', 'unchanged', 'redirected')
     AND t.completed_at + l.every < m.now + interval '1 day'
     AND (t.due_at IS NULL OR t.due_at > greatest(t.completed_at + l.every, m.now))
     AND NOT EXISTS (SELECT FROM messor.barren_pages b WHERE b.page_id = t.page_id AND b.until > m.now)
)
SELECT (SELECT now FROM moment) AS now,
       (SELECT count(*) FROM tracked) AS hosts, (SELECT max(host_id) FROM tracked) AS last_host,
       (SELECT count(*) FROM looked) AS pages,
       (SELECT array[host_id::text, encode(url_hash, 'hex')] FROM looked
         ORDER BY host_id DESC, url_hash DESC LIMIT 1) AS last_page,
       ARRAY(SELECT (host_id, page_id, due_at) FROM due) AS due
"""


async def step(connection: Connection, place: RunPosition) -> StepResult:
    if place == RunPosition():
        await track_intervals.follow_verticals(connection)
    row = await connection.fetchrow(
        SCAN, place.host_id, place.url_hash, HOSTS_PER_STEP, PAGES_PER_STEP
    )
    assert row is not None
    tasks, lanes = await bring_forward(connection, [tuple(task) for task in row["due"]], row["now"])
    following = None
    if row["pages"] == PAGES_PER_STEP:
        host_id, url_hash = row["last_page"]
        following = RunPosition(host_id=int(host_id), url_hash=bytes.fromhex(url_hash))
    elif row["hosts"] == HOSTS_PER_STEP:
        following = RunPosition(host_id=row["last_host"] + 1)
    return StepResult(
        {"pages_looked_at": row["pages"], "tasks_due": tasks, "lanes_woken": lanes}, following
    )


DAILY = Orchestrator(
    "O-Daily",
    "makes pages due by their domain's track level, as often as its vertical's cadence says",
    "0 2 * * *",
    step,
)
