"""The second look: odd changes are held back, their pages fetched again, and told only if confirmed.

Asking for the fetch is repeatable, so a process that dies in between loses nothing.
"""

from __future__ import annotations

from messor.frontier import control
from messor.store.database import Database

MANY = 1_000

UNASKED = f"""
SELECT id, page_id FROM messor.watch_alerts
 WHERE state = 'held' AND asked_at IS NULL AND page_id IS NOT NULL ORDER BY id LIMIT {MANY}
"""
ASKED = "UPDATE messor.watch_alerts SET asked_at = messor.clock() WHERE id = ANY ($1::bigint[])"
# Confirmed: the page was fetched and read again, and its record still says so. A record that says
# something else now has another change, with an alert of its own.
SETTLE = f"""
WITH looked AS (
  SELECT a.id, (SELECT bool_and(r.data -> f.key IS NOT DISTINCT FROM f.value)
                  FROM jsonb_each(a.details -> 'after') f) AS is_so
    FROM messor.watch_alerts a
    JOIN messor.crawl_tasks t ON t.page_id = a.page_id AND t.last_fetched_at > a.asked_at
    JOIN messor.records r ON r.id = a.record_id AND r.state = 'current'
   WHERE a.state = 'held'
     AND NOT EXISTS (SELECT FROM messor.extraction_due q WHERE q.page_id = a.page_id)
   ORDER BY a.id LIMIT {MANY} FOR UPDATE OF a SKIP LOCKED
)
UPDATE messor.watch_alerts a
   SET state = CASE WHEN l.is_so THEN 'due' ELSE 'dropped' END,
       due_at = greatest(a.due_at, messor.clock())
  FROM looked l WHERE a.id = l.id
"""


async def look_again(database: Database) -> None:
    """Ask for second looks, and settle those that were had."""
    rows = await database.fetch(UNASKED)
    if rows:
        await control.refetch(database, sorted({row["page_id"] for row in rows}))
        await database.fetch(ASKED, [row["id"] for row in rows])
    await database.fetch(SETTLE)
