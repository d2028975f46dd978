"""Queries of flags and of unproductive pages: the lists for every interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import msgspec

from messor.insight.relevance.unproductive import UNPRODUCTIVE, WINDOW
from messor.store.listing import DomainText, Filters, Listing, Order, where

MAX_SCANNED = 10_000  # flags per page of the list

_DECISION = """SELECT x.decided_by FROM messor.flag_decisions x
                WHERE x.page_id = f.page_id AND x.vertical = f.vertical"""


class FlagFilter(Filters):
    """Filters of flags."""

    vertical: str | None = where("f.vertical = {}", "Vertical", indexed=True, max_length=63)
    domain: DomainText | None = where(
        """EXISTS (SELECT FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
                    WHERE p.id = f.page_id AND h.domain_id =
                          (SELECT id FROM messor.domains WHERE domain = {}::text))""",
        "Domain",
    )
    state: Literal["undecided", "relevant", "irrelevant"] | None = where(
        {
            "undecided": "f.relevant IS NULL",
            "relevant": "f.relevant",
            "irrelevant": "NOT f.relevant",
        },
        "Flag",
    )
    reviewed: bool | None = where(f"EXISTS ({_DECISION}) = {{}}", "Reviewed by a person")


class UnproductiveFilter(Filters):
    """Filters of unproductive pages."""

    domain: DomainText | None = where(
        "u.domain_id = (SELECT id FROM messor.domains WHERE domain = {}::text)", "Domain"
    )


@dataclass(frozen=True, slots=True)
class PageFlag:
    """A flag as a reviewer sees it."""

    page_id: int
    url: str
    domain: str
    relevant: bool | None
    score: float
    reasons: list[str]
    model_version: str
    flagged_at: datetime
    decided_by: str | None


@dataclass(frozen=True, slots=True)
class UnproductivePage:
    """A page without records."""

    page_id: int
    domain: str
    url: str
    last_fetched_at: datetime
    last_record_at: datetime | None
    due_at: datetime | None


def _flag(row: Mapping[str, Any]) -> PageFlag:
    return PageFlag(**{**row, "reasons": msgspec.json.decode(row["reasons"])})


# A decision teaches most where the odds are even.
FLAGS = Listing(
    name="flags",
    item=PageFlag,
    filters=FlagFilter,
    table="messor.page_flags",
    alias="f",
    columns="""f.page_id, p.url, d.domain, f.relevant, f.score::float8 AS score,
               f.reasons::text AS reasons, f.model_version, f.flagged_at, said.decided_by""",
    joins=f"""JOIN messor.pages p ON p.id = f.page_id
              JOIN messor.hosts h ON h.id = p.host_id JOIN messor.domains d ON d.id = h.domain_id
              LEFT JOIN LATERAL ({_DECISION} ORDER BY x.id DESC LIMIT 1) said ON true""",
    key="page_id",
    scan=MAX_SCANNED,
    orders={"certainty": Order("abs(f.score - 0.5)", "float8", "Least certain first")},
    make=_flag,
)

_ALL = UNPRODUCTIVE.format(
    window=f"interval '{WINDOW.days} days'", domain="NULL", kinds="NULL", hosts="NULL"
)
UNPRODUCTIVE_PAGES = Listing(
    name="unproductive pages",
    item=UnproductivePage,
    filters=UnproductiveFilter,
    table=f"""(SELECT t.page_id, h.domain_id, p.url, t.last_fetched_at, x.last_record_at, t.due_at
               {_ALL})""",
    alias="u",
    columns="u.page_id, d.domain, u.url, u.last_fetched_at, u.last_record_at, u.due_at",
    joins="JOIN messor.domains d ON d.id = u.domain_id",
    key="page_id",
    orders={"id": Order("u.page_id", "bigint", "In the order found")},
)
