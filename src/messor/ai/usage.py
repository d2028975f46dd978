"""Ledger queries: spending, questions, and values that pages did not support."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import msgspec

from messor.ai.ledger import MONTH
from messor.store.database import Connection, Database

# The current month; jobs are too many to list.
SPENT = f"""
SELECT scope, key, month, calls, tokens, cost FROM messor.ai_usage
 WHERE scope IN ('month', 'domain') AND month = ({MONTH})
 ORDER BY scope DESC, cost DESC, tokens DESC, key LIMIT $1
"""
CALLS = """
SELECT c.id, c.asked_at, c.domain, p.url, c.purpose, c.model, c.prompt_version, c.ending, c.detail,
       c.tokens, c.cost, coalesce(c.unverified, '[]')::text AS unverified
  FROM messor.ai_calls c LEFT JOIN messor.pages p ON p.id = c.page_id
 WHERE ($1::text IS NULL OR c.domain = $1) AND ($2::text IS NULL OR c.ending = $2)
   AND (NOT $3 OR jsonb_array_length(c.unverified) > 0)
 ORDER BY c.id DESC LIMIT $4
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """The spending of a scope in a month; questions in flight count with their maximum cost."""

    scope: str  # month, or domain
    key: str
    month: date
    calls: int
    tokens: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A question to a model and its result."""

    id: int
    asked_at: datetime
    domain: str
    url: str | None
    purpose: str
    model: str
    prompt_version: str
    ending: str
    detail: str
    tokens: int
    cost: Decimal
    unverified: list[dict[str, Any]]  # kind, field, value and reason for the rejection


async def spent(source: Connection | Database, *, limit: int = 50) -> list[Spent]:
    """Return this month's spending: total, then by domain, the highest first."""
    return [Spent(**row) for row in await source.fetch(SPENT, limit)]


async def calls(
    source: Connection | Database,
    *,
    domain: str | None = None,
    ending: str | None = None,
    is_doubted: bool = False,
    limit: int = 50,
) -> list[ModelCall]:
    """Return questions to the model, newest first; `is_doubted`: those with rejected values."""
    rows = await source.fetch(CALLS, domain, ending, is_doubted, limit)
    return [
        ModelCall(**{**row, "unverified": msgspec.json.decode(row["unverified"])}) for row in rows
    ]
