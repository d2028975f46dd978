"""The outbox: hints written by the transaction that enqueued the job, and who relays them.

A database trigger writes them, disabled until a broker is first used. Reading a hint changes
nothing; it is deleted once the broker has it, so a crash in between at worst duplicates it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from messor.errors import UnavailableError
from messor.store.database import Database

IS_OPEN = """
SELECT tgenabled <> 'D' FROM pg_trigger
 WHERE tgrelid = 'messor.jobs'::regclass AND tgname = 'jobs_hint'
"""
OPEN = "ALTER TABLE messor.jobs ENABLE TRIGGER jobs_hint"

HOLD = """
UPDATE messor.outbox_relay
   SET holder = $1, expires_at = messor.clock() + make_interval(secs => $2)
 WHERE holder = $1 OR expires_at < messor.clock()
RETURNING true
"""
LET_GO = "UPDATE messor.outbox_relay SET expires_at = messor.clock() WHERE holder = $1"

# A hint is useful while its job waits.
WAITING = """
SELECT o.id, o.job_id, o.job_type, (j.id IS NOT NULL) AS is_wanted
  FROM messor.job_outbox o
  LEFT JOIN messor.jobs j ON j.id = o.job_id AND j.state = 'queued'
 WHERE o.due_at <= (SELECT messor.clock()) AND o.job_type <> ALL($2::text[])
 ORDER BY o.due_at, o.id LIMIT $1
"""
FORGET = "DELETE FROM messor.job_outbox WHERE id = ANY($1::bigint[])"

# The oldest jobs of each type and priority that should have been claimed long ago: their hints
# were lost, they wait for another attempt, or their worker died.
OVERDUE = """
SELECT j.id AS job_id, j.job_type
  FROM unnest($1::text[]) AS kind (job_type)
 CROSS JOIN generate_series(1, 10) AS rank (priority)
 CROSS JOIN LATERAL (
   SELECT id, job_type FROM messor.jobs
    WHERE job_type = kind.job_type AND priority = rank.priority AND state IN ('queued', 'running')
      AND available_at <= (SELECT messor.clock()) - make_interval(secs => $2)
    ORDER BY available_at LIMIT $3) j
"""


@dataclass(frozen=True, slots=True)
class Hint:
    """A notice that a job of a type is waiting; its id is only informative."""

    job_id: UUID
    job_type: str


async def open_outbox(database: Database) -> None:
    """From now on, enqueuing a job writes a hint."""
    if await database.fetchval(IS_OPEN):
        return
    try:
        await database.fetch(OPEN)
    except asyncpg.InsufficientPrivilegeError as error:
        raise UnavailableError(
            "This database user may not enable the outbox; the owner of messor.jobs must run: "
            f"{OPEN}"
        ) from error


async def hold(database: Database, holder: str, seconds: float) -> bool:
    """Become, or remain, the relay."""
    return bool(await database.fetchval(HOLD, holder, seconds))


async def let_go(database: Database, holder: str) -> None:
    await database.fetch(LET_GO, holder)


async def waiting(database: Database, limit: int, without: Collection[str] = ()) -> dict[int, Hint]:
    """The oldest due hints, by number, `without` those of some types.

    Useless ones are deleted.
    """
    rows = await database.fetch(WAITING, limit, list(without))
    useless = [row["id"] for row in rows if not row["is_wanted"]]
    if useless:
        await forget(database, useless)
    return {row["id"]: Hint(row["job_id"], row["job_type"]) for row in rows if row["is_wanted"]}


async def forget(database: Database, numbers: Sequence[int]) -> None:
    if numbers:
        await database.fetch(FORGET, list(numbers))


async def overdue(
    database: Database, job_types: Sequence[str], seconds: float, limit: int
) -> list[Hint]:
    """Hints for jobs that have waited too long, up to `limit` per type and priority."""
    rows = await database.fetch(OVERDUE, list(job_types), seconds, limit)
    return [Hint(**dict(row)) for row in rows]
