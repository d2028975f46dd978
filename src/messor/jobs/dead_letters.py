"""Acts on dead letters: requeue and purge.

They run in batches, one transaction and event each, and affect only jobs that were dead when the
act began: a job that dies again meanwhile is not taken twice.
"""

from __future__ import annotations

from dataclasses import replace

from messor.jobs.dead_letter_queries import DEAD_LETTERS, DeadLetterFilter
from messor.jobs.history import COLUMNS
from messor.ledger import events
from messor.ledger.events import Event
from messor.store.database import Database

BATCH = 5000

REQUEUE = """
WITH chosen AS (
  SELECT j.id FROM messor.jobs j WHERE {chosen} ORDER BY j.id LIMIT {batch} FOR UPDATE
), again AS (
  UPDATE messor.jobs j
     SET state = 'queued', attempts = 0, available_at = (SELECT messor.clock()),
         finished_at = NULL, dead_category = NULL, dead_type = NULL, dead_reason = NULL
    FROM chosen WHERE j.id = chosen.id RETURNING j.id
)
SELECT count(*) FROM again
"""

PURGE = f"""
WITH chosen AS (
  SELECT j.id FROM messor.jobs j WHERE {{chosen}} ORDER BY j.id LIMIT {{batch}} FOR UPDATE
), gone AS (
  DELETE FROM messor.jobs j USING chosen WHERE j.id = chosen.id RETURNING j.*
), kept AS (
  INSERT INTO messor.jobs_history ({COLUMNS}) SELECT {COLUMNS} FROM gone
)
SELECT count(*) FROM gone
"""


async def requeue(
    database: Database, choice: DeadLetterFilter, *, actor: str, batch: int = BATCH
) -> int:
    """Requeue dead letters with all their attempts; return how many."""
    event = Event("jobs.requeued", actor, data=choice.as_data())
    return await _act(database, REQUEUE, choice, event, batch)


async def purge(
    database: Database, choice: DeadLetterFilter, *, actor: str, batch: int = BATCH
) -> int:
    """Move dead letters to the history, which frees their keys; return how many."""
    event = Event("jobs.purged", actor, data=choice.as_data())
    return await _act(database, PURGE, choice, event, batch)


async def _act(
    database: Database, statement: str, choice: DeadLetterFilter, event: Event, batch: int
) -> int:
    """Act batch by batch; each batch's event says how many jobs it changed."""
    condition, values = DEAD_LETTERS.condition(choice)
    values.append(await database.fetchval("SELECT messor.clock()"))
    chosen = f"{condition} AND j.finished_at <= ${len(values)}"
    sql, total = statement.format(chosen=chosen, batch=batch), 0
    while True:
        async with database.transaction() as connection:
            touched: int = await connection.fetchval(sql, *values)
            if touched:
                fact = replace(event, data={"jobs": touched, **(event.data or {})})
                await events.record(connection, [fact])
        total += touched
        if touched < batch:
            return total
