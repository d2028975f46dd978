"""Queries of entities: the list, one entity with what its sites state, and pairs that wait for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import msgspec

from messor.entities.kinds import KINDS
from messor.errors import NotFoundError
from messor.records.titles import title_of
from messor.store.listing import DomainText, Filters, Listing, Order, Source, both_ways, where

LARGEST = 2**63 - 1
MAX_SCANNED = 10_000
MAX_STATEMENTS = 100  # listed of one entity
KindName = Literal["organisation", "product", "program", "service", "place"]

_ROW = (
    "e.id, e.kind, e.title, e.data, e.domains, e.statements, e.records, e.created_at, e.updated_at"
)
ENTITY = f"SELECT {_ROW}, e.fields, e.state, e.merged_into FROM messor.entities e WHERE e.id = $1"
STATEMENTS = f"""
SELECT s.id, d.domain, s.records, r.id AS record_id, r.kind, r.confidence, r.data, r.last_seen, p.url, p.id AS page_id,
       q.id AS product_id
  FROM messor.entity_statements s JOIN messor.domains d ON d.id = s.domain_id
  JOIN messor.records r ON r.id = s.record_id JOIN messor.pages p ON p.id = r.page_id
  LEFT JOIN messor.products q ON q.record_id = r.id
 WHERE s.entity_id = $1 ORDER BY s.records DESC, s.id LIMIT {MAX_STATEMENTS}
"""
BASES = """
SELECT p.first, p.second, p.score, p.basis, p.verdict, p.decided_by, p.decided_at, p.reason
  FROM messor.entity_pairs p
 WHERE p.first = ANY ($1::bigint[]) AND p.second = ANY ($1::bigint[])
   AND (p.verdict = 'same' OR p.score >= 0.9::real)
 ORDER BY p.verdict NULLS LAST, p.score DESC, p.id LIMIT 200
"""
OF_RECORD = """
SELECT e.id, e.kind, e.title, e.domains, e.statements FROM messor.entity_members m
  JOIN messor.entity_statements s ON s.id = m.statement_id
  JOIN messor.entities e ON e.id = s.entity_id AND e.state = 'current'
 WHERE m.record_id = $1 ORDER BY e.id
"""


class EntityFilter(Filters):
    """Filters of entities."""

    kind: KindName | None = where("e.kind = {}", "Kind", indexed=True)
    q: str | None = where(
        "strpos(lower(e.title), lower({})) > 0", "Part of the name", max_length=300
    )
    domain: DomainText | None = where(
        """EXISTS (SELECT FROM messor.entity_statements s WHERE s.entity_id = e.id AND s.domain_id =
           (SELECT id FROM messor.domains WHERE domain = {}::text))""",
        "Stated by the domain",
    )
    min_domains: int | None = where(
        "e.domains >= {}", "Stated by at least so many domains", ge=1, le=10**6
    )


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing, merged over what its sites state."""

    id: int
    kind: KindName
    title: str
    data: dict[str, Any]
    domains: int
    statements: int
    records: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class OtherValue:
    """What another site states of a field."""

    value: Any
    record_id: int
    domain: str


@dataclass(frozen=True, slots=True)
class MergedField:
    """A field's value, the record it comes from, how many domains state the same, and what others state."""

    name: str
    value: Any
    record_id: int
    confidence: float
    domains: int
    is_corrected: bool
    others: list[OtherValue]


@dataclass(frozen=True, slots=True)
class EntityStatement:
    """What one domain states, by its best record."""

    id: int
    domain: str
    records: int
    record_id: int
    kind: str
    title: str
    confidence: float
    data: dict[str, Any]
    last_seen: datetime
    url: str
    page_id: int
    product_id: int | None


@dataclass(frozen=True, slots=True)
class Basis:
    """Why two statements are of one thing: what they share, or a person."""

    first: int
    second: int
    score: float
    basis: str
    verdict: str | None
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class FullEntity(Entity):
    """An entity with its fields, statements, and why they are one."""

    fields: list[MergedField]
    members: list[EntityStatement]
    bases: list[Basis]


@dataclass(frozen=True, slots=True)
class EntityLink:
    """The entity a record belongs to."""

    id: int
    kind: KindName
    title: str
    domains: int
    statements: int


class ProposalFilter(Filters):
    """Filters of proposals."""

    kind: KindName | None = where("p.kind = {}", "Kind")
    min_score: float | None = where("p.score >= {}::real", "Minimum score", ge=0, le=1)


@dataclass(frozen=True, slots=True)
class EntityProposal:
    """Two statements that may be about one thing; a person decides."""

    id: int
    kind: KindName
    score: float
    basis: str
    first_entity: int
    second_entity: int
    first_title: str
    second_title: str
    first_domain: str
    second_domain: str
    first_record: int
    second_record: int


ENTITIES = Listing(
    name="entities",
    item=Entity,
    filters=EntityFilter,
    table="messor.entities",
    alias="e",
    columns=_ROW,
    only="e.state = 'current'",
    make=lambda row: Entity(**{**row, "data": msgspec.json.decode(row["data"])}),
    scan=MAX_SCANNED,
    orders={
        "-updated_at": Order(
            "e.updated_at", "timestamptz", "Recently changed first", descending=True
        ),
        **both_ways(
            "domains", "e.domains", "integer", "Fewest domains first", "Most domains first"
        ),
        "title": Order("left(e.title, 200)", "text", "By name"),
    },
)

PROPOSALS = Listing(
    name="proposals",
    item=EntityProposal,
    filters=ProposalFilter,
    table="messor.entity_pairs",
    alias="p",
    only="""p.verdict IS NULL AND p.score < 0.9::real AND EXISTS (
      SELECT FROM messor.entity_statements x JOIN messor.entity_statements y ON y.id = p.second
       WHERE x.id = p.first AND x.entity_id <> y.entity_id)""",
    columns="""p.id, p.kind, p.score, p.basis, a.entity_id AS first_entity, b.entity_id AS second_entity,
               v.title AS first_title, w.title AS second_title, c.domain AS first_domain, d.domain AS second_domain,
               a.record_id AS first_record, b.record_id AS second_record""",
    joins="""JOIN messor.entity_statements a ON a.id = p.first JOIN messor.entity_statements b ON b.id = p.second
             JOIN messor.entities v ON v.id = a.entity_id JOIN messor.entities w ON w.id = b.entity_id
             JOIN messor.domains c ON c.id = a.domain_id JOIN messor.domains d ON d.id = b.domain_id""",
    orders={"-score": Order("p.score", "real", "Surest first", descending=True)},
)


async def entity(source: Source, entity_id: int) -> FullEntity:
    """One entity; an id that was merged into another leads there."""
    row = await source.fetchrow(ENTITY, entity_id) if 0 < entity_id <= LARGEST else None
    for _ in range(20):  # a merged one can be merged again
        if row is None or row["merged_into"] is None:
            break
        row = await source.fetchrow(ENTITY, row["merged_into"])
    if row is None or row["state"] != "current":
        raise NotFoundError(f"There is no entity {entity_id}. What stated it may have been purged.")
    members = await _statements(source, row["id"])
    bases = await source.fetch(BASES, [each.id for each in members])
    own = {name: row[name] for name in Entity.__dataclass_fields__ if name != "data"}
    data, fields = msgspec.json.decode(row["data"]), msgspec.json.decode(row["fields"])
    return FullEntity(
        **own, data=data, fields=_fields(row["kind"], data, fields), members=members,
        bases=[Basis(**each) for each in bases],
    )  # fmt: skip


async def _statements(source: Source, entity_id: int) -> list[EntityStatement]:
    found = []
    for row in await source.fetch(STATEMENTS, entity_id):
        data = msgspec.json.decode(row["data"])
        found.append(EntityStatement(**{**row, "data": data, "title": title_of(row["kind"], data)}))
    return found


def _fields(kind: str, data: dict[str, Any], fields: dict[str, Any]) -> list[MergedField]:
    return [
        MergedField(
            name,
            data[name],
            **{**fields[name], "others": [OtherValue(**each) for each in fields[name]["others"]]},
        )
        for name in KINDS[kind].fields
        if name in data
    ]


async def of_record(source: Source, record_id: int) -> Sequence[EntityLink]:
    """The entities that a record is about."""
    return [EntityLink(**row) for row in await source.fetch(OF_RECORD, record_id)]
