"""Search requests: reserved first, paid for once, stored before they are parsed.

A request is one row per keyword, profile, window and page. Before an engine is called, its price is
reserved and the call recorded; the response is stored whole in the transaction that completes it.
If it is unknown whether an engine charged a search, no paid engine is called again in that window:
the request becomes a gap. An engine that refuses costs nothing, and the next one is tried.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from hashlib import sha256
from typing import Literal, TypeVar
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.core.logs import room_logger
from messor.fetch.services import budget, holds
from messor.fetch.services.breaker import BreakerPermit
from messor.fetch.services.holds import HeldError
from messor.scout.engines.model import RawAnswer, SearchFaultError, SearchProfile
from messor.scout.engines.registry import ConfiguredEngine
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Connection, Database

logger = room_logger(__name__)
Result = TypeVar("Result")

HOLD = timedelta(minutes=5)  # longer than any engine's timeout
STORE_TRIES = 30

RESERVE = """
INSERT INTO messor.search_requests AS r (id, keyword_id, serp_profile_id, window_key, page, held_by,
                                         held_until)
VALUES ($1, $2, $3, $4, $5, $6, messor.clock() + $7::interval)
ON CONFLICT (keyword_id, serp_profile_id, window_key, page) DO UPDATE
   SET held_by = excluded.held_by, held_until = excluded.held_until
 WHERE r.state = 'open' AND r.held_until <= messor.clock()
RETURNING r.id
"""
STANDING = """
SELECT id, state, message, held_until <= messor.clock() AS is_over FROM messor.search_requests
 WHERE keyword_id = $1 AND serp_profile_id = $2 AND window_key = $3 AND page = $4
"""
# Called by a process that is gone: a paid engine may have charged it.
DOUBT = """
WITH request AS (
  SELECT id FROM messor.search_requests
   WHERE id = $1 AND state = 'asking' AND held_until <= messor.clock() FOR UPDATE
), lost AS (
  UPDATE messor.search_spend s SET state = 'lost', settled_at = messor.clock(),
         message = 'Whoever asked was gone before the answer was kept.'
    FROM request WHERE s.request_id = request.id AND s.state = 'asked'
  RETURNING s.cost
)
UPDATE messor.search_requests r
   SET state = CASE WHEN EXISTS (SELECT FROM lost WHERE cost > 0) THEN 'gap' ELSE 'open' END,
       message = 'Whoever asked was gone before the answer was kept; it may have been paid for.',
       finished_at = CASE WHEN EXISTS (SELECT FROM lost WHERE cost > 0) THEN messor.clock() END
  FROM request WHERE r.id = request.id
"""
MAY_PAY = """
SELECT NOT EXISTS (SELECT FROM messor.search_spend
                    WHERE request_id = $1 AND cost > 0 AND state IN ('asked', 'answered', 'lost'))
"""
ASK = """
WITH asking AS (
  UPDATE messor.search_requests SET state = 'asking', held_until = messor.clock() + $6::interval
   WHERE id = $1 AND held_by = $2 AND state = 'open' RETURNING id
)
INSERT INTO messor.search_spend (id, request_id, engine, month, cost)
SELECT $3, id, $4, $5, $7 FROM asking RETURNING id
"""
# A response that arrives after the request was given up as doubtful is stored nevertheless.
KEEP = """
WITH request AS (
  UPDATE messor.search_requests SET state = 'answered', finished_at = messor.clock(), message = NULL
   WHERE id = $1 AND state IN ('asking', 'gap') AND held_by = $2 RETURNING id
), spent AS (
  UPDATE messor.search_spend s SET state = 'answered', settled_at = messor.clock()
    FROM request WHERE s.id = $3 AND s.request_id = request.id
)
INSERT INTO messor.search_answers (request_id, engine, status, body, raw_hash, is_json)
SELECT id, $4, $5, $6, $7, $8 FROM request
RETURNING request_id
"""
SETTLE = """
WITH spent AS (
  UPDATE messor.search_spend SET state = $4, cost = $5, message = $6, settled_at = messor.clock()
   WHERE id = $3
)
UPDATE messor.search_requests SET state = 'open', message = $6
 WHERE id = $1 AND held_by = $2 AND state = 'asking'
"""
RELEASE = """
UPDATE messor.search_requests
   SET state = $3, message = $4, held_until = '-infinity',
       finished_at = CASE WHEN $3 = 'gap' THEN messor.clock() END
 WHERE id = $1 AND held_by = $2 AND state = 'open'
"""
GIVE_UP = """
UPDATE messor.search_requests SET state = 'gap', finished_at = messor.clock(), message = $2
 WHERE id = $1 AND state = 'open' AND held_until <= messor.clock()
"""

State = Literal["answered", "gap", "waiting"]


@dataclass(frozen=True, slots=True)
class WantedSerp:
    """A requested result page; the keyword belongs to the profile."""

    keyword_id: UUID
    profile_id: UUID
    query: str
    profile: SearchProfile
    window_key: str
    page: int = 1


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The result. `waiting`: no engine could be called now, or another process is calling one."""

    state: State
    request_id: UUID
    message: str = ""
    is_new: bool = False  # called, and possibly paid for, just now


class _HoldLostError(Exception):
    """Another process holds the request now; nothing was reserved."""


@dataclass(frozen=True, slots=True)
class _EngineCall:
    """One call of an engine."""

    request_id: UUID
    token: UUID
    spend_id: UUID
    month: date


class Searcher:
    """Calls the configured engines in order."""

    def __init__(
        self, database: Database, engines: Sequence[ConfiguredEngine], *, hold: timedelta = HOLD
    ) -> None:
        self._database = database
        self._engines = engines
        self._hold = hold

    async def close(self) -> None:
        for hired in self._engines:
            await hired.engine.close()

    async def search(self, wanted: WantedSerp) -> SearchOutcome:
        """Ensure that the page exists, requesting it if that was not done in this window."""
        token = new_id()
        request_id = await self._reserve(wanted, token)
        if request_id is None:
            return await self._standing(wanted)
        notes: list[str] = []
        try:
            for hired in self._engines:
                found = await self._try(hired, wanted, request_id, token, notes)
                if found is not None:
                    return found
        except _HoldLostError:
            return await self._standing(wanted)
        return await self._end(request_id, token, notes)

    async def give_up(self, request_id: UUID, message: str) -> None:
        """Give up this window: the request is a gap."""
        await self._database.fetch(GIVE_UP, request_id, message)

    async def _reserve(self, wanted: WantedSerp, token: UUID) -> UUID | None:
        where = (wanted.keyword_id, wanted.profile_id, wanted.window_key, wanted.page)
        key: UUID | None = await self._database.fetchval(
            RESERVE, new_id(), *where, token, self._hold
        )
        if key is not None:
            return key
        row = await self._database.fetchrow(STANDING, *where)
        if row is not None and row["state"] == "asking" and row["is_over"]:
            await self._database.fetch(DOUBT, row["id"])
            key = await self._database.fetchval(RESERVE, new_id(), *where, token, self._hold)
        return key

    async def _standing(self, wanted: WantedSerp) -> SearchOutcome:
        row = await self._database.fetchrow(
            STANDING, wanted.keyword_id, wanted.profile_id, wanted.window_key, wanted.page
        )
        assert row is not None, "requests are not removed while in use"
        state: State = row["state"] if row["state"] in ("answered", "gap") else "waiting"
        message = "another process is requesting it" if state == "waiting" else row["message"] or ""
        return SearchOutcome(state, row["id"], message)

    async def _try(
        self,
        hired: ConfiguredEngine,
        wanted: WantedSerp,
        request_id: UUID,
        token: UUID,
        notes: list[str],
    ) -> SearchOutcome | None:
        """Call one engine; None if the next may be tried."""
        ticket = hired.breaker.admit()
        if ticket is None:
            notes.append(f"{hired.engine.title} was not used: {hired.breaker.sentence}")
            return None
        try:
            asking = await self._reserve_price(hired, request_id, token, notes)
            if asking is None:
                return None
            return await self._call_engine(hired, wanted, asking, ticket, notes)
        finally:
            ticket.give_back()

    async def _reserve_price(
        self, hired: ConfiguredEngine, request_id: UUID, token: UUID, notes: list[str]
    ) -> _EngineCall | None:
        """Record that an engine is about to be called, and what that may cost."""
        cost = hired.engine.cost
        async with self._database.transaction() as connection:
            if cost > 0 and not await connection.fetchval(MAY_PAY, request_id):
                notes.append(f"{hired.engine.title} was not used: this window was paid for.")
                return None
            try:
                month = await budget.reserve(
                    connection, usage_name(hired.name), cost, hired.monthly_budget
                )
            except HeldError as held:  # another worker was told to wait
                hired.breaker.hold(held.seconds, held.reason)
                notes.append(f"{hired.engine.title} was not used: {hired.breaker.sentence}")
                return None
            if month is None:
                notes.append(
                    f"{hired.engine.title} was not used: its budget of {hired.monthly_budget} "
                    "for this month is used up."
                )
                return None
            asking = _EngineCall(request_id, token, new_id(), month)
            made = await connection.fetchval(
                ASK, request_id, token, asking.spend_id, hired.name, month, self._hold, cost
            )
            if made is None:
                raise _HoldLostError
            return asking

    async def _call_engine(
        self,
        hired: ConfiguredEngine,
        wanted: WantedSerp,
        asking: _EngineCall,
        ticket: BreakerPermit,
        notes: list[str],
    ) -> SearchOutcome | None:
        try:
            raw = await hired.engine.search(wanted.query, wanted.profile, wanted.page)
        except SearchFaultError as fault:
            notes.append(fault.sentence)
            hold = await self._write_durably(
                partial(_settle, hired=hired, asking=asking, fault=fault)
            )
            ticket.failed(fault.sentence, hold)
            return None
        ticket.answered()
        kept = await self._write_durably(partial(_keep, asking=asking, raw=raw))
        if not kept:
            return SearchOutcome(
                "waiting", asking.request_id, "the lease ended before the response came"
            )
        return SearchOutcome("answered", asking.request_id, is_new=True)

    async def _end(self, request_id: UUID, token: UUID, notes: list[str]) -> SearchOutcome:
        """No engine returned a page: a gap if one may have been paid, else open for another try."""
        message = " ".join(notes)[:2000] or "No search engine is configured."
        may_pay = await self._database.fetchval(MAY_PAY, request_id)
        state = "open" if may_pay else "gap"
        await self._database.fetch(RELEASE, request_id, token, state, message)
        return SearchOutcome("waiting" if may_pay else "gap", request_id, message)

    async def _write_durably(self, act: Callable[[Connection], Awaitable[Result]]) -> Result:
        """Write what must not be lost, waiting for an unavailable database."""
        for tries in range(STORE_TRIES):
            try:
                async with self._database.transaction() as connection:
                    return await act(connection)
            except (*LOST_CONNECTION, *TRY_AGAIN) as error:
                if tries == STORE_TRIES - 1:
                    raise
                logger.warning("A response waits to be stored: %s", type(error).__name__)
                await asyncio.sleep(min(0.2 * 2**tries, 5.0))
        raise AssertionError


async def _keep(connection: Connection, asking: _EngineCall, raw: RawAnswer) -> bool:
    kept = await connection.fetchval(
        KEEP,
        asking.request_id,
        asking.token,
        asking.spend_id,
        raw.engine,
        raw.status,
        raw.body,
        sha256(raw.body).digest(),
        is_json(raw.body),
    )
    return kept is not None


async def _settle(
    connection: Connection, hired: ConfiguredEngine, asking: _EngineCall, fault: SearchFaultError
) -> float:
    """Record that no page came; returns for how many seconds the engine is not used."""
    cost = hired.engine.cost
    if not fault.charged:
        await connection.execute(budget.SETTLE, usage_name(hired.name), asking.month, -cost, -1)
    await connection.execute(
        SETTLE,
        asking.request_id,
        asking.token,
        asking.spend_id,
        "lost" if fault.charged else "refused",
        cost if fault.charged else Decimal(0),
        fault.sentence,
    )
    if not fault.slow_down:
        return fault.hold
    # Doubling starts from a wait of a minute or less.
    named = fault.hold if fault.hold > holds.FIRST_SECONDS else None
    return await holds.hold(connection, usage_name(hired.name), named, fault.sentence)


def usage_name(engine: str) -> str:
    """An engine's name among the services with a budget."""
    return f"search:{engine}"


def is_json(body: bytes) -> bool:
    """Whether PostgreSQL accepts it as JSON."""
    try:
        body.decode("utf-8")
        msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
