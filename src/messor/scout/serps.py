"""Result pages: stored responses become snapshots with ranked results.

A missing page is a gap, never a rank. This module reads what was stored and requests nothing. A
response is processed in one transaction, so that a crash leaves it waiting, and a better parser may
process it again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.core.logs import room_logger
from messor.errors import NotFoundError
from messor.fetch.services import budget
from messor.scout.engines.model import RawAnswer, SearchFaultError, SerpPage, SerpResult
from messor.scout.engines.registry import engine_class
from messor.scout.savepoint import BAD_ROW, isolated
from messor.scout.search import usage_name
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse as parse_url

logger = room_logger(__name__)
Outcome = Literal["ok", "partial", "failed"]  # of a result page; failed: a gap

MAX_EXTRAS = 100_000
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")  # escaped, and not an escaped backslash

WAITING = """
SELECT request_id FROM messor.search_answers WHERE processed_at IS NULL
 ORDER BY received_at LIMIT $1
"""
ANSWER = """
SELECT r.id, r.keyword_id, r.serp_profile_id, r.window_key, a.engine, a.status, a.body, a.raw_hash,
       a.received_at, a.processed_at
  FROM messor.search_answers a JOIN messor.search_requests r ON r.id = a.request_id
 WHERE a.request_id = $1 FOR UPDATE OF a
"""
# The response came after all.
FILL_GAP = "DELETE FROM messor.serp_snapshots WHERE request_id = $1 AND engine = '-'"
SNAPSHOT = """
INSERT INTO messor.serp_snapshots (id, keyword_id, serp_profile_id, request_id, window_key, engine,
                                   outcome, message, raw_hash, result_count, extras, captured_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""
RESULTS = """
INSERT INTO messor.serp_results (snapshot_id, rank_position, block_type, domain_id, domain, url,
                                 title, snippet, published_at, is_best)
SELECT $1, r.rank, r.block, d.id, r.domain, CASE WHEN e.key IS NULL THEN r.url END,
       CASE WHEN e.key IS NULL THEN r.title END, CASE WHEN e.key IS NULL THEN r.snippet END,
       r.published_at,
       row_number() OVER (PARTITION BY r.domain, r.block IN ('organic', 'local_pack')
                          ORDER BY r.rank, r.block) = 1
  FROM unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
              $8::timestamptz[]) AS r (rank, block, domain, url, title, snippet, published_at)
  LEFT JOIN messor.domains d ON d.domain = r.domain
  LEFT JOIN messor.erasures e ON e.kind = 'domain' AND e.key = r.domain
 ORDER BY r.block, r.rank
"""
# A response that names an erased domain is not stored: it cannot be cut, since its hash proves it.
DROP_ANSWER = """
DELETE FROM messor.search_answers WHERE request_id = $1 AND EXISTS (
  SELECT FROM messor.serp_results r JOIN messor.erasures e ON e.kind = 'domain' AND e.key = r.domain
   WHERE r.snapshot_id = $2)
"""
DONE = """
WITH answer AS (
  UPDATE messor.search_answers SET processed_at = messor.clock() WHERE request_id = $1
)
UPDATE messor.keywords SET last_snapshot_at = greatest(last_snapshot_at, $3) WHERE id = $2 AND $4
"""
ADJUST = """
WITH before AS (
  SELECT id, cost FROM messor.search_spend
   WHERE request_id = $1 AND state = 'answered' AND cost <> $2 FOR UPDATE
)
UPDATE messor.search_spend s SET cost = $2 FROM before WHERE s.id = before.id
RETURNING s.month, s.cost - before.cost AS difference
"""
GAPS = """
INSERT INTO messor.serp_snapshots (id, keyword_id, serp_profile_id, request_id, window_key, engine,
                                   outcome, message)
SELECT $1, r.keyword_id, r.serp_profile_id, r.id, r.window_key, '-', 'failed', r.message
  FROM messor.search_requests r WHERE r.id = $2 AND r.state = 'gap'
ON CONFLICT DO NOTHING RETURNING id
"""
BY_REQUEST = """
SELECT id, keyword_id, engine, outcome, message, result_count, captured_at FROM messor.serp_snapshots
 WHERE request_id = $1
"""
OF_SNAPSHOT = """
SELECT rank_position, block_type, domain, url, title, snippet, published_at FROM messor.serp_results
 WHERE snapshot_id = $1 ORDER BY block_type, rank_position
"""


@dataclass(frozen=True, slots=True)
class SerpSnapshot:
    """A stored result page."""

    id: UUID
    keyword_id: UUID
    engine: str
    outcome: str  # ok, partial, failed
    message: str | None
    result_count: int
    captured_at: datetime


@dataclass(frozen=True, slots=True)
class KeptResult:
    rank: int
    block: str
    domain: str | None
    url: str | None
    title: str
    snippet: str
    published_at: datetime | None


async def process(connection: Connection, request_id: UUID) -> SerpSnapshot:
    """Make the snapshot of a stored response, in the caller's transaction; once per response."""
    row = await connection.fetchrow(ANSWER, request_id)
    if row is None:
        raise NotFoundError(f"No response is stored for the search {request_id}.")
    if row["processed_at"] is None:
        page, message = read(RawAnswer(row["engine"], row["status"], {}, row["body"]))
        await _write(connection, row, page, message)
    return await of_request(connection, request_id)


async def process_waiting(database: Database, limit: int = 100) -> list[SerpSnapshot]:
    """Process waiting responses, each in its own transaction."""
    made = []
    for row in await database.fetch(WAITING, limit):
        async with database.transaction() as connection:
            made.append(await process(connection, row["request_id"]))
    return made


async def process_some(connection: Connection, limit: int = 100) -> int:
    """Process waiting responses in the caller's transaction; one that cannot be stored is a gap."""
    rows = await connection.fetch(WAITING, limit)
    for row in rows:
        try:
            async with isolated(connection):
                await process(connection, row["request_id"])
        except BAD_ROW as error:
            logger.warning("The response %s yields no page: %s", row["request_id"], error)
            response = await connection.fetchrow(ANSWER, row["request_id"])
            if response is not None and response["processed_at"] is None:
                await _write(connection, response, None, "Its content could not be stored.")
    return len(rows)


async def record_gap(connection: Connection, request_id: UUID) -> bool:
    """Store a window without a page as a failed snapshot; returns whether it is new."""
    return await connection.fetchval(GAPS, new_id(), request_id) is not None


async def of_request(source: Connection | Database, request_id: UUID) -> SerpSnapshot:
    row = await source.fetchrow(BY_REQUEST, request_id)
    if row is None:
        raise NotFoundError(f"The search {request_id} has no snapshot yet.")
    return SerpSnapshot(**row)


async def results_of(source: Connection | Database, snapshot_id: UUID) -> list[KeptResult]:
    return [KeptResult(*row) for row in await source.fetch(OF_SNAPSHOT, snapshot_id)]


def read(raw: RawAnswer) -> tuple[SerpPage | None, str | None]:
    """The page in a response and what it lacks; no page and the reason if it holds none."""
    try:
        page = engine_class(raw.engine).parse(raw)
    except SearchFaultError as fault:
        return None, fault.sentence
    return page, page.missing


async def _write(
    connection: Connection, row: Any, page: SerpPage | None, message: str | None
) -> None:
    results = _distinct(page.results) if page is not None else []
    outcome = "failed" if page is None else "partial" if message else "ok"
    key = new_id()
    await connection.execute(FILL_GAP, row["id"])
    await connection.execute(
        SNAPSHOT,
        key,
        row["keyword_id"],
        row["serp_profile_id"],
        row["id"],
        row["window_key"],
        row["engine"],
        outcome,
        message,
        row["raw_hash"],
        len(results),
        _extras(page),
        row["received_at"],
    )
    await connection.execute(
        RESULTS,
        key,
        [result.rank for result in results],
        [result.block.value for result in results],
        [domain_of(result.url) for result in results],
        [result.url for result in results],
        [result.title for result in results],
        [result.snippet for result in results],
        [result.published_at for result in results],
    )
    await connection.execute(
        DONE, row["id"], row["keyword_id"], row["received_at"], page is not None
    )
    await connection.execute(DROP_ANSWER, row["id"], key)
    if page is not None and page.cost is not None:
        await _adjust(connection, row["id"], row["engine"], page.cost)


async def _adjust(connection: Connection, request_id: UUID, engine: str, cost: Decimal) -> None:
    """The engine charged another price than was reserved."""
    row = await connection.fetchrow(ADJUST, request_id, cost)
    if row is not None:
        await connection.execute(
            budget.SETTLE, usage_name(engine), row["month"], row["difference"], 0
        )


def _distinct(results: Sequence[SerpResult]) -> list[SerpResult]:
    """One result per position, whatever a parser returns."""
    return list({(result.block, result.rank): result for result in results}.values())


def _extras(page: SerpPage | None) -> str:
    """Other content of the page, without NUL, which jsonb rejects.

    The response is stored as it came.
    """
    try:
        text = msgspec.json.encode(dict(page.extras) if page is not None else {}).decode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return "{}"
    return _NUL.sub(r"\1", text) if len(text) < MAX_EXTRAS else "{}"


def domain_of(url: str | None) -> str | None:
    """The registrable domain of a URL; None if it has none."""
    parsed = parse_url(url) if url else None
    return registrable_domain(parsed.host) if parsed is not None else None
