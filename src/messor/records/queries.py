"""Record queries: lists that stay fast with millions of rows, single records, their history.

A list is read in slices of an indexed order, newest first. Filters without an index are applied to
a bounded number of rows, so a page may be short and still have a next cursor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.records.titles import title_of
from messor.store.database import Connection, Database

LARGEST = 2**63 - 1
MAX_SCANNED = 10_000  # rows scanned per request
COUNTED = 10_000  # records counted per kind; beyond, "at least"
SAMPLE = 500  # newest records of a kind used to list its parsers
MOST_PARTS = 200

_ROW = """r.id, r.kind, r.state, r.confidence, r.parser, r.parser_version, r.data, d.domain, p.url,
       r.page_id, r.snapshot_id, r.first_seen, r.last_seen, r.updated_at"""
RECORD = f"""
SELECT {_ROW}, r.identity, r.fields, r.removed_at, q.id AS product_id
  FROM messor.records r JOIN messor.domains d ON d.id = r.domain_id
  JOIN messor.pages p ON p.id = r.page_id LEFT JOIN messor.products q ON q.record_id = r.id
 WHERE r.id = $1
"""
HISTORY = """
SELECT id, changed_at, state, cause, field, before, after, snapshot_id
  FROM messor.record_changes WHERE record_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3
"""
PARTS = f"""
SELECT {_ROW} FROM messor.records r JOIN messor.domains d ON d.id = r.domain_id
  JOIN messor.pages p ON p.id = r.page_id
 WHERE r.page_id = $1 AND r.kind = ANY ($2::text[]) AND r.state = 'current'
 ORDER BY r.kind, r.id LIMIT {MOST_PARTS}
"""
# The kinds in use, by a loose index scan.
_KINDS = """
WITH RECURSIVE used (kind) AS (
  (SELECT kind FROM messor.records WHERE state = 'current' ORDER BY kind LIMIT 1)
  UNION ALL
  SELECT (SELECT r.kind FROM messor.records r WHERE r.state = 'current' AND r.kind > used.kind
           ORDER BY r.kind LIMIT 1) FROM used WHERE used.kind IS NOT NULL
)"""
KINDS = f"{_KINDS} SELECT kind FROM used WHERE kind IS NOT NULL"
OF_DOMAIN = f"""{_KINDS}
SELECT u.kind, c.records, s.sure, s.parsers
  FROM used u CROSS JOIN LATERAL (
    SELECT count(*)::int AS records
      FROM (SELECT FROM messor.records r
             WHERE r.kind = u.kind AND r.domain_id = $1 AND r.state = 'current'
             LIMIT {COUNTED + 1}) x) c
 CROSS JOIN LATERAL (
    SELECT avg(x.confidence)::float8 AS sure,
           array_agg(DISTINCT x.parser || ' ' || x.parser_version) AS parsers
      FROM (SELECT r.confidence, r.parser, r.parser_version FROM messor.records r
             WHERE r.kind = u.kind AND r.domain_id = $1 AND r.state = 'current'
             ORDER BY r.id DESC LIMIT {SAMPLE}) x) s
 WHERE u.kind IS NOT NULL AND c.records > 0 ORDER BY c.records DESC, u.kind
"""

# Lists count a domain's records up to this number.
LISTED = 500
BY_DOMAIN = f"""
SELECT d.id, (SELECT count(*)::int FROM (SELECT FROM messor.records r
         WHERE r.domain_id = d.id AND r.state = 'current' LIMIT {LISTED + 1}) x) AS records
  FROM unnest($1::uuid[]) AS d (id)
"""

Source = Connection | Database


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Filters of records; None means any."""

    kind: str | None = None
    domain: str | None = None
    parser: str | None = None
    version: str | None = None
    state: str | None = "current"
    least: float = 0.0  # confidence
    most: float = 1.0


@dataclass(frozen=True, slots=True)
class ListedRecord:
    """A record in a list."""

    id: int
    kind: str
    state: str
    confidence: float
    parser: str
    parser_version: str
    data: dict[str, Any]
    domain: str
    url: str
    page_id: int
    snapshot_id: int
    first_seen: datetime
    last_seen: datetime
    updated_at: datetime

    @property
    def title(self) -> str:
        return title_of(self.kind, self.data)


@dataclass(frozen=True, slots=True)
class FullRecord(ListedRecord):
    """A record with the evidence of its fields."""

    identity: str
    fields: dict[str, Any]  # value, confidence and evidence by field
    removed_at: datetime | None
    product_id: int | None


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A change of a record or of one of its fields."""

    id: int
    changed_at: datetime
    state: str
    cause: str
    field: str | None
    before: Any
    after: Any
    snapshot_id: int | None


@dataclass(frozen=True, slots=True)
class KindCount:
    """Number of records of a kind on a domain, and the parsers that read them."""

    kind: str
    records: int
    sure: float
    parsers: list[str]

    @property
    def is_exact(self) -> bool:
        return self.records <= COUNTED


@dataclass(frozen=True, slots=True)
class RecordSlice:
    """A page of records, and the cursor of the next one; None at the end."""

    records: list[ListedRecord]
    reached: int | None


async def records(
    source: Source, wanted: RecordFilter, *, before: int | None = None, limit: int = 50
) -> RecordSlice:
    """Return records, newest first; `before` is the cursor of the previous answer."""
    query = _RecordQuery(wanted, before)
    part = f"SELECT * FROM messor.records r WHERE {query.served} ORDER BY {query.order}"
    if query.others:
        part += f" LIMIT {MAX_SCANNED}"
    sql = f"""
    SELECT {_ROW}
      FROM (SELECT * FROM ({part}) r WHERE {query.others or "true"}
             ORDER BY {query.order} LIMIT {limit + 1}) r
      JOIN messor.domains d ON d.id = r.domain_id JOIN messor.pages p ON p.id = r.page_id
     ORDER BY r.id DESC"""
    rows = [ListedRecord(**_plain(row)) for row in await source.fetch(sql, *query.values)]
    if len(rows) > limit:
        return RecordSlice(rows[:limit], rows[limit - 1].id)
    if not query.others:
        return RecordSlice(rows, None)
    edge = f"""SELECT r.id FROM messor.records r WHERE {query.served}
                ORDER BY {query.order} OFFSET {MAX_SCANNED - 1} LIMIT 1"""
    return RecordSlice(rows, await source.fetchval(edge, *query.values[: query.served_values]))


class _RecordQuery:
    """A list as SQL: indexed conditions in index order, and the other conditions.

    An index is entered by row comparison, not by "=": for equality with a parameter the planner may
    scan all records by id instead, which is fast for a frequent value and slow for a rare one.
    """

    def __init__(self, wanted: RecordFilter, before: int | None) -> None:
        self.values: list[Any] = [before or LARGEST]
        lead: list[tuple[str, str]] = []
        conditions: list[str] = []
        is_current = wanted.state == "current"
        kind_leads = wanted.kind is not None and (wanted.domain is None or is_current)
        if kind_leads:
            lead.append(("r.kind", self._add(wanted.kind)))
        if wanted.domain is not None:
            name = self._add(wanted.domain)
            found = f"(SELECT id FROM messor.domains WHERE domain = {name}::text)"
            lead.append(("r.domain_id", found))
        if len(lead) == 2:
            conditions.append("r.state = 'current'")
        self.served = " AND ".join([*_entered(lead), *conditions])
        self.order = ", ".join(f"{column} DESC" for column in (*(one for one, _ in lead), "r.id"))
        self.served_values = len(self.values)
        self.others = " AND ".join(
            [
                *self._equal("kind", None if kind_leads else wanted.kind),
                *self._equal("state", None if len(lead) == 2 else wanted.state),
                *self._equal("parser", wanted.parser),
                *self._equal("parser_version", wanted.version),
                *self._confidence(">=", wanted.least, 0.0),
                *self._confidence("<=", wanted.most, 1.0),
            ]
        )

    def _add(self, value: Any) -> str:
        self.values.append(value)
        return f"${len(self.values)}"

    def _equal(self, column: str, value: Any) -> list[str]:
        return [] if value is None else [f"r.{column} = {self._add(value)}"]

    def _confidence(self, sign: str, edge: float, whole: float) -> list[str]:
        return [] if edge == whole else [f"r.confidence {sign} {self._add(edge)}::real"]


def _entered(lead: Sequence[tuple[str, str]]) -> list[str]:
    """Return the conditions to enter and leave an index that starts with these columns and ends
    with id.
    """
    if not lead:
        return ["r.id < $1"]
    columns, values = (", ".join(part) for part in zip(*lead, strict=True))
    return [f"({columns}, r.id) < ({values}, $1)", f"({columns}) >= ({values})"]


async def record(source: Source, record_id: int) -> FullRecord:
    """A record with the evidence of its fields."""
    row = await source.fetchrow(RECORD, record_id) if 0 < record_id <= LARGEST else None
    if row is None:
        raise NotFoundError(f"There is no record {record_id}. Its page may have been purged.")
    found = _plain(row)
    found["fields"] = {
        name: {"value": value, **found["fields"].get(name, {})}
        for name, value in found["data"].items()
    }
    return FullRecord(**found)


async def history(
    source: Source, record_id: int, *, before: int | None = None, limit: int = 100
) -> list[RecordChange]:
    """Return the changes of a record, newest first."""
    rows = await source.fetch(HISTORY, record_id, before or LARGEST, limit)
    return [RecordChange(**_plain(row)) for row in rows]


async def parts(source: Source, page_id: int, kinds: Sequence[str]) -> list[ListedRecord]:
    """Return a page's other records of some kinds."""
    return [ListedRecord(**_plain(row)) for row in await source.fetch(PARTS, page_id, list(kinds))]


async def kinds(source: Source) -> list[str]:
    """Return the record kinds in use."""
    return [row["kind"] for row in await source.fetch(KINDS)]


async def by_domain(source: Source, domain_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Count the current records of each domain; LISTED + 1 means "or more"."""
    return {row["id"]: row["records"] for row in await source.fetch(BY_DOMAIN, domain_ids)}


async def of_domain(source: Source, domain_id: UUID) -> list[KindCount]:
    """Count a domain's records by kind, the most frequent first."""
    return [KindCount(**row) for row in await source.fetch(OF_DOMAIN, domain_id)]


def _plain(row: Any) -> dict[str, Any]:
    """Return a row with its JSON parsed."""
    found = dict(row)
    for name in ("data", "fields", "before", "after"):
        if found.get(name) is not None:
            found[name] = msgspec.json.decode(found[name])
    return found
