"""Sealing: rows of the ledger and of the log of requests become blocks of a chain, after their commit.

Nothing is done in the transactions that write the logs. A log is sealed up to a mark: an id, and the
position in the order of commits before which every transaction must have ended that could still
write rows up to it. So blocks follow the order of commits, and no row is missed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from messor.core import clock
from messor.ledger.seal_blocks import COLUMNS, FIRST, MAX_ROWS, NewBlock, SealBlock, Signer
from messor.ledger.sealed_rows import LOGS, REMOVALS, SealedLog
from messor.store.database import Connection, Database

WINDOW = 10_000  # ids per transaction
WAIT_SECONDS = 10.0  # for transactions in progress, when somebody waits
POLL_SECONDS = 0.1

LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('messor.seals', 0))"
MARK_IDS = """
INSERT INTO messor.seal_marks (log, mark_id)
SELECT l, coalesce(pg_sequence_last_value(pg_get_serial_sequence('messor.' || l, 'id')::regclass), 0)
  FROM unnest($1::text[]) l
ON CONFLICT (log) DO UPDATE SET mark_id = excluded.mark_id WHERE seal_marks.mark_id IS NULL
"""
# In a later transaction: whoever took an id up to the mark is counted among those running now.
MARK_POSITIONS = """
UPDATE messor.seal_marks
   SET mark_tx = pg_snapshot_xmax(pg_current_snapshot())::text::bigint + messor.commit_shift()
 WHERE mark_id IS NOT NULL AND mark_tx IS NULL
"""
READY = """
SELECT log, sealed_to, mark_id FROM messor.seal_marks
 WHERE mark_tx <= messor.commit_horizon()::text::bigint
 ORDER BY array_position($1::text[], log) LIMIT 1
"""
ARE_WAITING = "SELECT EXISTS (SELECT FROM messor.seal_marks WHERE mark_id IS NOT NULL)"
ROWS = """
SELECT l.id, {month} AS month, {text} AS text FROM messor.{name} l
 WHERE l.id > $1 AND l.id <= $2 ORDER BY l.id
"""
NAMED_ROWS = """
SELECT l.id, {month} AS month, {text} AS text FROM messor.{name} l
 WHERE l.id BETWEEN $2 AND $3 AND l.id = ANY ($1::bigint[]) ORDER BY l.id
"""
NEXT_ID = "SELECT min(id) FROM messor.{name} WHERE id > $1"
NEWEST = "SELECT seq, head FROM messor.seals ORDER BY seq DESC LIMIT 1"
STORE = f"""
INSERT INTO messor.seals ({COLUMNS})
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
"""
MOVE = "UPDATE messor.seal_marks SET sealed_to = $2 WHERE log = $1"
FINISH = (
    "UPDATE messor.seal_marks SET sealed_to = $2, mark_id = NULL, mark_tx = NULL WHERE log = $1"
)
REMOVED = """
SELECT log, array_agg(DISTINCT row_id) AS ids FROM messor.seal_removals
 WHERE id > $1 AND id <= $2 AND row_id IS NOT NULL GROUP BY log ORDER BY log
"""
# Its row was erased while it was being sealed.
DROP_SALTS = "SELECT messor.drop_salts($1, $2)"
NOW = """SELECT to_char(messor.clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""


async def mark_ids(connection: Connection) -> None:
    """Note up to which id logs are to be sealed, where that is not noted yet."""
    await connection.execute(MARK_IDS, list(LOGS))


async def mark_positions(connection: Connection) -> None:
    """Note, in a later transaction, which transactions have to end first."""
    await connection.execute(MARK_POSITIONS)


async def seal_some(connection: Connection, signer: Signer) -> int | None:
    """Seal the next rows of a log whose mark is reached; how many, None if there is no such log."""
    await connection.execute(LOCK)
    ready = await connection.fetchrow(READY, list(LOGS))
    if ready is None:
        return None
    log, after, mark = LOGS[ready["log"]], ready["sealed_to"], ready["mark_id"]
    until = min(mark, after + WINDOW)
    rows = await connection.fetch(_of(log, ROWS), after, until)
    if not rows and until < mark:
        following = await connection.fetchval(_of(log, NEXT_ID), until)
        until = min(mark, following - 1) if following is not None else mark
    await _store(connection, list(_blocks(log, rows)), signer)
    if log is REMOVALS and rows:
        await _seal_what_is_left(connection, after, until, signer)
    await connection.execute(FINISH if until >= mark else MOVE, log.name, until)
    return len(rows)


async def seal_now(database: Database, signer: Signer) -> int:
    """Seal what is committed by now, as far as transactions in progress allow; how many rows."""
    async with database.transaction() as connection:
        await mark_ids(connection)
    async with database.transaction() as connection:
        await mark_positions(connection)
    count, deadline = 0, clock.now() + WAIT_SECONDS
    while await database.fetchval(ARE_WAITING):
        async with database.transaction() as connection:
            done = await seal_some(connection, signer)
        count += done or 0
        if done is None:
            if clock.now() > deadline:
                break
            await asyncio.sleep(POLL_SECONDS)
    return count


def _of(log: SealedLog, sql: str) -> str:
    return sql.format(name=log.name, month=log.month, text=log.text(log.form))


def _blocks(log: SealedLog, rows: Sequence[Any]) -> Iterator[NewBlock]:
    for month, found in groupby(sorted(rows, key=itemgetter("month")), itemgetter("month")):
        same = list(found)
        for part in (same[at : at + MAX_ROWS] for at in range(0, len(same), MAX_ROWS)):
            ids, texts = [row["id"] for row in part], [row["text"] for row in part]
            yield NewBlock(log.name, log.form, month, ids, texts)


async def _store(connection: Connection, blocks: Sequence[NewBlock], signer: Signer) -> None:
    if not blocks:
        return
    newest = await connection.fetchrow(NEWEST)
    seq, head = (newest["seq"], bytes(newest["head"])) if newest is not None else (0, FIRST)
    sealed_at = await connection.fetchval(NOW)
    for new in blocks:
        block: SealBlock = new.sealed(seq + 1, head, sealed_at, signer)
        seq, head = block.seq, block.head
        await connection.execute(
            STORE, block.seq, block.log, block.form, block.month, block.first_id, block.last_id,
            block.ids, block.salts, block.commitments, block.previous, block.head, block.sealed_at,
            block.key_id, block.signature,
        )  # fmt: skip


async def _seal_what_is_left(
    connection: Connection, after: int, until: int, signer: Signer
) -> None:
    """Seal again rows of which an erasure cut only a part."""
    for row in await connection.fetch(REMOVED, after, until):
        log, ids = LOGS[row["log"]], row["ids"]
        await connection.execute(DROP_SALTS, log.name, ids)
        left = await connection.fetch(_of(log, NAMED_ROWS), ids, min(ids), max(ids))
        await _store(connection, list(_blocks(log, left)), signer)
