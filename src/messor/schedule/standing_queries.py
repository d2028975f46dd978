"""Queries of standing exports: the list for every interface, and single ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.store.listing import Filters, Listing, Source, both_ways, where

COLUMNS = """s.id, s.name, s.noun, s.format, s.filters::text AS filters, s.options::text AS options, s.cadence,
  s.place, s.is_incremental, s.is_active, s.next_run_at, s.created_by, s.created_at"""
LAST = """LEFT JOIN LATERAL (
    SELECT x.id AS last_id, x.state AS last_state, x.rows AS last_rows, x.delivered_as, x.error
      FROM messor.exports x WHERE x.standing_id = s.id ORDER BY x.created_at DESC LIMIT 1) l ON true"""
OF_LAST = (
    "l.last_id, l.last_state, l.last_rows, l.delivered_as, coalesce(s.problem, l.error) AS problem"
)
GET = f"""
SELECT {COLUMNS}, {OF_LAST} FROM messor.standing_exports s {LAST} WHERE s.name = $1
"""


@dataclass(frozen=True, slots=True)
class StandingExport:
    """An export that is made on a schedule, and how its last one went."""

    id: UUID
    name: str
    noun: str
    format: str
    filters: dict[str, Any]
    options: dict[str, Any]
    cadence: str
    place: str
    is_incremental: bool
    is_active: bool
    next_run_at: datetime
    problem: str | None
    created_by: str
    created_at: datetime
    last_id: UUID | None
    last_state: str | None
    last_rows: int | None
    delivered_as: str | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> StandingExport:
        decoded = {name: msgspec.json.decode(row[name]) for name in ("filters", "options")}
        return cls(**{**row, **decoded})


class StandingFilter(Filters):
    """Filters of standing exports."""

    noun: str | None = where("s.noun = {}", "What is exported", max_length=40)
    active: bool | None = where("s.is_active = {}", "Switched on")


STANDING_EXPORTS = Listing(
    name="standing exports",
    item=StandingExport,
    filters=StandingFilter,
    table="messor.standing_exports",
    alias="s",
    columns=f"{COLUMNS}, {OF_LAST}",
    joins=LAST,
    key_type="uuid",
    make=StandingExport.of,
    orders=both_ways("-created_at", "s.created_at", "timestamptz", "Newest first", "Oldest first"),
)


async def get(source: Source, name: str) -> StandingExport:
    row = await source.fetchrow(GET, name)
    if row is None:
        raise NotFoundError(f"There is no standing export {name[:60]!r}.")
    return StandingExport.of(row)
