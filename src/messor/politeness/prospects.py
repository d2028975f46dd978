"""Prospects: what prevents a due page from being fetched soon.

Robots rules and pace are left out: they are the normal course, and `messor why` explains them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from messor.ledger import alarms
from messor.store.database import Connection, Database

# First what applies to all hosts, then what applies to one.
HINDRANCES = f"""
SELECT EXISTS (SELECT FROM messor.traffic_halts WHERE lifted_at IS NULL) AS halted,
       EXISTS (SELECT FROM messor.worker_leases
                WHERE ended_at IS NULL AND expires_at > messor.clock()) AS has_worker,
       ({alarms.NEWEST.format(name=alarms.DISK)}) AS disk_said,
       h.cooldown_until, h.cooldown_reason, t.status,
       messor.all_closed_until(messor.clock()) AS all_closed_until, c.domain, c.closed_until
  FROM (SELECT) one
  LEFT JOIN messor.hosts h ON h.host = $1 AND h.cooldown_until > messor.clock()
  LEFT JOIN messor.crawl_tasks t ON t.page_id = $2
  LEFT JOIN LATERAL (
    SELECT d.domain, messor.closed_until(d.id, d.crawl_hours, d.time_zone, messor.clock()) AS closed_until
      FROM messor.domains d JOIN messor.hosts o ON o.domain_id = d.id WHERE o.host = $1) c ON true
"""


async def hindrance(
    source: Connection | Database, host: str | None = None, page_id: int | None = None
) -> str | None:
    """What must be done before the page can be fetched, as a sentence; None if nothing."""
    row = await source.fetchrow(HINDRANCES, host, page_id)
    assert row is not None
    return next(_found(row, host), None)


def _found(row: Any, host: str | None) -> Iterator[str]:
    if row["status"] == "paused":
        yield "It is paused; resume it with: messor tasks resume --url …"
    if row["halted"]:
        yield "All traffic to sites is halted; resume with: messor traffic resume"
    if (until := row["all_closed_until"]) is not None:
        yield f"Limits on all traffic allow it from {_time(until)}; see: messor traffic status"
    if (until := row["closed_until"]) is not None:
        yield f"Crawl hours or megabytes of {row['domain']} allow it from {_time(until)}."
    if row["disk_said"] is not None:
        yield row["disk_said"]
    if row["cooldown_until"] is not None:
        yield f"{host} is paused until {_time(row['cooldown_until'])}: {row['cooldown_reason']}."
    if not row["has_worker"]:
        yield "No worker is running. Start one: messor up"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
