"""Queries of snapshots: the list for every interface, and single ones; without their content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from messor.errors import NotFoundError
from messor.store.listing import Filters, Listing, Order, Source, where

_COLUMNS = """s.id, s.page_id, p.url, encode(s.content_hash, 'hex') AS content_hash,
  encode(s.data_hash, 'hex') AS data_hash, encode(s.raw_hash, 'hex') AS raw_hash, s.size,
  s.status_code, s.provider, s.content_type, s.title, s.description, s.language, s.verdict,
  s.reader_version, s.crawled_at"""
_URL = "JOIN messor.pages p ON p.id = s.page_id"
GET = f"SELECT {_COLUMNS} FROM messor.page_snapshots s {_URL} WHERE s.id = $1"


class SnapshotFilter(Filters):
    """Filters of snapshots."""

    page_id: int | None = where("s.page_id = {}", "Page", ge=1, le=2**63 - 1)


@dataclass(frozen=True, slots=True)
class KeptSnapshot:
    """A snapshot without its content."""

    id: int
    page_id: int
    url: str
    content_hash: str
    data_hash: str
    raw_hash: str
    size: int
    status_code: int
    provider: str
    content_type: str | None
    title: str | None
    description: str | None
    language: str | None
    verdict: str | None
    reader_version: int
    crawled_at: datetime


SNAPSHOTS = Listing(
    name="snapshots",
    item=KeptSnapshot,
    filters=SnapshotFilter,
    table="messor.page_snapshots",
    alias="s",
    columns=_COLUMNS,
    joins=_URL,
    orders={"-crawled_at": Order("s.crawled_at", "timestamptz", "Newest first", descending=True)},
)


async def snapshot(source: Source, snapshot_id: int) -> KeptSnapshot:
    row = await source.fetchrow(GET, snapshot_id)
    if row is None:
        raise NotFoundError(f"There is no snapshot {snapshot_id}.")
    return KeptSnapshot(**row)
