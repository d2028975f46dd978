"""O-Robots: rereads a robots.txt older than a day, in case its own task was missed."""

from __future__ import annotations

from messor.politeness.robots import FRESH_SECONDS
from messor.schedule.orchestrators import Orchestrator, RunPosition, StepResult
from messor.schedule.wake import bring_forward
from messor.store.database import Connection

HOSTS_PER_STEP = 1000

# A host's robots.txt is found by the key of its page: the task may be scheduled or not. One tried
# within a day waits for its next attempt and is not brought forward.
SCAN = """
WITH moment AS MATERIALIZED (SELECT messor.clock() AS now), stale AS MATERIALIZED (
  SELECT h.id AS host_id, h.host FROM messor.hosts h JOIN messor.domains d ON d.id = h.domain_id
   WHERE h.id > $1 AND d.status = 'approved' AND d.active
     AND (h.robots_checked_at IS NULL
          OR h.robots_checked_at < (SELECT now FROM moment) - make_interval(secs => $3))
   ORDER BY h.id LIMIT $2
)
SELECT (SELECT now FROM moment) AS now, (SELECT count(*) FROM stale) AS hosts,
       (SELECT max(host_id) FROM stale) AS last_host,
       ARRAY(SELECT (s.host_id, t.page_id, (SELECT now FROM moment))
               FROM stale s CROSS JOIN (VALUES ('http'), ('https')) AS scheme (name)
               JOIN messor.pages p ON p.host_id = s.host_id
                AND p.url_hash = sha256(convert_to(scheme.name || '://' || s.host || '/robots.txt', 'UTF8'))
               JOIN messor.crawl_tasks t ON t.page_id = p.id
              WHERE t.kind = 'robots' AND t.status NOT IN ('paused', 'cancelled')
                AND (t.due_at IS NULL OR t.due_at > (SELECT now FROM moment))
                AND (t.last_fetched_at IS NULL OR t.last_fetched_at
                     < (SELECT now FROM moment) - make_interval(secs => $3))) AS due
"""


async def step(connection: Connection, place: RunPosition) -> StepResult:
    row = await connection.fetchrow(SCAN, place.host_id, HOSTS_PER_STEP, FRESH_SECONDS)
    assert row is not None
    tasks, _ = await bring_forward(connection, [tuple(task) for task in row["due"]], row["now"])
    following = RunPosition(host_id=row["last_host"]) if row["hosts"] == HOSTS_PER_STEP else None
    return StepResult({"hosts_stale": row["hosts"], "robots_due": tasks}, following)


ROBOTS = Orchestrator(
    "O-Robots",
    "rereads every robots.txt older than a day",
    "17 * * * *",
    step,
)
