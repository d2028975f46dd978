"""What can be watched: nouns with the filters of their lists, checked for many watches at once.

One statement per noun checks every pair of a watch and a changed thing: each filter's condition is
applied to the value that the watch gives, where it gives one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
from pydantic import ValidationError

from messor.errors import UsageError
from messor.feed.queries import Change
from messor.frontier.page_queries import PageFilter
from messor.records.product_queries import ProductFilter
from messor.records.queries import RecordFilter
from messor.registry.queries import DomainFilter
from messor.scout.candidate_queries import CandidateFilter
from messor.store.listing import DomainText, Filters, Source, fault_of, plain_type, where
from messor.watches.conditions import Noun


class RankFilter(Filters):
    """Filters of ranks: whose, and for which keyword."""

    domain: DomainText | None = where("true", "Domain whose rank it is")
    keyword: str | None = where("k.keyword_text = {}", "Keyword", max_length=500)


# A single thing is watched by its id, with which lists need no filter.


class RecordWatchFilter(RecordFilter):
    """Filters of records, and a single one."""

    id: int | None = where("r.id = {}", "One record")


class ProductWatchFilter(ProductFilter):
    """Filters of products, and a single one."""

    id: int | None = where("q.id = {}", "One product")


class PageWatchFilter(PageFilter):
    """Filters of pages, and a single one."""

    id: int | None = where("p.id = {}", "One page")


class ProgramWatchFilter(CandidateFilter):
    """Filters of candidates, and a single one."""

    id: UUID | None = where("c.id = {}", "One program")


class DomainWatchFilter(DomainFilter):
    """Filters of domains, and a single one."""

    domain: DomainText | None = where("domains.domain = {}", "One domain")


@dataclass(frozen=True, slots=True)
class Watched:
    """A noun: its filters, and the rows that their conditions refer to."""

    filters: type[Filters]
    rows: str  # joined to the pairs `g`, by g.id or g.uuid
    # Conditions of filters whose listing has none of its own.
    own: Mapping[str, str] | None = None


_OF_DOMAIN = "h.domain_id = (SELECT id FROM messor.domains WHERE domain = {})"
NOUNS: Mapping[Noun, Watched] = {
    "records": Watched(RecordWatchFilter, "JOIN messor.records r ON r.id = g.id"),
    "products": Watched(ProductWatchFilter, "JOIN messor.products q ON q.id = g.id"),
    "pages": Watched(
        PageWatchFilter,
        """JOIN messor.pages p ON p.id = g.id JOIN messor.crawl_tasks k ON k.page_id = p.id
           JOIN messor.hosts h ON h.id = p.host_id""",
        {
            "domain": _OF_DOMAIN,
            "batch": """EXISTS (SELECT FROM messor.batch_pages b
                                 WHERE b.batch_id = {} AND b.page_id = p.id)""",
        },
    ),
    "programs": Watched(ProgramWatchFilter, "JOIN messor.candidates c ON c.id = g.uuid"),
    "ranks": Watched(
        RankFilter,
        """JOIN messor.serp_snapshots s ON s.id = g.uuid
           JOIN messor.keywords k ON k.id = s.keyword_id""",
    ),
    "domains": Watched(DomainWatchFilter, "JOIN messor.domains domains ON domains.id = g.uuid"),
}
_TYPES = {
    int: "bigint", float: "float8", Decimal: "numeric", bool: "boolean", datetime: "timestamptz",
    UUID: "uuid", timedelta: "interval",
}  # fmt: skip
FITTING = """
SELECT g.watch, g.change
  FROM unnest($1::int[], $2::int[], $3::bigint[], $4::uuid[]) AS g (watch, change, id, uuid)
  JOIN unnest($5::int[], $6::jsonb[]) AS w (watch, given) ON w.watch = g.watch
  {rows}
 WHERE {conditions}
"""


@dataclass(frozen=True, slots=True)
class WatchedRow:
    """A watch and a change that it may have to tell, by their numbers in a batch."""

    watch: int
    change: int
    id: int | None
    uuid: UUID | None

    @property
    def key(self) -> str:
        """The id that a watch of a single thing has."""
        return str(self.id if self.uuid is None else self.uuid)


def noun_of(filters: type[Filters]) -> Noun | None:
    """The noun that is listed with these filters."""
    return next((noun for noun, one in NOUNS.items() if issubclass(one.filters, filters)), None)


def check_filters(noun: Noun, given: Mapping[str, Any]) -> dict[str, Any]:
    """The filters as they are stored; raises an error for those that the list does not know."""
    cleaned = {name: value for name, value in given.items() if value not in (None, "")}
    try:
        made = NOUNS[noun].filters.model_validate(cleaned)
    except ValidationError as error:
        raise UsageError(f"Filters of {noun}: {fault_of(error)}") from error
    found: dict[str, Any] = made.model_dump(mode="json", exclude_unset=True)
    return found


def nouns_of(change: Change) -> list[Noun]:
    """The nouns that a change is about."""
    by_kind: dict[str, Noun] = {
        "page": "pages",
        "record": "records",
        "product": "products",
        "candidate": "programs",
        "serp": "ranks",
        "domain": "domains",
    }
    noun = by_kind.get(change.kind)
    found: list[Noun] = [] if noun is None else [noun]
    return [*found, "products"] if noun == "records" and change.product_id else found


def pair_of(noun: Noun, watch: int, number: int, change: Change) -> WatchedRow:
    """A pair with the key of its thing."""
    if noun == "products":
        return WatchedRow(watch, number, change.product_id, None)
    key = change.subject.partition(":")[2]
    if noun in ("programs", "ranks", "domains"):
        return WatchedRow(watch, number, None, UUID(key))
    return WatchedRow(watch, number, int(key), None)


async def fitting(
    source: Source, noun: Noun, pairs: Sequence[WatchedRow], given: Mapping[int, Mapping[str, Any]]
) -> set[tuple[int, int]]:
    """The pairs whose thing matches the filters of its watch, in one statement."""
    if not pairs:
        return set()
    used = {name for filters in given.values() for name in filters}
    sql = FITTING.format(rows=NOUNS[noun].rows, conditions=_conditions(noun, used))
    rows = await source.fetch(
        sql,
        [one.watch for one in pairs],
        [one.change for one in pairs],
        [one.id for one in pairs],
        [one.uuid for one in pairs],
        list(given),
        [msgspec.json.encode(filters).decode() for filters in given.values()],
    )
    return {(row["watch"], row["change"]) for row in rows}


def _conditions(noun: Noun, used: set[str]) -> str:
    watched = NOUNS[noun]
    found = [
        f"(NOT w.given ? '{name}' OR ({condition_of(watched, name, _value(watched, name))}))"
        for name in watched.filters.model_fields
        if name in used
    ]
    return " AND ".join(found) or "true"


def _value(watched: Watched, name: str) -> str:
    kind = plain_type(watched.filters.model_fields[name].annotation)
    kind = getattr(kind, "__origin__", kind) if hasattr(kind, "__metadata__") else kind
    return f"(w.given ->> '{name}')::{_TYPES.get(kind, 'text')}"


def condition_of(watched: Watched, name: str, value: str) -> str:
    """A filter's condition with an expression for its value."""
    own = (watched.own or {}).get(name)
    extra = watched.filters.model_fields[name].json_schema_extra
    assert isinstance(extra, dict)
    sql: Any = own or extra["sql"]
    if isinstance(sql, str):
        return sql.replace("{}", value) or "true"
    cases = " ".join(f"WHEN '{_key(key)}' THEN ({text or 'true'})" for key, text in sql.items())
    return f"CASE ({value})::text {cases} END"


def _key(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
