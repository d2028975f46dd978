"""Ledger queries: spending, questions, and values that pages did not support."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

import msgspec

from messor.ai.ledger import MONTH
from messor.store.database import Connection, Database
from messor.store.listing import DomainText, Filters, Listing, Moment, both_ways, where

CallStatus = Literal[
    "asked", "answered", "refused", "bad_answer", "truncated", "timed_out", "overloaded",
    "unreachable", "rejected", "lost",
]  # fmt: skip

# The current month; jobs are too many to list.
SPENT = f"""
SELECT scope, key, month, calls, tokens, cost FROM messor.ai_usage
 WHERE scope IN ('month', 'domain') AND month = ({MONTH})
 ORDER BY scope DESC, cost DESC, tokens DESC, key LIMIT $1
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
    ending: CallStatus
    detail: str
    tokens: int
    cost: Decimal
    unverified: list[dict[str, Any]]  # kind, field, value and reason for the rejection

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> ModelCall:
        return cls(**{**row, "unverified": msgspec.json.decode(row["unverified"])})


async def spent(source: Connection | Database, *, limit: int = 50) -> list[Spent]:
    """Return this month's spending: total, then by domain, the highest first."""
    return [Spent(**row) for row in await source.fetch(SPENT, limit)]


class CallFilter(Filters):
    """Filters of model calls."""

    domain: DomainText | None = where("c.domain = {}", "Domain")
    status: CallStatus | None = where("c.ending = {}", "Status")
    unverified: bool | None = where(
        {True: "jsonb_array_length(c.unverified) > 0",
         False: "coalesce(jsonb_array_length(c.unverified), 0) = 0"},
        "With values that the page does not confirm",
    )  # fmt: skip
    since: Moment | None = where("c.asked_at >= {}", "Sent since")
    until: Moment | None = where("c.asked_at < {}", "Sent before")


CALLS = Listing(
    name="model calls",
    item=ModelCall,
    filters=CallFilter,
    table="messor.ai_calls",
    alias="c",
    columns="""c.id, c.asked_at, c.domain, p.url, c.purpose, c.model, c.prompt_version, c.ending,
      c.detail, c.tokens, c.cost, coalesce(c.unverified, '[]')::text AS unverified""",
    joins="LEFT JOIN messor.pages p ON p.id = c.page_id",
    make=ModelCall.of,
    orders={
        **both_ways("-id", "c.id", "bigint", "Newest first", "Oldest first"),
        **both_ways("-cost", "c.cost", "numeric", "Highest cost first", "Lowest cost first"),
    },
)
