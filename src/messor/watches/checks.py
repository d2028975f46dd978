"""Checks of monitors: started when they are due, and ended when their jobs have ended."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.archive import texts
from messor.archive.snapshot_content import compare
from messor.errors import ConflictError
from messor.jobs.jobs import enqueue
from messor.scrape.hooks import HookEvent, telling
from messor.store.database import Connection, Database
from messor.watches import monitors
from messor.watches.monitors import CHECK_COLUMNS, COLUMNS, Check, Monitor, MonitorTerms

STATUSES = ("same", "new", "changed", "removed", "error")
AT_ONCE = 20
MOST_TOLD = 1_000  # pages of a check by webhook

DUE = f"""
SELECT {COLUMNS} FROM messor.monitors m
 WHERE m.is_active AND m.next_at <= messor.clock()
 ORDER BY m.next_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""
LATER = "UPDATE messor.monitors SET next_at = $2 WHERE id = $1"
FORGET = """
DELETE FROM messor.monitor_checks
 WHERE monitor_id = $1 AND finished_at < messor.clock() - interval '90 days'
"""
# Jobs that were never started belong to a process that died; a minute is enough for it.
ENDED = f"""
SELECT {CHECK_COLUMNS}, m.hook IS NOT NULL AS has_hook
  FROM messor.monitor_checks c JOIN messor.monitors m ON m.id = c.monitor_id
 WHERE c.finished_at IS NULL
   AND (c.jobs <> '{{}}' OR c.error IS NOT NULL
        OR c.started_at < messor.clock() - interval '1 minute')
   AND NOT EXISTS (SELECT FROM messor.scrape_jobs j
                    WHERE j.id = ANY (c.jobs) AND j.ended_at IS NULL)
 ORDER BY c.started_at LIMIT $1 FOR UPDATE OF c SKIP LOCKED
"""
PAGES = """
SELECT o.id, o.job_id, o.url, o.snapshot_id, o.code, o.error, o.done_at, s.status_code,
       earlier.snapshot_id AS before_id,
       CASE WHEN now.state IS NOT NULL AND (o.code IS NULL OR now.state = 'removed') THEN now.state
            WHEN o.code IS NOT NULL THEN 'error' ELSE 'same' END AS status
  FROM messor.scrape_job_pages o
  LEFT JOIN messor.page_snapshots s ON s.id = o.snapshot_id
  LEFT JOIN LATERAL (SELECT state FROM messor.page_changes
                      WHERE page_id = o.page_id AND seen_at >= $2
                      ORDER BY seen_at DESC LIMIT 1) now ON true
  LEFT JOIN LATERAL (SELECT snapshot_id FROM messor.page_changes
                      WHERE page_id = o.page_id AND seen_at < $2
                      ORDER BY seen_at DESC LIMIT 1) earlier ON true
 WHERE o.job_id = ANY ($1::uuid[]) AND o.done_at IS NOT NULL
"""
SOME = f"""
SELECT * FROM ({PAGES}) p WHERE $3::text IS NULL OR p.status = $3 ORDER BY p.id LIMIT $4 OFFSET $5
"""
COUNTS = f"SELECT status, count(*)::int AS pages FROM ({PAGES}) p GROUP BY status"
FINISH = """
UPDATE messor.monitor_checks SET status = $2, counts = $3::jsonb, finished_at = messor.clock()
 WHERE id = $1
"""


@dataclass(frozen=True, slots=True)
class CheckedPage:
    """What became of a page in a check."""

    id: int
    job_id: UUID
    url: str
    snapshot_id: int | None
    code: str | None
    error: str | None
    done_at: datetime
    status_code: int | None
    before_id: int | None
    status: str


async def advance(database: Database) -> bool:
    """Start a check that is due and end those that are done; whether there was anything to do."""
    started = await _start_one(database)
    return await _end_some(database) or started


async def _start_one(database: Database) -> bool:
    async with database.transaction() as connection:
        row = await connection.fetchrow(DUE)
        if row is None:
            return False
        monitor = Monitor.of(row)
        terms = MonitorTerms(monitor.name, monitor.cron, monitor.zone, monitor.targets)
        now: datetime = await connection.fetchval(monitors.NOW)
        await connection.execute(LATER, monitor.id, terms.next_after(now))
        await connection.execute(FORGET, monitor.id)
        try:
            begun = await monitors.begin(connection, monitor, is_manual=False)
        except ConflictError:  # the last one is not done yet
            return True
    await monitors.start_jobs(database, monitor, begun)
    return True


async def _end_some(database: Database) -> bool:
    async with database.transaction() as connection:
        rows = await connection.fetch(ENDED, AT_ONCE)
        for row in rows:
            has_hook = row["has_hook"]
            found = Check.of({name: row[name] for name in Check.__slots__})
            await _end(connection, found, has_hook=has_hook)
    return bool(rows)


async def _end(connection: Connection, found: Check, *, has_hook: bool) -> None:
    counted = await connection.fetch(COUNTS, found.jobs, found.started_at)
    counts = Counter({row["status"]: row["pages"] for row in counted})
    status = "completed" if found.error is None else "partial" if found.jobs else "failed"
    await connection.execute(FINISH, found.id, status, msgspec.json.encode(dict(counts)).decode())
    if has_hook:
        rows = await connection.fetch(SOME, found.jobs, found.started_at, None, MOST_TOLD, 0)
        await _tell(connection, found, [CheckedPage(**row) for row in rows], status, counts)


async def _tell(
    connection: Connection,
    found: Check,
    pages: Sequence[CheckedPage],
    status: str,
    counts: Counter[str],
) -> None:
    """Have each page told, and the end; what a page says is not in it, but read by its id."""
    own = {"monitorId": str(found.monitor_id), "checkId": str(found.id)}
    deliveries = [
        telling(
            f"{found.id}:{page.id}",
            HookEvent(
                found.monitor_id,
                "monitor.page",
                "monitors",
                data=[{**own, "url": page.url, "status": page.status, "error": page.error}],
            ),
        )
        for page in pages
    ]
    end: list[Any] = [{**own, "status": status, "summary": summary_of(counts)}]
    told = HookEvent(
        found.monitor_id, "monitor.check.completed", "monitors", error=found.error, data=end
    )
    await enqueue(connection, [*deliveries, telling(f"{found.id}:end", told)])


def summary_of(counts: Counter[str] | dict[str, int]) -> dict[str, int]:
    return {"totalPages": sum(counts.values()), **{one: counts.get(one, 0) for one in STATUSES}}


async def pages(
    database: Database, found: Check, *, status: str | None, limit: int, skip: int
) -> list[CheckedPage]:
    rows = await database.fetch(SOME, found.jobs, found.started_at, status, limit, skip)
    return [CheckedPage(**row) for row in rows]


async def differences(database: Database, given: Sequence[CheckedPage]) -> dict[int, str]:
    """What changed in the text of each changed page, by the page's id in the check."""
    changed = [
        page
        for page in given
        if page.status == "changed" and page.snapshot_id is not None and page.before_id is not None
    ]
    ids = [one for page in changed for one in (page.before_id, page.snapshot_id)]
    known = await texts.texts(database, ids)
    found: dict[int, str] = {}
    for page in changed:
        old, new = known.get(page.before_id or 0), known.get(page.snapshot_id or 0)
        if old is not None and new is not None:
            difference = await asyncio.to_thread(compare, old.markdown, new.markdown)
            found[page.id] = difference.diff
    return found
