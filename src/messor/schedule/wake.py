"""Making tasks due: tasks are brought forward, never postponed, and their lanes are woken.

Lanes are locked before their tasks, as in a flush, so that the two never deadlock.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from messor.politeness import lanes
from messor.store.database import Connection

# Checked again under the lock: the page may have been fetched, paused or postponed meanwhile.
BRING_FORWARD = """
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::timestamptz[]) AS g (page_id, due_at)
), due AS (
  UPDATE messor.crawl_tasks t SET due_at = g.due_at FROM given g
   WHERE t.page_id = g.page_id AND t.status NOT IN ('paused', 'cancelled')
     AND (t.due_at IS NULL OR t.due_at > g.due_at)
     AND (t.completed_at IS NULL OR t.completed_at < $3)
  RETURNING t.host_id, t.due_at
), woken AS (
  UPDATE messor.lanes l SET due_at = least(l.due_at, e.due_at),
         claim_at = CASE WHEN l.worker_id IS NULL
                         THEN greatest(l.ready_at, least(l.due_at, e.due_at)) ELSE l.claim_at END
    FROM (SELECT host_id, min(due_at) AS due_at FROM due GROUP BY host_id) e
   WHERE l.host_id = e.host_id
)
SELECT count(*) AS tasks, count(DISTINCT host_id) AS lanes FROM due
"""


async def bring_forward(
    connection: Connection,
    found: Sequence[tuple[int, int, datetime]],
    looked_at: datetime,
) -> tuple[int, int]:
    """Make tasks (host, page, time) due by then; return how many, and of how many lanes.

    A task completed since it was `looked_at` keeps the time its fetch set.
    """
    if not found:
        return 0, 0
    await lanes.lock(connection, {host_id for host_id, _, _ in found})
    ordered = sorted(found, key=lambda task: task[1])
    row = await connection.fetchrow(
        BRING_FORWARD,
        [page_id for _, page_id, _ in ordered],
        [due_at for _, _, due_at in ordered],
        looked_at,
    )
    assert row is not None
    return row["tasks"], row["lanes"]
