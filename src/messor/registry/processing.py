"""Processing state of domains, along the transition table in `registry.life`.

Each function is one transition in the caller's transaction, with its event. Which lanes rest with a
domain is left to `governance`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from messor.errors import ConflictError, UsageError
from messor.ledger.events import Event, record
from messor.registry import domains
from messor.registry.domains import COLUMNS, MAX_REASON, Domain, checked
from messor.registry.life import (
    LOW_QUALITY_MARKS,
    NO_FUNDS_YEARS,
    PROCESSING,
    THRESHOLD,
    back_off,
    steps_from,
)
from messor.store.database import Connection

SYSTEM = "system"

EVENT_TYPES = {
    "processing": "domain.processing",
    "processed_high_quality": "domain.high_quality",
    "processed_low_quality": "domain.low_quality",
    "no_funds_this_year": "domain.no_funds",
    "processing_failed": "domain.failed",
}

_SET = {
    "processing": "processing_count = processing_count + 1, retry_after = NULL, no_funds_year = NULL",
    "no_funds_this_year": "no_funds_year = $4, retry_after = NULL",
    "processing_failed": "failure_reason = $4, failure_count = failure_count + 1,"
    " retry_after = messor.clock() + $5::interval",
}

STEP = """
UPDATE messor.domains
   SET processing = $2, last_processed_at = messor.clock(), updated_at = messor.clock(), {assign}
 WHERE id = $1 AND processing = $3 AND status <> 'blacklisted'
RETURNING {columns}
"""

# Count and mark in one statement: table constraints tie them together.
COUNT = f"""
UPDATE messor.domains
   SET high_quality_candidate_count = high_quality_candidate_count + $2,
       low_quality_candidate_count = low_quality_candidate_count + $3,
       best_confidence_score = greatest(best_confidence_score, $4),
       discovery_session_id = coalesce(discovery_session_id, $5),
       processing = coalesce($6::text, processing),
       last_processed_at = CASE WHEN $6 IS NULL THEN last_processed_at ELSE messor.clock() END,
       failure_count = CASE WHEN $6 IS NULL THEN failure_count ELSE 0 END,
       failure_reason = CASE WHEN $6 IS NULL THEN failure_reason END,
       updated_at = messor.clock()
 WHERE id = $1 RETURNING {COLUMNS}
"""

RECOVER = f"""
UPDATE messor.domains SET failure_count = 0, failure_reason = NULL, updated_at = messor.clock()
 WHERE id = $1 AND processing <> 'processing_failed' RETURNING {COLUMNS}
"""

# Domains that may return automatically, oldest first, a bounded number at a time.
RESTED = """
SELECT domain FROM messor.domains
 WHERE status <> 'blacklisted' AND (
       (processing = 'processing_failed' AND retry_after <= messor.clock())
    OR (processing = 'no_funds_this_year'
        AND no_funds_year < extract(year FROM messor.clock() AT TIME ZONE 'UTC')))
 ORDER BY id LIMIT $1
"""


def check(domain: Domain, after: str) -> None:
    """Raise an error if the table does not allow a step."""
    if domain.status == "blacklisted":
        raise ConflictError(f"{domain.domain} is blacklisted and is never processed again.")
    if after not in PROCESSING[domain.processing]:
        raise ConflictError(
            f"The processing of {domain.domain} is {domain.processing}; it can become "
            f"{steps_from(PROCESSING, domain.processing)}, not {after}."
        )


async def begin(connection: Connection, domain: Domain, *, actor: str = SYSTEM) -> Domain:
    """Start processing a domain, or restart it after a rest."""
    if domain.processing == "processing_failed" and not await _is_past(connection, domain):
        raise ConflictError(
            f"{domain.domain} failed ({domain.failure_reason}) and rests until "
            f"{domain.retry_after:%Y-%m-%d %H:%M} UTC."
        )
    return await _step(connection, domain, "processing", actor)


async def revive(connection: Connection, domain: Domain, *, actor: str) -> Domain:
    """Restart processing on a person's request, whatever rest remains."""
    return await _step(connection, domain, "processing", actor)


async def fail(
    connection: Connection, domain: Domain, reason: str, *, actor: str = SYSTEM
) -> Domain:
    """Record a technical failure: rest an hour, then 4, a day, a week, and weekly."""
    why = checked(reason, "reason", MAX_REASON)
    if why is None:
        raise UsageError(f"Give a reason why the processing of {domain.domain} failed.")
    rest = back_off(domain.failure_count + 1)
    return await _step(connection, domain, "processing_failed", actor, why, rest)


async def recover(connection: Connection, domain: Domain) -> Domain:
    """Reset consecutive failures after a success."""
    row = await connection.fetchrow(RECOVER, domain.id)
    return domain if row is None else Domain(**row)


async def judged(
    connection: Connection,
    domain: Domain,
    confidence: float,
    *,
    session_id: Any = None,
    actor: str = SYSTEM,
) -> Domain:
    """Count a judged candidate, and mark the domain when that is decisive."""
    if not 0.0 <= confidence <= 1.0:
        raise UsageError(f"Confidence must be between 0 and 1, not {confidence}.")
    domain = await domains.lock(connection, domain.domain)
    if domain.status == "blacklisted":
        raise ConflictError(f"{domain.domain} is blacklisted and is never processed again.")
    high = confidence >= THRESHOLD
    mark = _mark(
        domain.processing,
        domain.high_quality_candidate_count + high,
        domain.low_quality_candidate_count + (not high),
    )
    row = await connection.fetchrow(
        COUNT, domain.id, int(high), int(not high), float(confidence), session_id, mark
    )
    assert row is not None
    if mark is not None:
        check(domain, mark)
        data = {"before": domain.processing}
        await record(connection, [Event(EVENT_TYPES[mark], actor, domain.id, data=data)])
    return Domain(**row)


async def no_funds(connection: Connection, domain: Domain, year: int, *, actor: str) -> Domain:
    """Record an admin's statement that there are no funds this year.

    The domain returns in the next.
    """
    low, high = NO_FUNDS_YEARS
    if not low <= year <= high:
        raise UsageError(f"The year must be between {low} and {high}, not {year}.")
    now: int = await connection.fetchval(
        "SELECT extract(year FROM messor.clock() AT TIME ZONE 'UTC')::int"
    )
    if year < now:
        raise UsageError(f"The year {year} is over: {domain.domain} would return at once.")
    return await _step(connection, domain, "no_funds_this_year", actor, year)


async def rested(connection: Connection, limit: int = 500) -> list[str]:
    """Domains whose rest is over."""
    return [row["domain"] for row in await connection.fetch(RESTED, limit)]


def rests_until(domain: Domain) -> datetime | None:
    """When a resting domain returns automatically; None if it does not rest."""
    if domain.processing == "no_funds_this_year" and domain.no_funds_year is not None:
        return datetime.fromisoformat(f"{domain.no_funds_year + 1}-01-01T00:00:00+00:00")
    return domain.retry_after if domain.processing == "processing_failed" else None


def _mark(before: str, high: int, low: int) -> str | None:
    """The mark that follows from a domain's counts; None while undecided."""
    if high and "processed_high_quality" in PROCESSING[before]:
        return "processed_high_quality"
    if not high and low >= LOW_QUALITY_MARKS and before == "processing":
        return "processed_low_quality"
    return None


async def _is_past(connection: Connection, domain: Domain) -> bool:
    past: bool = await connection.fetchval("SELECT $1 <= messor.clock()", domain.retry_after)
    return past


async def _step(
    connection: Connection, domain: Domain, after: str, actor: str, *values: Any
) -> Domain:
    check(domain, after)
    sql = STEP.format(assign=_SET[after], columns=COLUMNS)
    row = await connection.fetchrow(sql, domain.id, after, domain.processing, *values)
    if row is None:
        now = await domains.get(connection, domain.domain)
        raise ConflictError(
            f"{now.domain} was changed meanwhile: its status is {now.status}, "
            f"its processing {now.processing}."
        )
    moved = Domain(**row)
    data: dict[str, Any] = {"before": domain.processing}
    if after == "processing_failed":
        data |= {"reason": moved.failure_reason, "failures": moved.failure_count}
    if after == "no_funds_this_year":
        data |= {"year": moved.no_funds_year}
    await record(connection, [Event(EVENT_TYPES[after], actor, domain.id, data=data)])
    return moved
