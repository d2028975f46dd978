"""Limits: crawl hours and megabytes per day, of a domain and of all domains together.

Claims put lanes off until they may be visited again, and flushes end visits that go on. What was
received is added up by the flush, per worker, so that workers never wait for each other's sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from uuid import UUID

from messor.errors import TrafficHaltedError
from messor.ledger import events
from messor.ledger.events import Event
from messor.registry.terms import understand
from messor.store.database import Connection, Database

ALL = UUID(int=0)  # the scope of all domains together
MEGABYTE = 1_000_000

GET = """
SELECT x.crawl_hours, x.time_zone, x.megabytes_per_day, x.set_by, x.set_at,
       messor.all_closed_until(messor.clock()) AS closed_until,
       (SELECT coalesce(sum(d.bytes), 0)::bigint FROM messor.traffic_days d
         WHERE d.scope = $1 AND d.day = (messor.clock() AT TIME ZONE x.time_zone)::date) AS bytes_today
  FROM messor.traffic_limits x
"""
SET = """
INSERT INTO messor.traffic_limits (crawl_hours, time_zone, megabytes_per_day, set_by)
VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE
   SET crawl_hours = excluded.crawl_hours, time_zone = excluded.time_zone,
       megabytes_per_day = excluded.megabytes_per_day, set_by = excluded.set_by,
       set_at = messor.clock()
"""
CLEAR = "DELETE FROM messor.traffic_limits"
# What was used up may not be any more; the next flush looks again.
REOPEN = "DELETE FROM messor.traffic_spent WHERE scope = $1"
# A worker writes rows of its own only; those of others are read as they were committed.
COUNT = """
WITH given AS (
  SELECT g.scope, g.bytes, coalesce(d.time_zone, x.time_zone, 'UTC') AS zone,
         coalesce(d.megabytes_per_day, x.megabytes_per_day) * 1000000::bigint AS cap
    FROM unnest($1::uuid[], $2::bigint[]) AS g (scope, bytes)
    LEFT JOIN messor.domains d ON d.id = g.scope
    LEFT JOIN messor.traffic_limits x ON g.scope = $4
), dated AS (
  SELECT g.*, (messor.clock() AT TIME ZONE g.zone)::date AS day FROM given g
), added AS (
  INSERT INTO messor.traffic_days AS t (scope, day, worker_id, bytes)
  SELECT scope, day, $3, bytes FROM dated ORDER BY scope
  ON CONFLICT (scope, day, worker_id) DO UPDATE SET bytes = t.bytes + excluded.bytes
  RETURNING scope, bytes
)
INSERT INTO messor.traffic_spent (scope, until)
SELECT d.scope, (d.day + 1)::timestamp AT TIME ZONE d.zone
  FROM dated d JOIN added a USING (scope)
 WHERE d.cap <= a.bytes + coalesce((
   SELECT sum(o.bytes) FROM messor.traffic_days o
    WHERE o.scope = d.scope AND o.day = d.day AND o.worker_id <> $3), 0)
 ORDER BY d.scope ON CONFLICT (scope) DO UPDATE SET until = excluded.until
"""
FORGET = """
WITH gone AS (
  DELETE FROM messor.traffic_days WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM messor.traffic_days WHERE day < (SELECT messor.clock())::date - 7 LIMIT $1))
  RETURNING 1
)
SELECT count(*)::int FROM gone
"""


@dataclass(frozen=True, slots=True)
class NewLimits:
    """Limits to be set."""

    crawl_hours: str | None
    time_zone: str
    megabytes_per_day: int | None


NONE = NewLimits(None, "UTC", None)


@dataclass(frozen=True, slots=True)
class TrafficLimits:
    """The limits of the installation, and whether they hold traffic up now."""

    crawl_hours: str | None
    time_zone: str
    megabytes_per_day: int | None
    set_by: str
    set_at: datetime
    closed_until: datetime | None
    bytes_today: int  # received since a cap was set

    @property
    def message(self) -> str | None:
        """What holds all traffic up, and until when; None while nothing does."""
        if self.closed_until is None:
            return None
        return sentence(
            "All sites are",
            self.crawl_hours,
            self.time_zone,
            self.closed_until,
            is_spent=self.megabytes_per_day is not None
            and self.bytes_today >= self.megabytes_per_day * MEGABYTE,
        )


def sentence(who: str, hours: str | None, zone: str, until: datetime, *, is_spent: bool) -> str:
    """Why nothing is fetched, and when it goes on."""
    if is_spent:
        why = f"{who} not visited: the megabytes of the day are used up"
    else:
        why = f"{who} visited during {hours} h ({zone}) only"
    return f"{why}; it goes on at {until:%Y-%m-%d %H:%M} UTC"


async def find(source: Connection | Database) -> TrafficLimits | None:
    """The limits of the installation, if any."""
    row = await source.fetchrow(GET, ALL)
    return None if row is None else TrafficLimits(**row)


async def require_open(source: Connection | Database) -> None:
    """Raise TrafficHaltedError while the limits of the installation hold all traffic up."""
    found = await find(source)
    if found is not None and found.message is not None:
        raise TrafficHaltedError(f"{found.message}. To change it: messor traffic limit")


def understood(
    crawl_hours: str | None, time_zone: str | None, megabytes_per_day: int | None
) -> NewLimits:
    """Limits as they were typed; raises UsageError."""
    given = understand(
        {
            "crawl_hours": crawl_hours,
            "time_zone": time_zone or "UTC",
            "megabytes_per_day": megabytes_per_day,
        }
    )
    return NewLimits(given["crawl_hours"], given["time_zone"], given["megabytes_per_day"])


async def set_limits(connection: Connection, wanted: NewLimits, *, actor: str) -> None:
    """Set the limits of all domains together; without hours and megabytes there are none."""
    if wanted.crawl_hours is None and wanted.megabytes_per_day is None:
        await connection.execute(CLEAR)
    else:
        await connection.execute(SET, *astuple(wanted), actor)
    await connection.execute(REOPEN, ALL)
    fact = Event("traffic.limited", actor, data=asdict(wanted))
    await events.record(connection, [fact])


async def reopen(connection: Connection, domain_id: UUID) -> None:
    """A domain's limits were changed: what was used up by the former ones is looked at again."""
    await connection.execute(REOPEN, domain_id)


async def count(connection: Connection, worker_id: int, received: Mapping[UUID, int]) -> None:
    """Add what a worker received from domains with a cap, or `ALL`; a reached one closes its scope."""
    if received:
        await connection.execute(COUNT, list(received), list(received.values()), worker_id, ALL)


async def forget(connection: Connection, limit: int) -> int:
    """Delete sums of former days."""
    found: int = await connection.fetchval(FORGET, limit)
    return found
