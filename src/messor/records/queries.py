"""Queries of records: the list for every interface, single records, their changes, and counts.

Records are many: a list enters an index, newest first, and applies the filters without one to a
bounded number of rows, so a page may be short although more follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.records.titles import title_of
from messor.store.listing import (
    DomainText,
    Filters,
    Listing,
    Order,
    Position,
    Source,
    Values,
    all_of,
    where,
)

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
PARTS = f"""
SELECT {_ROW} FROM messor.records r JOIN messor.domains d ON d.id = r.domain_id
  JOIN messor.pages p ON p.id = r.page_id
 WHERE r.page_id = $1 AND r.kind = ANY ($2::text[]) AND r.state = 'current'
 ORDER BY r.kind, r.id LIMIT {MOST_PARTS}
"""
OF_PAGES = """
SELECT r.id, r.page_id, r.snapshot_id, r.kind, r.confidence, r.data, r.fields
  FROM messor.records r WHERE r.page_id = ANY ($1::bigint[]) AND r.state = 'current'
 ORDER BY r.page_id, r.id LIMIT $2
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

RecordState = Literal["current", "removed"]
ChangeState = Literal["new", "changed", "removed", "returned"]
Cause = Literal["page", "parser", "person"]  # what changed, or who corrected it

# Records and products that their page no longer states are listed on request only.
STATES = {"current": "{alias}.state = 'current'", "removed": "{alias}.state = 'removed'", "all": ""}


def in_state(alias: str) -> Any:
    """The filter by state of a list of records or products."""
    conditions = {name: sql.format(alias=alias) for name, sql in STATES.items()}
    return where(conditions, "Whether the page still states it", "current")


class RecordFilter(Filters):
    """Filters of records."""

    domain: DomainText | None = where(
        "r.domain_id = (SELECT id FROM messor.domains WHERE domain = {}::text)", "Domain"
    )
    kind: str | None = where("r.kind = {}", "Kind", min_length=1, max_length=100)
    parser: str | None = where("r.parser = {}", "Parser", min_length=1, max_length=100)
    version: str | None = where(
        "r.parser_version = {}", "Parser version", min_length=1, max_length=100
    )
    state: Literal["current", "removed", "all"] = in_state("r")
    min_confidence: float | None = where(
        "r.confidence >= {}::real", "Minimum confidence", ge=0, le=1
    )
    max_confidence: float | None = where(
        "r.confidence <= {}::real", "Maximum confidence", ge=0, le=1
    )


class ChangeFilter(Filters):
    """Filters of the changes of records."""

    record_id: int | None = where("c.record_id = {}", "Record", ge=1, le=LARGEST)


@dataclass(frozen=True, slots=True)
class ListedRecord:
    """A record in a list."""

    id: int
    kind: str
    state: RecordState
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
    updated_at: datetime  # when its values last changed
    title: str


@dataclass(frozen=True, slots=True)
class Proof:
    """Where a value is on its page."""

    method: str
    quote: str  # verbatim from the decoded page
    path: str = ""


@dataclass(frozen=True, slots=True)
class Correcting:
    """The correction in force for a field, and what the page itself states."""

    id: int
    page_value: Any = None  # null: the page does not state the field
    page_confidence: float | None = None


@dataclass(frozen=True, slots=True)
class RecordField:
    """A value stated by a page, with confidence and evidence; or a person's in its place.

    The evidence is the page's in either case.
    """

    value: Any
    confidence: float | None = None
    evidence: Proof | None = None
    correction: Correcting | None = None


@dataclass(frozen=True, slots=True)
class FullRecord(ListedRecord):
    """A record with the evidence of its fields."""

    identity: str
    fields: dict[str, RecordField]
    removed_at: datetime | None
    product_id: int | None


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A record with its evidence by field: quote, method, path and confidence."""

    id: int
    page_id: int
    snapshot_id: int
    kind: str
    confidence: float
    data: dict[str, Any]
    evidence: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A change of a record or of one of its fields."""

    id: int
    changed_at: datetime
    state: ChangeState
    cause: Cause
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


def _listed(row: Mapping[str, Any]) -> ListedRecord:
    found = _plain(row)
    return ListedRecord(**found, title=title_of(found["kind"], found["data"]))


async def _read(
    source: Source, wanted: RecordFilter, _: str, after: Position | None, limit: int
) -> tuple[list[ListedRecord], Position | None]:
    """The next records; an index is entered by row comparison, not by "=".

    For equality with a parameter the planner may scan all records by id instead, which is fast for
    a frequent value and slow for a rare one.
    """
    values = Values([after.key if after else str(LARGEST)])
    lead = _lead(wanted)
    within, by = _entered(lead, wanted, values), _order(lead)
    entered = len(values)
    served = {*lead, "state"} if len(lead) == 2 else set(lead)
    others = values.conditions(wanted, without=served)
    scanned = f"SELECT * FROM messor.records r WHERE {within} ORDER BY {by}"
    bound = f"LIMIT {MAX_SCANNED}" if others else ""
    rows = await source.fetch(
        f"""
        SELECT {_ROW}
          FROM (SELECT * FROM ({scanned} {bound}) r WHERE {all_of(others)}
                 ORDER BY {by} LIMIT {limit + 1}) r
          JOIN messor.domains d ON d.id = r.domain_id JOIN messor.pages p ON p.id = r.page_id
         ORDER BY r.id DESC""",
        *values,
    )
    found = [_listed(row) for row in rows[:limit]]
    reached = found[-1].id if len(rows) > limit else None
    if reached is None and bound:
        edge = f"SELECT r.id FROM ({scanned} OFFSET {MAX_SCANNED - 1} LIMIT 1) r"
        reached = await source.fetchval(edge, *values[:entered])
    return found, None if reached is None else Position(str(reached), str(reached))


# The columns that indexes of records begin with, before the id.
_LEADING = {
    "kind": ("r.kind", "{}::text"),
    "domain": ("r.domain_id", "(SELECT id FROM messor.domains WHERE domain = {}::text)"),
}


def _lead(wanted: RecordFilter) -> list[str]:
    """The filters that an index serves; the one of kind and domain has current records only."""
    has_kind, has_domain = wanted.kind is not None, wanted.domain is not None
    is_kind = has_kind and (not has_domain or wanted.state == "current")
    return [*(["kind"] if is_kind else []), *(["domain"] if has_domain else [])]


def _entered(lead: Sequence[str], wanted: RecordFilter, values: Values) -> str:
    """The conditions to enter and leave the index at the cursor, which is $1."""
    if not lead:
        return "r.id < $1::text::bigint"
    columns = ", ".join(_LEADING[name][0] for name in lead)
    edge = ", ".join(_LEADING[name][1].format(values.add(getattr(wanted, name))) for name in lead)
    state = " AND r.state = 'current'" if len(lead) == 2 else ""
    return f"({columns}, r.id) < ({edge}, $1::text::bigint) AND ({columns}) >= ({edge}){state}"


def _order(lead: Sequence[str]) -> str:
    return ", ".join(f"{column} DESC" for column in (*(_LEADING[name][0] for name in lead), "r.id"))


RECORDS = Listing(
    name="records",
    item=ListedRecord,
    filters=RecordFilter,
    orders={"-id": Order("r.id", "bigint", "Newest first", descending=True)},
    reader=_read,
)

RECORD_CHANGES = Listing(
    name="record changes",
    item=RecordChange,
    filters=ChangeFilter,
    table="messor.record_changes",
    alias="c",
    columns="c.id, c.changed_at, c.state, c.cause, c.field, c.before, c.after, c.snapshot_id",
    orders={"-id": Order("c.id", "bigint", "Newest first", descending=True)},
    make=lambda row: RecordChange(**_plain(row)),
)


async def record(source: Source, record_id: int) -> FullRecord:
    """A record with the evidence of its fields."""
    row = await source.fetchrow(RECORD, record_id) if 0 < record_id <= LARGEST else None
    if row is None:
        raise NotFoundError(f"There is no record {record_id}. Its page may have been purged.")
    found = _plain(row)
    proofs = found.pop("fields")
    # A field that a person took away is shown with the page's own words.
    corrected = [name for name, proof in proofs.items() if "correction" in proof]
    fields = {
        name: msgspec.convert(
            {"value": found["data"].get(name), **proofs.get(name, {})}, RecordField
        )
        for name in dict.fromkeys((*found["data"], *corrected))
    }
    return FullRecord(**found, title=title_of(found["kind"], found["data"]), fields=fields)


async def of_pages(source: Source, page_ids: Sequence[int], limit: int) -> list[PageRecord]:
    """The current records of some pages, in the order in which each page states them."""
    return [_with_evidence(_plain(row)) for row in await source.fetch(OF_PAGES, page_ids, limit)]


def _with_evidence(found: dict[str, Any]) -> PageRecord:
    fields = found.pop("fields")
    evidence = {
        name: {**proof["evidence"], "confidence": proof.get("confidence")}
        for name, proof in fields.items()
        if proof.get("evidence")
    }
    return PageRecord(**found, evidence=evidence)


async def parts(source: Source, page_id: int, kinds: Sequence[str]) -> list[ListedRecord]:
    """Return a page's other records of some kinds."""
    return [_listed(row) for row in await source.fetch(PARTS, page_id, list(kinds))]


async def kinds(source: Source) -> list[str]:
    """Return the record kinds in use."""
    return [row["kind"] for row in await source.fetch(KINDS)]


async def by_domain(source: Source, domain_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Count the current records of each domain; LISTED + 1 means "or more"."""
    return {row["id"]: row["records"] for row in await source.fetch(BY_DOMAIN, domain_ids)}


async def of_domain(source: Source, domain_id: UUID) -> list[KindCount]:
    """Count a domain's records by kind, the most frequent first."""
    return [KindCount(**row) for row in await source.fetch(OF_DOMAIN, domain_id)]


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its JSON parsed."""
    found = dict(row)
    for name in ("data", "fields", "before", "after"):
        if found.get(name) is not None:
            found[name] = msgspec.json.decode(found[name])
    return found
