"""Rate limits by any key, shared by all processes: one statement per request.

A caller may use up to `limit.count` at once and regains them evenly over `limit.window`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta

from messor.access.errors import ThrottledError
from messor.access.origin import network_of
from messor.store.database import Connection, Database

# $1 key, $2 window, $3 the cost as a part of the window. A refused request changes nothing.
TAKE = """
WITH moment AS MATERIALIZED (SELECT messor.clock() AS now), taken AS (
  INSERT INTO messor.rate_limits AS r (key, spent_until)
  SELECT $1, now + $3::interval FROM moment
  ON CONFLICT (key) DO UPDATE
     SET spent_until = greatest(r.spent_until, (SELECT now FROM moment)) + $3::interval
   WHERE greatest(r.spent_until, (SELECT now FROM moment)) + $3::interval
         <= (SELECT now FROM moment) + $2::interval
  RETURNING spent_until
)
SELECT EXISTS (SELECT FROM taken) AS is_taken,
       extract(epoch FROM greatest(coalesce(
         (SELECT spent_until FROM taken),
         (SELECT spent_until FROM messor.rate_limits WHERE key = $1),
         now + $2::interval) - now, interval '0'))::float8 AS spent
  FROM moment
"""


@dataclass(frozen=True, slots=True)
class Limit:
    """How many requests are allowed in which time."""

    count: int
    window: timedelta

    def __post_init__(self) -> None:
        if self.count < 1 or self.window <= timedelta(0):
            raise ValueError("A rate limit needs a count of at least 1 and a positive window.")


@dataclass(frozen=True, slots=True)
class Allowance:
    """The result for a request; in whole seconds, as headers require."""

    is_taken: bool
    limit: int
    remaining: int
    reset_after: int  # until the full limit is available again
    retry_after: int  # until one is available; 0 when one is

    def require(self) -> None:
        """Raise if the request was refused."""
        if not self.is_taken:
            raise ThrottledError("Too many requests.", self.retry_after)


async def take(
    source: Connection | Database, key: str, limit: Limit, *, cost: int = 1
) -> Allowance:
    """Use `cost` of the key's limit; in a transaction of its own it takes effect at once."""
    if not 1 <= cost <= limit.count:
        raise ValueError(f"A cost of {cost} exceeds the limit of {limit.count}.")
    each = limit.window / limit.count
    row = await source.fetchrow(TAKE, key, limit.window, each * cost)
    assert row is not None
    window, one = limit.window.total_seconds(), each.total_seconds()
    free = max(0.0, window - row["spent"])
    wait = 0.0 if row["is_taken"] else max(one * cost - free, 0.0)
    return Allowance(
        is_taken=row["is_taken"],
        limit=limit.count,
        remaining=min(limit.count, math.floor(free / one + 1e-6)),
        reset_after=math.ceil(row["spent"]),
        retry_after=0 if row["is_taken"] else max(1, math.ceil(wait)),
    )


def key_of_address(what: str, address: str | None) -> str:
    """A key for one IP address: `what` separates limits for different purposes."""
    return f"{what}:address:{network_of(address)}"
