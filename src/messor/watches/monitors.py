"""Monitors: pages that a program has looked at again on a schedule; each look is a check.

A check starts scrape jobs that fetch anew, under the key of the monitor and its policy. What became
of a page is what the archive noted meanwhile, so that a monitor and the change feed never disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec

from messor.access import keys
from messor.access.principal import Principal
from messor.core.ids import new_id
from messor.errors import ConflictError, MessorError, NotFoundError, UsageError
from messor.schedule import cron
from messor.scrape import jobs
from messor.scrape.archived import understand
from messor.scrape.caller import Caller
from messor.scrape.documents import Shape
from messor.scrape.hooks import SealedHook
from messor.scrape.jobs import CrawlOrder
from messor.store.database import Connection, Database

MAX_MONITORS = 100  # of a key
MAX_TARGETS = 50
MAX_URLS = 1_000  # of a monitor
SHORTEST_MINUTES = 15

COLUMNS = """m.id, m.key_id, m.name, m.is_active, m.cron, m.zone, m.targets::text AS targets, m.goal,
  m.next_at, m.created_at, m.updated_at"""
CHECK_COLUMNS = """c.id, c.monitor_id, c.is_manual, c.jobs, c.status, c.error, c.counts::text AS counts,
  c.started_at, c.finished_at"""
ADD = f"""
INSERT INTO messor.monitors AS m (id, key_id, name, cron, zone, targets, hook, goal, next_at)
VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9) RETURNING {COLUMNS}
"""
COUNT = "SELECT count(*) FROM messor.monitors WHERE key_id = $1"
# A member sees the monitors of all of their keys.
MINE = "m.key_id IN (SELECT k.id FROM messor.api_keys k WHERE k.member_id = $1)"
GET = f"SELECT {COLUMNS} FROM messor.monitors m WHERE {MINE} AND m.id = $2"
LISTING = f"""
SELECT {COLUMNS} FROM messor.monitors m WHERE {MINE} ORDER BY m.created_at, m.id LIMIT $2 OFFSET $3
"""
CHANGE = f"""
UPDATE messor.monitors AS m
   SET name = $2, is_active = $3, cron = $4, zone = $5, targets = $6::jsonb, goal = $7, next_at = $8,
       hook = coalesce($9, hook), updated_at = messor.clock()
 WHERE m.id = $1 RETURNING {COLUMNS}
"""
REMOVE = "DELETE FROM messor.monitors WHERE id = $1"
CHECKS = f"""
SELECT {CHECK_COLUMNS} FROM messor.monitor_checks c WHERE c.monitor_id = $1
 ORDER BY c.started_at DESC, c.id LIMIT $2 OFFSET $3
"""
CHECK = f"SELECT {CHECK_COLUMNS} FROM messor.monitor_checks c WHERE c.monitor_id = $1 AND c.id = $2"
BEGIN = f"""
INSERT INTO messor.monitor_checks AS c (id, monitor_id, is_manual)
SELECT $1, $2, $3
 WHERE NOT EXISTS (SELECT FROM messor.monitor_checks o
                    WHERE o.monitor_id = $2 AND o.finished_at IS NULL)
RETURNING {CHECK_COLUMNS}
"""
LOCK = "SELECT 1 FROM messor.monitors WHERE id = $1 FOR UPDATE"
STARTED = f"""
UPDATE messor.monitor_checks AS c SET jobs = $2, error = $3 WHERE c.id = $1 RETURNING {CHECK_COLUMNS}
"""
NOW = "SELECT messor.clock()"


@dataclass(frozen=True, slots=True)
class Monitor:
    """What is looked at, and when."""

    id: UUID
    key_id: UUID
    name: str
    is_active: bool
    cron: str
    zone: str
    targets: list[dict[str, Any]]
    goal: str | None
    next_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: Any) -> Monitor:
        return cls(**{**row, "targets": msgspec.json.decode(row["targets"])})


@dataclass(frozen=True, slots=True)
class Check:
    """One look."""

    id: UUID
    monitor_id: UUID
    is_manual: bool
    jobs: list[UUID]
    status: str
    error: str | None
    counts: dict[str, int]
    started_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, row: Any) -> Check:
        return cls(**{**row, "counts": msgspec.json.decode(row["counts"])})


@dataclass(frozen=True, slots=True)
class MonitorTerms:
    """A monitor as it is to be."""

    name: str
    cron: str
    zone: str
    targets: list[dict[str, Any]]
    goal: str | None = None
    is_active: bool = True

    def check(self) -> None:
        if not 1 <= len(self.name.strip()) <= 200:
            raise UsageError("name: a monitor has a name of at most 200 characters.")
        if not 1 <= len(self.targets) <= MAX_TARGETS:
            raise UsageError(f"targets: a monitor has 1 to {MAX_TARGETS} targets.")
        urls = [url for target in self.targets for url in urls_of(target)]
        if len(urls) > MAX_URLS:
            raise UsageError(f"targets: a monitor looks at {MAX_URLS} URLs at most.")
        wrong = next((url for url in urls if understand(url) is None), None)
        if wrong is not None:
            raise UsageError(f"targets: {wrong[:200]!r} is not a web address.")

    def next_after(self, moment: datetime) -> datetime | None:
        """When the next check is due; raises for schedules that never, or too often, occur."""
        try:
            zone = ZoneInfo(self.zone)
        except (KeyError, ValueError, OSError) as error:
            raise UsageError(f"schedule.timezone: unknown time zone {self.zone[:60]!r}.") from error
        cadence = cron.parse(self.cron)
        first = cadence.after(moment.astimezone(zone), zone)
        second = cadence.after(first, zone)
        if (second - first).total_seconds() < SHORTEST_MINUTES * 60:
            raise UsageError(f"schedule: checks are at least {SHORTEST_MINUTES} minutes apart.")
        return first if self.is_active else None


def urls_of(target: dict[str, Any]) -> list[str]:
    return list(target["urls"]) if target["type"] == "scrape" else [target["url"]]


async def add(
    connection: Connection, principal: Principal, terms: MonitorTerms, hook: SealedHook | None
) -> Monitor:
    """Make a monitor; one with a hook has the id that the hook is bound to."""
    terms.check()
    if await connection.fetchval(COUNT, principal.key_id) >= MAX_MONITORS:
        raise UsageError(f"This key has {MAX_MONITORS} monitors already; delete one first.")
    row = await connection.fetchrow(
        ADD, hook.job_id if hook else new_id(), principal.key_id, terms.name.strip(), terms.cron,
        terms.zone, msgspec.json.encode(terms.targets).decode(), hook and hook.sealed, terms.goal,
        terms.next_after(await connection.fetchval(NOW)),
    )  # fmt: skip
    return Monitor.of(row)


async def change(
    connection: Connection, monitor: Monitor, terms: MonitorTerms, hook: SealedHook | None
) -> Monitor:
    terms.check()
    row = await connection.fetchrow(
        CHANGE, monitor.id, terms.name.strip(), terms.is_active, terms.cron, terms.zone,
        msgspec.json.encode(terms.targets).decode(), terms.goal,
        terms.next_after(await connection.fetchval(NOW)), hook and hook.sealed,
    )  # fmt: skip
    return Monitor.of(row)


async def get(source: Connection | Database, principal: Principal, monitor_id: UUID) -> Monitor:
    row = await source.fetchrow(GET, principal.member_id, monitor_id)
    if row is None:
        raise NotFoundError("There is no such monitor.")
    return Monitor.of(row)


async def listing(
    source: Database, principal: Principal, *, limit: int, offset: int
) -> list[Monitor]:
    rows = await source.fetch(LISTING, principal.member_id, limit, offset)
    return [Monitor.of(row) for row in rows]


async def remove(connection: Connection, monitor: Monitor) -> None:
    await connection.execute(REMOVE, monitor.id)


async def checks(source: Database, monitor: Monitor, *, limit: int, offset: int) -> list[Check]:
    return [Check.of(row) for row in await source.fetch(CHECKS, monitor.id, limit, offset)]


async def check(source: Database, monitor: Monitor, check_id: UUID) -> Check:
    row = await source.fetchrow(CHECK, monitor.id, check_id)
    if row is None:
        raise NotFoundError("This monitor has no such check.")
    return Check.of(row)


async def begin(connection: Connection, monitor: Monitor, *, is_manual: bool) -> Check:
    """Note that a check begins; raises while another is running."""
    await connection.execute(LOCK, monitor.id)
    row = await connection.fetchrow(BEGIN, new_id(), monitor.id, is_manual)
    if row is None:
        raise ConflictError("A check of this monitor is running.")
    return Check.of(row)


async def start_jobs(database: Database, monitor: Monitor, begun: Check) -> Check:
    """Have the pages of a check fetched; what could not be started is the check's error."""
    made: list[UUID] = []
    faults: list[str] = []
    principal = await keys.holder(database, monitor.key_id)
    if principal is None:
        faults.append("The key of this monitor is no longer valid.")
    else:
        caller = await Caller.of(database, principal)
        for target in monitor.targets:
            try:
                made.append(await _start(database, caller, target))
            except MessorError as error:
                faults.append(f"{error.code}: {error}")
    why = " ".join(faults) or None
    return Check.of(await database.fetchrow(STARTED, begun.id, made, why))


async def _start(database: Database, caller: Caller, target: dict[str, Any]) -> UUID:
    urls = [url for text in urls_of(target) if (url := understand(text)) is not None]
    if target["type"] == "scrape":
        return await jobs.start_batch(database, caller, urls, Shape(), max_age=0.0)
    given = target.get("crawlOptions") or {}
    order = CrawlOrder(
        urls[0],
        given.get("maxDiscoveryDepth"),
        given.get("limit") or 100,
        include=tuple(given.get("includePaths") or ()),
        exclude=tuple(given.get("excludePaths") or ()),
        whole_domain=bool(given.get("crawlEntireDomain")),
        subdomains=bool(given.get("allowSubdomains")),
        refetch=True,
    )
    return await jobs.start_crawl(database, caller, order)
