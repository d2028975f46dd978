"""Queries of exports: the list for every interface, and single ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.store.listing import Filters, Listing, Source, both_ways, where

State = Literal["queued", "running", "done", "failed", "cancelled", "removed"]

COLUMNS = """x.id, x.noun, x.format, x.filters::text AS filters, x.options::text AS options, x.since,
  x.target, x.place, x.delivered_as, x.state, x.rows, x.held, x.file_bytes, encode(x.file_hash, 'hex') AS file_hash, x.error,
  x.requested_by, x.created_at, x.updated_at, x.finished_at"""
GET = f"SELECT {COLUMNS} FROM messor.exports x WHERE x.id = $1 AND ($2::text IS NULL OR x.requested_by = $2)"


@dataclass(frozen=True, slots=True)
class Export:
    """A file of one noun, and how far it is."""

    id: UUID
    noun: str
    format: str
    filters: dict[str, Any]
    options: dict[str, Any]
    since: str | None
    target: str | None  # a path on the requester's machine; None: to be downloaded
    place: str | None  # where a standing export is delivered
    delivered_as: str | None  # its name there
    state: State
    rows: int
    held: int  # pages whose rows may not leave; see the list of held items
    file_bytes: int | None
    file_hash: str | None  # SHA-256
    error: str | None
    requested_by: str
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Export:
        decoded = {name: msgspec.json.decode(row[name]) for name in ("filters", "options")}
        return cls(**{**row, **decoded})

    @property
    def uses(self) -> list[str]:
        """What it was declared to be for."""
        return list(self.options.get("uses", ()))

    @property
    def is_downloadable(self) -> bool:
        return self.state == "done" and self.target is None and self.place is None


class ExportFilter(Filters):
    """Filters of exports."""

    noun: str | None = where("x.noun = {}", "What was exported", max_length=40)
    state: State | None = where("x.state = {}", "State")
    requested_by: str | None = where("x.requested_by = {}", "Requested by", max_length=200)


EXPORTS = Listing(
    name="exports",
    item=Export,
    filters=ExportFilter,
    table="messor.exports",
    alias="x",
    columns=COLUMNS,
    key_type="uuid",
    make=Export.of,
    orders=both_ways("-created_at", "x.created_at", "timestamptz", "Newest first", "Oldest first"),
)


async def get(source: Source, export_id: UUID, *, of: str | None = None) -> Export:
    """An export; `of` limits it to those of one requester."""
    row = await source.fetchrow(GET, export_id, of)
    if row is None:
        raise NotFoundError(f"Unknown export {export_id}.")
    return Export.of(row)
