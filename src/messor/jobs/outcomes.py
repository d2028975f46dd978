"""How jobs end: done, waiting for another attempt, or dead with a reason.

The caller must still hold the job; the outcome and the job's effects are one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from messor.errors import LeaseLostError
from messor.jobs.handlers import Result
from messor.jobs.jobs import Job
from messor.jobs.leases import holdings
from messor.ledger import errors
from messor.ledger.errors import PATIENCE, Category, LoggedError
from messor.store.database import Connection

COMPLETE = """
UPDATE messor.jobs j
   SET state = 'done', result_json = said.result, finished_at = moment.now,
       locked_by = NULL, locked_at = NULL, lock_expires_at = NULL
  FROM unnest($1::uuid[], $2::bigint[], $3::jsonb[]) AS said (id, token, result),
       (SELECT messor.clock() AS now) moment
 WHERE j.id = said.id AND j.token = said.token AND j.state = 'running'
RETURNING j.id
"""

# The wait varies by half of itself in both directions.
FAIL = """
UPDATE messor.jobs
   SET state = CASE WHEN $3::boolean THEN 'queued' ELSE 'dead' END,
       available_at = CASE WHEN $3
         THEN (SELECT messor.clock()) + make_interval(secs => $4::float8 * (0.5 + random()))
         ELSE available_at END,
       finished_at = CASE WHEN NOT $3 THEN (SELECT messor.clock()) END,
       dead_category = CASE WHEN NOT $3 THEN $5::text END,
       dead_type = CASE WHEN NOT $3 THEN $6::text END,
       dead_reason = CASE WHEN NOT $3 THEN left($7::text, 2000) END,
       locked_by = NULL, locked_at = NULL, lock_expires_at = NULL
 WHERE id = $1 AND token = $2 AND state = 'running'
RETURNING state
"""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a failed job waits: `first_seconds`, doubling each time, up to a limit.

    `patience` multiplies the wait by error category; the limit applies to all. With `steps` the
    waits are these instead.
    """

    first_seconds: float = 30.0
    limit_seconds: float = 3600.0
    patience: Mapping[Category, float] = field(default_factory=lambda: PATIENCE)
    steps: tuple[float, ...] = ()

    def seconds(self, attempts: int, category: Category) -> float:
        if self.steps:
            return self.steps[min(attempts, len(self.steps)) - 1]
        first = self.first_seconds * self.patience.get(category, 1.0)
        return min(first * 2.0 ** (attempts - 1), self.limit_seconds)


BACKOFF = Backoff()


async def complete(connection: Connection, job: Job, result: Result = None) -> None:
    """Record the job as done in the transaction of its effects, so that both commit or neither."""
    if await complete_all(connection, [(job, result)]):
        raise _lost(job)


async def complete_all(connection: Connection, finished: Sequence[tuple[Job, Result]]) -> list[Job]:
    """Record many jobs as done; return those that were lost, whose effects must not commit.

    `leases.confirm`, called before the effects in the same transaction, ensures there are none.
    """
    jobs = [job for job, _ in finished]
    stored = [
        None if result is None else msgspec.json.encode(result).decode() for _, result in finished
    ]
    rows = await connection.fetch(COMPLETE, *holdings(jobs), stored)
    done = {row["id"] for row in rows}
    return [job for job in jobs if job.id not in done]


async def fail(
    connection: Connection,
    job: Job,
    fault: LoggedError,
    *,
    retryable: bool,
    backoff: Backoff = BACKOFF,
) -> str:
    """Requeue the job or make it a dead letter; return its new state."""
    again = retryable and job.attempts < job.max_attempts
    wait = backoff.seconds(job.attempts, fault.category)
    why = (fault.category, fault.error_type, fault.message)
    state: str | None = await connection.fetchval(FAIL, job.id, job.token, again, wait, *why)
    if state is None:
        raise _lost(job)
    await errors.log(connection, [fault])
    return state


def _lost(job: Job) -> LeaseLostError:
    return LeaseLostError(f"Job {job.id} is no longer held with token {job.token}.")
