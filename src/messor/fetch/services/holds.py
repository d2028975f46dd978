"""Holds: how long a service asked to be left alone, shared by all workers.

A service that returns 429 counts all workers together, so each of them must wait. Where it does not
say for how long, the wait doubles each time from a minute to an hour. Rejected keys and spent
credits are not stored here: once fixed, a restart must be enough.
"""

from __future__ import annotations

from messor.store.database import Connection, Database

FIRST_SECONDS = 60.0
MAX_DOUBLED = 3600.0
MAX_SECONDS = 24 * 3600.0

# Concurrent requests are refused together: only one sent after the last hold ended makes the next
# one longer. An hour without a hold resets the sequence.
HOLD = f"""
INSERT INTO messor.provider_holds AS h (provider, held_until, doublings, reason)
VALUES ($1, messor.clock() + coalesce($2::float8, {FIRST_SECONDS}) * interval '1 s', 0, $3)
ON CONFLICT (provider) DO UPDATE SET
  (held_until, doublings, reason, set_at) = (
    SELECT greatest(h.held_until, messor.clock() + wait.seconds * interval '1 s'), wait.doublings, $3,
           messor.clock()
      FROM (SELECT step.doublings,
                   CASE WHEN $2::float8 IS NOT NULL THEN $2::float8
                        WHEN h.held_until > messor.clock() THEN 0
                        ELSE least({FIRST_SECONDS} * 2 ^ step.doublings, {MAX_DOUBLED}) END
                     AS seconds
              FROM (SELECT CASE WHEN h.held_until > messor.clock() THEN h.doublings
                                WHEN h.held_until > messor.clock() - interval '1 hour'
                                THEN least(h.doublings + 1, 6) ELSE 0 END AS doublings) step) wait)
RETURNING extract(epoch FROM h.held_until - messor.clock())::float8
"""

CURRENT = """
SELECT extract(epoch FROM held_until - messor.clock())::float8 AS seconds, reason
  FROM messor.provider_holds WHERE provider = $1 AND held_until > messor.clock()
"""


class HeldError(Exception):
    """The service asked to be left alone, and the hold has not ended."""

    def __init__(self, seconds: float, reason: str) -> None:
        super().__init__(reason)
        self.seconds = seconds
        self.reason = reason


async def hold(
    source: Connection | Database, provider: str, seconds: float | None, reason: str
) -> float:
    """Make every worker pause a service; returns for how many seconds."""
    named = min(seconds, MAX_SECONDS) if seconds else None
    remaining: float = await source.fetchval(HOLD, provider, named, reason)
    return remaining


async def current(source: Connection | Database, provider: str) -> HeldError | None:
    """The current hold on a service, if any."""
    row = await source.fetchrow(CURRENT, provider)
    return None if row is None else HeldError(row["seconds"], row["reason"])
