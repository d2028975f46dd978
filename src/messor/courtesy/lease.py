"""The worker lease: a process's right to send requests, renewed by its flushes.

The database counts it on its own clock. Here it is a deadline on the monotonic clock, counted
from *before* the query that granted it, so this side always stops first.
"""

from __future__ import annotations

from messor.errors import LeaseLostError
from messor.kit import clock
from messor.store.database import Connection, Database

TAKE = """
INSERT INTO messor.worker_leases (name, expires_at)
VALUES ($1, messor.clock() + make_interval(secs => $2)) RETURNING id
"""

# Renewal and, in the same answer, which held lanes must be left: their domain was paused,
# suspended or worse. A lease that ran out but was not reaped yet may still be renewed, because
# nobody else took its lanes.
RENEW = """
WITH renewed AS (
  UPDATE messor.worker_leases SET expires_at = messor.clock() + make_interval(secs => $2)
   WHERE id = $1 AND ended_at IS NULL RETURNING id
)
SELECT EXISTS (SELECT FROM renewed) AS alive,
       ARRAY(SELECT l.host_id FROM messor.lanes l JOIN messor.domains d ON d.id = l.domain_id
              WHERE l.worker_id = $1 AND NOT (d.status = 'approved' AND d.active)) AS closed
"""

END = """
UPDATE messor.worker_leases SET ended_at = messor.clock(), end_reason = 'stopped'
 WHERE id = $1 AND ended_at IS NULL
"""


class WorkerLease:
    """One process's lease, and when it ends for us."""

    def __init__(self, lease_id: int, seconds: float, granted_at: float) -> None:
        self.id = lease_id
        self.seconds = seconds
        self.deadline = granted_at + seconds

    @classmethod
    async def take(cls, database: Database, name: str, seconds: float) -> WorkerLease:
        asked_at = clock.now()
        return cls(await database.fetchval(TAKE, name, seconds), seconds, asked_at)

    @property
    def remaining(self) -> float:
        return self.deadline - clock.now()

    async def renew(self, connection: Connection) -> tuple[float, list[int]]:
        """Renew inside a flush; answers the deadline that holds once it commits, and lanes to leave."""
        asked_at = clock.now()
        row = await connection.fetchrow(RENEW, self.id, self.seconds)
        assert row is not None
        if not row["alive"]:
            raise LeaseLostError(f"Worker lease {self.id} ran out and was taken away.")
        return asked_at + self.seconds, row["closed"]

    async def end(self, connection: Connection) -> None:
        await connection.execute(END, self.id)
