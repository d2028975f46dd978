"""Queries of corrections: the list for every interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import msgspec

from messor.errors import NotFoundError
from messor.store.listing import DomainText, Filters, Listing, Order, Source, where

LARGEST = 2**63 - 1
MAX_SCANNED = 10_000

CorrectionState = Literal["in_force", "lapsed", "withdrawn", "replaced", "lesson"]

_COLUMNS = """c.id, c.record_id, d.domain, c.kind, c.field, c.found, c.correct, c.value::text AS value,
       c.page_value::text AS page_value, c.state, c.reason, c.corrected_by, c.corrected_at, c.ended_at"""
_JOINS = "JOIN messor.domains d ON d.id = c.domain_id"
ONE = f"SELECT {_COLUMNS} FROM messor.corrections c {_JOINS} WHERE c.id = $1"
OF_RECORD = f"""
SELECT {_COLUMNS} FROM messor.corrections c {_JOINS} WHERE c.record_id = $1 ORDER BY c.id DESC LIMIT 200
"""


class CorrectionFilter(Filters):
    """Filters of corrections."""

    record_id: int | None = where("c.record_id = {}", "Record", indexed=True, ge=1, le=LARGEST)
    domain: DomainText | None = where(
        "c.domain_id = (SELECT id FROM messor.domains WHERE domain = {}::text)", "Domain"
    )
    kind: str | None = where("c.kind = {}", "Kind", min_length=1, max_length=100)
    field: str | None = where("c.field = {}", "Field", min_length=1, max_length=100)
    state: CorrectionState | None = where("c.state = {}", "State")


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person said of a field, and whether it is in force."""

    id: int
    record_id: int
    domain: str
    kind: str
    field: str
    found: str | None  # what the page stated, as text
    correct: str | None  # as entered; null: the page does not state the field
    value: Any
    page_value: Any
    state: CorrectionState  # `lesson` confirms the page's own value
    reason: str | None
    corrected_by: str
    corrected_at: datetime
    ended_at: datetime | None


def _correction(row: Mapping[str, Any]) -> Correction:
    values = {name: _value(row[name]) for name in ("value", "page_value")}
    return Correction(**{**row, **values})


def _value(stored: str | None) -> Any:
    return None if stored is None else msgspec.json.decode(stored)


CORRECTIONS = Listing(
    name="corrections",
    item=Correction,
    filters=CorrectionFilter,
    table="messor.corrections",
    alias="c",
    columns=_COLUMNS,
    joins=_JOINS,
    orders={"-id": Order("c.id", "bigint", "Newest first", descending=True)},
    scan=MAX_SCANNED,
    make=_correction,
)


async def correction(source: Source, correction_id: int) -> Correction:
    """One correction."""
    row = await source.fetchrow(ONE, correction_id) if 0 < correction_id <= LARGEST else None
    if row is None:
        raise NotFoundError(f"There is no correction {correction_id}.")
    return _correction(dict(row))


async def of_record(source: Source, record_id: int) -> list[Correction]:
    """The corrections of a record, newest first."""
    return [_correction(dict(row)) for row in await source.fetch(OF_RECORD, record_id)]
