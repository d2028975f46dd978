"""Audit of the seals: every sealed row is compared with its commitment, every block with the chain.

A row that an erasure or retention removed is accounted for by a removal, which is sealed itself. A row
that is gone or changed without one, and a row that no block knows, are findings. What was cut from
the end of the chain shows only beside a checkpoint that was kept elsewhere (`ledger.checkpoints`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date
from hashlib import sha256
from typing import Any

from messor.ledger.seal_blocks import COLUMNS, FIRST, NO_SALT, SealBlock, commitment_of
from messor.ledger.seal_report import SealReport
from messor.ledger.sealed_rows import LOGS, SealedLog
from messor.store.database import Connection, Database

CAUSES = frozenset(("erasure", "retention"))
BLOCKS = 20  # read at a time
WINDOW = 50_000  # ids compared at a time

CHAIN = f"SELECT {COLUMNS} FROM messor.seals WHERE seq > $1 ORDER BY seq LIMIT $2"
ROWS = """
SELECT l.id, {text} AS text FROM messor.{name} l
 WHERE l.id BETWEEN $1 AND $2 AND l.{time} >= ($3::date)::timestamp AT TIME ZONE 'UTC'
   AND l.{time} < ($3::date + interval '1 month')::timestamp AT TIME ZONE 'UTC'
"""
CAUSES_OF = """
SELECT row_id, array_agg(DISTINCT cause) AS causes FROM messor.seal_removals
 WHERE log = $1 AND row_id = ANY ($2::bigint[]) GROUP BY row_id
"""
# Retention drops whole months that are over.
MONTHS = """
SELECT log, month FROM messor.seal_removals
 WHERE row_id IS NULL AND cause = 'retention'
   AND month + interval '1 month' <= removed_at AT TIME ZONE 'UTC'
"""
FIRST_ID = "SELECT min(id) FROM messor.{name} WHERE id > $1"
IDS = "SELECT id FROM messor.{name} WHERE id > $1 AND id <= $2"
SEALED_IDS = """
SELECT i AS id FROM messor.seals s, unnest(s.ids) i
 WHERE s.log = $1 AND s.last_id > $2 AND s.first_id <= $3 AND i > $2 AND i <= $3
"""
UNSEALED = "SELECT count(*) FROM messor.{name} WHERE id > $1"
# Cut so lately that the rest is not sealed again yet.
PENDING = """
SELECT DISTINCT row_id FROM messor.seal_removals WHERE log = $1 AND row_id = ANY ($2::bigint[]) AND id > $3
"""


class SealAudit:
    """One audit. Some blocks and their rows are read as of one moment, then the next ones."""

    def __init__(
        self,
        database: Database,
        keys: Mapping[str, bytes],
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._database = database
        self._keys = keys
        self._progress = progress
        self._report = SealReport()
        self._months: set[tuple[str, date]] = set()
        self._cut: dict[str, dict[int, int]] = {name: {} for name in LOGS}  # row: its block
        self._newest = dict.fromkeys(LOGS, 0)  # the last id that is sealed
        self.heads: dict[int, bytes] = {0: FIRST}

    async def run(self) -> SealReport:
        seq, has_more = 0, True
        while has_more:
            async with self._moment() as connection:
                rows = await connection.fetch(CHAIN, seq, BLOCKS)
                for row in rows:
                    block = SealBlock.of(row)
                    if self._check_block(block, seq, self.heads[seq]):
                        await self._check_rows(connection, block)
                    seq = block.seq
                    self.heads[seq] = block.head
            has_more = len(rows) == BLOCKS
            self._progress(self._report.rows.total())
        for log in LOGS.values():
            await self._check_cut(log)
            await self._look_for_inserted(log)
        return self._report

    @asynccontextmanager
    async def _moment(self) -> AsyncIterator[Connection]:
        """A transaction that sees everything as of its beginning."""
        async with self._database.transaction() as connection:
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            self._months = {(row["log"], row["month"]) for row in await connection.fetch(MONTHS)}
            yield connection

    def _check_block(self, block: SealBlock, seq: int, head: bytes) -> bool:
        self._report.blocks += 1
        fault = self._report.note
        if block.seq != seq + 1:
            fault("chain", None, None, block.seq, f"block {seq + 1} is missing")
        if block.log not in LOGS or not block.is_whole():
            fault("chain", block.log, None, block.seq, "the block is damaged")
            return False
        if block.previous != head or sha256(block.header()).digest() != block.head:
            fault("chain", block.log, None, block.seq, "the block is not what was chained")
        elif not block.is_signed(self._keys):
            fault("signature", block.log, None, block.seq, "none of our keys signed the block")
        if not 1 <= block.form <= LOGS[block.log].form:
            fault("chain", block.log, None, block.seq, f"form {block.form} is not known here")
            return False
        return True

    async def _check_rows(self, connection: Connection, block: SealBlock) -> None:
        log = LOGS[block.log]
        self._newest[log.name] = max(self._newest[log.name], block.last_id)
        rows = await connection.fetch(
            ROWS.format(name=log.name, text=log.text(block.form), time=log.time),
            block.first_id,
            block.last_id,
            block.month,
        )
        texts = {row["id"]: row["text"] for row in rows}
        absent: list[int] = []
        cut: list[int] = []
        for at, row_id in enumerate(block.ids):
            salt, text = block.salt(at), texts.get(row_id)
            if salt == NO_SALT:
                (absent if text is None else cut).append(row_id)
            elif text is None:
                absent.append(row_id)
            elif commitment_of(salt, text) != block.commitment(at):
                why = "the row differs from what was sealed"
                self._report.note("changed", log.name, row_id, block.seq, why)
                self._cut[log.name].pop(row_id, None)
            else:
                self._report.rows[log.name] += 1
                self._cut[log.name].pop(row_id, None)
        self._cut[log.name].update(dict.fromkeys(cut, block.seq))
        await self._account_for(connection, block, [*absent, *cut])

    async def _account_for(
        self, connection: Connection, block: SealBlock, gone: Sequence[int]
    ) -> None:
        """Rows that are gone, or of which only a part is left: what removed them?"""
        if not gone:
            return
        if (block.log, block.month) in self._months:
            self._report.erased["retention"] += len(gone)
            return
        rows = await connection.fetch(CAUSES_OF, block.log, gone)
        causes = {row["row_id"]: set(row["causes"]) for row in rows}
        for row_id in gone:
            known: Collection[str] = causes.get(row_id, ())
            if not known:
                why = "the row, or its salt, is gone and nothing says why"
                self._report.note("removed", block.log, row_id, block.seq, why)
            elif not CAUSES.issuperset(known):
                why = "the row was deleted or changed outside of erasure and retention"
                self._report.note("unexplained", block.log, row_id, block.seq, why)
            else:
                self._report.erased[min(known)] += 1

    async def _check_cut(self, log: SealedLog) -> None:
        """What an erasure left of a row must be sealed again."""
        cut = self._cut[log.name]
        if not cut:
            return
        pending = await self._database.fetch(
            PENDING, log.name, list(cut), self._newest["seal_removals"]
        )
        for row_id in cut.keys() - {row["row_id"] for row in pending}:
            why = "the row is not what an erasure left of it"
            self._report.note("changed", log.name, row_id, cut[row_id], why)

    async def _look_for_inserted(self, log: SealedLog) -> None:
        """Rows among the sealed ones that no block knows; then how many are not sealed yet."""
        last, after = self._newest[log.name], -(1 << 62)
        first = await self._database.fetchval(FIRST_ID.format(name=log.name), after)
        while first is not None and first <= last:
            after, until = first - 1, min(last, first - 1 + WINDOW)
            async with self._moment() as connection:
                held = await connection.fetch(IDS.format(name=log.name), after, until)
                sealed = await connection.fetch(SEALED_IDS, log.name, after, until)
            for row_id in sorted({row["id"] for row in held} - {row["id"] for row in sealed}):
                why = "the row was never sealed, and lies among rows that were"
                self._report.note("inserted", log.name, row_id, None, why)
            first = await self._database.fetchval(FIRST_ID.format(name=log.name), until)
        unsealed: Any = await self._database.fetchval(UNSEALED.format(name=log.name), last)
        if unsealed:
            self._report.unsealed[log.name] = unsealed
