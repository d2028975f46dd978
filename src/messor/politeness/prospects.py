"""Prospects: what prevents a due page from being fetched soon.

Robots rules and pace are left out: they are the normal course, and `messor why` explains them.
"""

from __future__ import annotations

from messor.ledger import alarms
from messor.store.database import Connection, Database

# First what applies to all hosts, then what applies to one.
HINDRANCES = f"""
SELECT EXISTS (SELECT FROM messor.traffic_halts WHERE lifted_at IS NULL) AS halted,
       EXISTS (SELECT FROM messor.worker_leases
                WHERE ended_at IS NULL AND expires_at > messor.clock()) AS has_worker,
       ({alarms.NEWEST.format(name=alarms.DISK)}) AS disk_said,
       h.cooldown_until, h.cooldown_reason, t.status
  FROM (SELECT) one
  LEFT JOIN messor.hosts h ON h.host = $1 AND h.cooldown_until > messor.clock()
  LEFT JOIN messor.crawl_tasks t ON t.page_id = $2
"""


async def hindrance(
    source: Connection | Database, host: str | None = None, page_id: int | None = None
) -> str | None:
    """What must be done before the page can be fetched, as a sentence; None if nothing."""
    row = await source.fetchrow(HINDRANCES, host, page_id)
    assert row is not None
    if row["status"] == "paused":
        return "It is paused; resume it with: messor tasks resume --url …"
    if row["halted"]:
        return "All traffic to sites is halted; resume with: messor traffic resume"
    if row["disk_said"] is not None:
        message: str = row["disk_said"]
        return message
    if row["cooldown_until"] is not None:
        until = f"{row['cooldown_until']:%Y-%m-%d %H:%M} UTC"
        return f"{host} is paused until {until}: {row['cooldown_reason']}."
    if not row["has_worker"]:
        return "No worker is running. Start one: messor up"
    return None
