"""The worker lease: a process's right to send requests, renewed by its flushes.

The database measures it on its own clock. Here it is a deadline on the monotonic clock, counted
from *before* the query that granted it, so this side always stops first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from messor.core import clock
from messor.errors import LeaseLostError
from messor.politeness.database_clock import DatabaseClock
from messor.store.database import Connection, Database

TAKE = """
INSERT INTO messor.worker_leases (name, expires_at)
VALUES ($1, messor.clock() + make_interval(secs => $2)) RETURNING id, messor.clock() AS now
"""

# Renews the lease and returns which held lanes must be left (their domain was paused, suspended or
# worse, its hours or megabytes are over, or some of their tasks were paused) and whether this flush had already committed before its
# response was lost. An expired lease that was not reaped yet may be renewed, as nobody else took
# its lanes.
RENEW = """
WITH before AS (
  SELECT id, flushes FROM messor.worker_leases WHERE id = $1 AND ended_at IS NULL FOR NO KEY UPDATE
), renewed AS (
  UPDATE messor.worker_leases w
     SET expires_at = messor.clock() + make_interval(secs => $2), flushes = greatest(b.flushes, $3)
    FROM before b WHERE w.id = b.id RETURNING b.flushes
)
SELECT EXISTS (SELECT FROM renewed) AS alive,
       coalesce((SELECT flushes >= $3 FROM renewed), false) AS committed,
       ARRAY(SELECT l.host_id FROM messor.lanes l JOIN messor.domains d ON d.id = l.domain_id
              WHERE l.worker_id = $1
                AND (NOT messor.may_visit(d.status, d.active, l.preflight) OR l.recall = l.token
                     OR ((d.crawl_hours IS NOT NULL OR d.megabytes_per_day IS NOT NULL)
                         AND messor.closed_until(d.id, d.crawl_hours, d.time_zone, messor.clock()) IS NOT NULL)
                     OR messor.all_closed_until(messor.clock()) IS NOT NULL)) AS closed,
       messor.clock() AS now
"""

# Waits for a claim or flush in progress, in statements before the one that must see its lanes.
LOCK = "SELECT FROM messor.worker_leases WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE"
LOCK_LANES = """
SELECT FROM messor.lanes WHERE worker_id = ANY ($1::bigint[]) ORDER BY host_id FOR NO KEY UPDATE
"""

# Lanes still held wait their delay from now on, or that of an open crawl run of their domain: a
# worker that died may have sent a request at the last moment. (One that stopped claimed them while
# stopping, and sent nothing on them.)
END = """
WITH ended AS (
  UPDATE messor.worker_leases SET ended_at = messor.clock(), end_reason = $2
   WHERE id = ANY ($1::bigint[]) AND ended_at IS NULL RETURNING id
), waiting AS (
  SELECT l.host_id, l.token, l.claimed_at,
         greatest(l.ready_at, messor.clock() + make_interval(secs => greatest(l.delay, u.delay)))
           AS ready_at
    FROM messor.lanes l JOIN ended e ON e.id = l.worker_id
   CROSS JOIN LATERAL (
     SELECT max(r.delay) AS delay FROM messor.crawl_runs r
      WHERE r.domain_id = l.domain_id AND r.ended_at IS NULL
        AND r.seen_at > messor.clock() - interval '60 seconds') u
), closed AS (
  UPDATE messor.visits v SET ended_at = messor.clock(), end_reason = $2 FROM waiting w
   WHERE v.host_id = w.host_id AND v.token = w.token AND v.claimed_at = w.claimed_at
)
UPDATE messor.lanes l SET worker_id = NULL, slots = 0, claimed_at = NULL,
       ready_at = w.ready_at, claim_at = w.ready_at
  FROM waiting w WHERE l.host_id = w.host_id
"""


@dataclass(frozen=True, slots=True)
class Renewal:
    """The result of a renewal."""

    deadline: float  # valid once the flush commits
    closed: list[int]  # host ids of lanes to leave
    committed: bool  # the flush had already committed; only its response was lost


class WorkerLease:
    """One process's lease, and its local deadline."""

    def __init__(self, lease_id: int, seconds: float, granted_at: float) -> None:
        self.id = lease_id
        self.seconds = seconds
        self.deadline = granted_at + seconds
        self.is_halted = False  # all traffic to sites is halted: nothing may be sent
        self.database_clock = DatabaseClock()

    @classmethod
    async def take(cls, database: Database, name: str, seconds: float) -> WorkerLease:
        sent_at = clock.now()
        row = await database.fetchrow(TAKE, name, seconds)
        assert row is not None
        lease = cls(row["id"], seconds, sent_at)
        lease.database_clock.measure(sent_at, clock.now(), row["now"])
        return lease

    @property
    def remaining(self) -> float:
        return self.deadline - clock.now()

    async def renew(self, connection: Connection, flush: int) -> Renewal:
        """Renew the lease within the flush of that number."""
        sent_at = clock.now()
        row = await connection.fetchrow(RENEW, self.id, self.seconds, flush)
        assert row is not None
        self.database_clock.measure(sent_at, clock.now(), row["now"])
        if not row["alive"]:
            raise LeaseLostError(f"Worker lease {self.id} expired and was revoked.")
        return Renewal(sent_at + self.seconds, row["closed"], row["committed"])

    async def end(self, connection: Connection) -> None:
        await _end(connection, [self.id], "stopped")


async def end_dead(connection: Connection, lease_ids: Sequence[int]) -> None:
    """End the leases of workers that are known to be dead, so that their lanes go on."""
    if lease_ids:
        await _end(connection, lease_ids, "expired")


async def _end(connection: Connection, lease_ids: Sequence[int], reason: str) -> None:
    await connection.execute(LOCK, lease_ids)
    await connection.execute(LOCK_LANES, lease_ids)
    await connection.execute(END, lease_ids, reason)
