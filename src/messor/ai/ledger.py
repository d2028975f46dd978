"""The ledger of model calls: reservations, settlements, and answers to reuse.

A reservation is one transaction that succeeds only within all three caps, so concurrent workers
never exceed them together. It reserves the maximum cost of a call; settling releases the unused
part. Months are UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec

from messor.ai.options import Cap
from messor.ai.reply import ABOUT_THE_TEXT, Reply, ReplyStatus
from messor.store.database import Connection, Database

# After this, an unsettled call counts as spent: its process died.
LOST_SECONDS = 900.0
# How long a failure caused by the text is remembered.
FAILURE_DAYS = 7
_ALWAYS = date(1, 1, 1)

MONTH = "SELECT date_trunc('month', (SELECT messor.clock()) AT TIME ZONE 'UTC')::date"
GIVE_UP = """
UPDATE messor.ai_calls SET ending = 'lost', ended_at = (SELECT messor.clock()),
       detail = 'Its process ended before the answer came.'
 WHERE input_hash = $1 AND ending = 'asked'
   AND asked_at < (SELECT messor.clock()) - make_interval(secs => $2)
"""
ASK = """
INSERT INTO messor.ai_calls (input_hash, purpose, model, prompt_version, page_id, snapshot_id, domain,
                             job, month, tokens, cost)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (input_hash) WHERE ending IN ('asked', 'answered') DO NOTHING RETURNING id
"""
# The ON CONFLICT condition is evaluated on the locked row, after concurrent writers.
SPEND = """
INSERT INTO messor.ai_usage AS u (scope, key, month, calls, tokens, cost)
SELECT $1, $2, $3::date, 1, $4::bigint, $5::numeric
 WHERE ($6::bigint IS NULL OR $4::bigint <= $6::bigint)
   AND ($7::numeric IS NULL OR $5::numeric <= $7::numeric)
ON CONFLICT (scope, key, month) DO UPDATE
   SET calls = u.calls + 1, tokens = u.tokens + excluded.tokens, cost = u.cost + excluded.cost,
       used_at = (SELECT messor.clock())
 WHERE ($6::bigint IS NULL OR u.tokens + excluded.tokens <= $6::bigint)
   AND ($7::numeric IS NULL OR u.cost + excluded.cost <= $7::numeric)
RETURNING true
"""
# Whether a call would fit once calls in flight have released their reservations.
MAY_FIT = """
SELECT ($4::bigint IS NULL OR u.tokens - h.tokens + $6::bigint <= $4::bigint)
   AND ($5::numeric IS NULL OR u.cost - h.cost + $7::numeric <= $5::numeric)
  FROM messor.ai_usage u CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.tokens), 0) AS tokens, coalesce(sum(c.cost), 0) AS cost
      FROM messor.ai_calls c WHERE c.ending = 'asked' AND c.id <> $8
       AND c.asked_at > (SELECT messor.clock()) - make_interval(secs => $9)
       AND CASE $1 WHEN 'job' THEN c.job = $2 WHEN 'domain' THEN c.domain = $2 AND c.month = $3
                   ELSE c.month = $3 END) h
 WHERE u.scope = $1 AND u.key = $2 AND u.month = $3
"""
SETTLE = """
UPDATE messor.ai_calls c
   SET ending = $2, detail = $3, tokens = $4, cost = $5, prompt_tokens = $6,
       completion_tokens = $7, answer = $8::jsonb, ended_at = (SELECT messor.clock())
  FROM (SELECT id, tokens, cost FROM messor.ai_calls WHERE id = $1 AND ending = 'asked' FOR UPDATE) o
 WHERE c.id = o.id RETURNING o.tokens, o.cost
"""
CORRECT = """
UPDATE messor.ai_usage SET tokens = greatest(tokens + $4::bigint, 0),
       cost = greatest(cost + $5::numeric, 0)
 WHERE scope = $1 AND key = $2 AND month = $3
"""
KNOWN = """
SELECT id, ending, detail, answer::text AS answer FROM messor.ai_calls
 WHERE input_hash = $1
   AND (ending = 'answered' OR (ending = ANY ($2::text[])
        AND ended_at > (SELECT messor.clock()) - make_interval(days => $3)))
 ORDER BY ending = 'answered' DESC, id DESC LIMIT 1
"""
DOUBT = "UPDATE messor.ai_calls SET unverified = $2::jsonb WHERE id = $1"
TIDY = """
DELETE FROM messor.ai_usage
 WHERE scope = 'job' AND used_at < (SELECT messor.clock()) - make_interval(days => $1)
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call is for, and whose caps it counts against."""

    domain: str
    job: str
    page_id: int | None = None
    snapshot_id: int | None = None


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A question in the ledger."""

    input_hash: bytes
    purpose: str
    model: str
    prompt_version: str
    subject: Subject


@dataclass(frozen=True, slots=True)
class Reservation:
    """The reservation for one call."""

    call_id: int
    entry: LedgerEntry
    month: date
    tokens: int
    cost: Decimal


class OverCapError(Exception):
    """A call might exceed a cap; rolls back its reservation."""

    def __init__(self, scope: str, key: str, cap: Cap, *, is_passing: bool) -> None:
        limits = [f"{cap.tokens} tokens"] if cap.tokens is not None else []
        limits += [f"cost of {cap.cost}"] if cap.cost is not None else []
        whose = {"job": f"job {key}", "domain": f"{key} in a month", "month": "a month"}[scope]
        self.sentence = (
            f"The model was not asked: it might exceed the {' or '.join(limits)} for {whose}"
            f"{' while other questions are in flight' if is_passing else ''}."
        )
        self.is_passing = is_passing  # reservations in flight may be released
        super().__init__(self.sentence)


class Ledger:
    """The calls of one model and their caps."""

    def __init__(self, database: Database, *, job: Cap, domain: Cap, month: Cap) -> None:
        self._database = database
        self._caps = {"domain": domain, "job": job, "month": month}

    async def known(self, input_hash: bytes) -> Reply | None:
        """Return the earlier reply to the same question, if asking again would not change it."""
        row = await self._database.fetchrow(KNOWN, input_hash, sorted(ABOUT_THE_TEXT), FAILURE_DAYS)
        if row is None:
            return None
        value = None if row["answer"] is None else msgspec.json.decode(row["answer"])
        return Reply(
            ReplyStatus(row["ending"]), value, row["detail"], call_id=row["id"], is_cached=True
        )

    async def reserve(self, entry: LedgerEntry, tokens: int, cost: Decimal) -> Reservation | None:
        """Reserve the maximum cost of a call; None while another process asks the same question.

        Raises OverCapError, with nothing reserved, if a cap does not allow it.
        """
        subject = entry.subject
        async with self._database.transaction() as connection:
            month: date = await connection.fetchval(MONTH)
            await connection.execute(GIVE_UP, entry.input_hash, LOST_SECONDS)
            call_id: int | None = await connection.fetchval(
                ASK, entry.input_hash, entry.purpose, entry.model, entry.prompt_version,
                subject.page_id, subject.snapshot_id, subject.domain, subject.job, month, tokens, cost,
            )  # fmt: skip
            if call_id is None:
                return None
            for scope, key, when in _places(subject, month):
                cap = self._caps[scope]
                if not await connection.fetchval(
                    SPEND, scope, key, when, tokens, cost, cap.tokens, cap.cost
                ):
                    passing = await connection.fetchval(
                        MAY_FIT, scope, key, when, cap.tokens, cap.cost, tokens, cost, call_id,
                        LOST_SECONDS,
                    )  # fmt: skip
                    raise OverCapError(scope, key, cap, is_passing=bool(passing))
        return Reservation(call_id, entry, month, tokens, cost)

    async def settle(self, held: Reservation, reply: Reply, tokens: int, cost: Decimal) -> None:
        """Record the actual cost of a call, regardless of the caps."""
        usage, value = reply.usage, None
        if reply.is_answer:
            value = msgspec.json.encode(reply.value).decode()
        async with self._database.transaction() as connection:
            before = await connection.fetchrow(
                SETTLE, held.call_id, reply.ending, reply.sentence, tokens, cost,
                usage and usage.prompt, usage and usage.completion, value,
            )  # fmt: skip
            if before is not None:
                more = tokens - before["tokens"], cost - before["cost"]
                await self._correct(connection, held, *more)

    async def _correct(
        self, connection: Connection, held: Reservation, tokens: int, cost: Decimal
    ) -> None:
        if tokens == 0 and cost == 0:
            return
        for scope, key, when in _places(held.entry.subject, held.month):
            await connection.execute(CORRECT, scope, key, when, tokens, cost)

    async def doubt(self, call_id: int, values: list[Any]) -> None:
        """Store the values of an answer that the page does not support."""
        await self._database.fetch(DOUBT, call_id, msgspec.json.encode(values).decode())


async def tidy(connection: Connection, days: int = 90) -> int:
    """Delete the counters of jobs that ended long ago; returns how many."""
    return int((await connection.execute(TIDY, days)).rpartition(" ")[2])


def _places(subject: Subject, month: date) -> tuple[tuple[str, str, date], ...]:
    """Return the counters a call adds to, in lock order."""
    return (
        ("domain", subject.domain, month),
        ("job", subject.job, _ALWAYS),
        ("month", "", month),
    )
