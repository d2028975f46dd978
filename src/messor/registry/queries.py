"""Paged queries of the registry: filters, orders and a cursor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from messor.registry.domains import COLUMNS, Domain
from messor.store.database import Connection, Database

Order = Literal[
    "created_at", "-created_at", "domain", "-domain", "pages_known", "-pages_known",
    "reviewed_at", "-reviewed_at", "last_processed_at", "-last_processed_at",
]  # fmt: skip

# The SQL of each order and the format of its cursor; missing values come first.
_COLUMN = {
    "created_at": ("created_at", "timestamptz"),
    "domain": ("domain", "text"),
    "pages_known": ("pages_known", "integer"),
    "reviewed_at": ("coalesce(reviewed_at, '-infinity')", "timestamptz"),
    "last_processed_at": ("coalesce(last_processed_at, '-infinity')", "timestamptz"),
}

LISTING = """
SELECT {columns}, ({key})::text AS place FROM messor.domains
 WHERE ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR processing = $2)
   AND ($3::text IS NULL OR submitter_type = $3) AND ($4::bool IS NULL OR is_trusted_domain = $4)
   AND ($5::text IS NULL OR strpos(domain, $5) > 0) AND ($6::text IS NULL OR domain_class = $6)
   AND ($7::bool IS NULL OR (review_reason IS NOT NULL OR status = 'pending_review') = $7)
   AND ($8::text IS NULL OR ({key}, domain) {beyond} ($8::text::{kind}, $9::text))
 ORDER BY {key} {direction}, domain {direction} LIMIT $10
"""


@dataclass(frozen=True, slots=True)
class DomainFilter:
    """Filters of domains; what is not given matches any."""

    status: str | None = None
    processing: str | None = None
    submitter_type: str | None = None
    trusted: bool | None = None
    containing: str | None = None
    domain_class: str | None = None
    waiting: bool | None = None  # for a reviewer


@dataclass(frozen=True, slots=True)
class DomainPosition:
    """A list position: the last row's value in the order, and its name."""

    value: str
    domain: str


async def listing(
    source: Connection | Database,
    wanted: DomainFilter,
    *,
    order: Order = "created_at",
    after: DomainPosition | None = None,
    limit: int = 50,
) -> list[tuple[Domain, DomainPosition]]:
    """The next domains in an order, each with its position."""
    rows = await source.fetch(
        _statement(order),
        wanted.status,
        wanted.processing,
        wanted.submitter_type,
        wanted.trusted,
        wanted.containing,
        wanted.domain_class,
        wanted.waiting,
        after.value if after else None,
        after.domain if after else None,
        limit,
    )
    return [_row(row) for row in rows]


def _statement(order: Order) -> str:
    key, kind = _COLUMN[order.lstrip("-")]
    down = order.startswith("-")
    return LISTING.format(
        columns=COLUMNS,
        key=key,
        kind=kind,
        beyond="<" if down else ">",
        direction="DESC" if down else "ASC",
    )


def _row(row: Any) -> tuple[Domain, DomainPosition]:
    values = dict(row)
    place = DomainPosition(values.pop("place"), values["domain"])
    return Domain(**values), place
