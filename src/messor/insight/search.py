"""Search over pages and records: PostgreSQL's full text, with filters, facets and a cursor.

Each document is searched in its own language. Highlights are made for the current page of results
only. `insight.questions` parses queries, `insight.search_index` makes the documents.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec

from messor.archive.texts import texts
from messor.errors import UsageError
from messor.insight.highlights import START, STOP, Fragment, fragments
from messor.insight.questions import SearchQuery, understand
from messor.store.database import Connection, Database

MOST = 100
POSTGRESQL = "postgresql"
COUNTED = 50_000  # maximum matches counted for facets; more are "at least"
VALUES = 20  # of a facet
PRICE_EDGES = (10, 25, 50, 100, 250, 500, 1000)
HEADLINE = 50_000  # characters of a text that are searched for highlights
# A link or image in markdown; of a linked image the inner one.
_LINK = r"!?\[([^][]*)\]\([^()[:space:]]*\)"

# The languages in use, by a loose index scan; each with the query in it.
_USED = """
WITH RECURSIVE used (config) AS (
  (SELECT config FROM messor.search_documents ORDER BY config LIMIT 1)
  UNION ALL
  SELECT (SELECT d.config FROM messor.search_documents d WHERE d.config > used.config
           ORDER BY d.config LIMIT 1) FROM used WHERE used.config IS NOT NULL
)"""
USED_CONFIGS = f"{_USED} SELECT config FROM used WHERE config IS NOT NULL"

_PARSED = f"""{_USED}, parts AS (
  SELECT u.config, websearch_to_tsquery(u.config::regconfig, messor.fold($1)) AS words,
         (SELECT string_agg(w.sign || w.word, ' & ') FROM (
            -- A word that says nothing by itself begins others that do: "her" begins "herbal".
            SELECT g.sign, coalesce(nullif(to_tsquery(u.config::regconfig, g.word)::text, ''),
                                    to_tsquery('simple', g.word)::text) AS word
              FROM (SELECT '' AS sign, messor.fold(b) || ':*' AS word FROM unnest($2::text[]) b
                    UNION ALL
                    SELECT '!', messor.fold(b) || ':*' FROM unnest($3::text[]) b) g) w
           WHERE w.word <> '') AS beginnings
    FROM used u WHERE u.config IS NOT NULL
), asked AS MATERIALIZED (
  -- Adding nothing to a question leaves it as it is.
  SELECT config, words && coalesce(beginnings::tsquery, ''::tsquery) AS question FROM parts
)"""

_ASKED = f"""{_PARSED}, matched AS (
  SELECT d.*, n.domain, a.question FROM asked a
    -- Not "=": by that the planner would join all documents with their languages first.
    JOIN messor.search_documents d
      ON d.config IS NOT DISTINCT FROM a.config AND d.words @@ a.question
    JOIN messor.domains n ON n.id = d.domain_id
   WHERE numnode(a.question) > 0
     AND ($4::text[] IS NULL OR d.kind = ANY ($4)) AND ($5::text[] IS NULL OR n.domain = ANY ($5))
     AND ($6::text[] IS NULL OR d.brand = ANY ($6))
     AND ($7::text[] IS NULL OR d.category = ANY ($7))
     AND ($8::text[] IS NULL OR d.availability = ANY ($8))
     AND ($9::numeric IS NULL OR d.price >= $9) AND ($10::numeric IS NULL OR d.price <= $10)
     AND ($11::text IS NULL OR d.currency = $11) AND ($12::numeric IS NULL OR d.rating >= $12)
     AND ($13::numeric IS NULL OR EXISTS (SELECT FROM messor.records c
                                           WHERE c.id = d.record_id AND c.confidence >= $13::real))
)"""

# What is shown of a page's markdown: links by their words alone.
_PLAIN = f"""
regexp_replace(regexp_replace(left({{text}}, {2 * HEADLINE}), '{_LINK}', '\\1', 'g'), '{_LINK}', '\\1', 'g')
"""
_BOUNDED = f"translate(left({{text}}, {HEADLINE}), E'\\x02\\x03', '  ')"

# How chosen documents are shown, with the words of the query marked. Archived texts come afterwards.
_SHOWN = f"""
SELECT c.config, EXISTS (SELECT FROM messor.page_snapshots n WHERE n.id = c.snapshot_id
                            AND c.record_id IS NULL AND n.text_segment_id IS NOT NULL) AS is_archived,
       c.id, c.kind, c.page_id, c.record_id, c.snapshot_id, c.domain, p.url, c.title, c.brand,
       c.category, c.price, c.currency, c.rating, c.availability, c.rank, o.original,
       ts_headline(c.config::regconfig, messor.fold(o.original), c.question, {{marks}}) AS marked
  FROM chosen c JOIN messor.pages p ON p.id = c.page_id
  LEFT JOIN messor.records r ON r.id = c.record_id
  LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = c.snapshot_id AND c.record_id IS NULL
 CROSS JOIN LATERAL (
   SELECT {
    _BOUNDED.format(
        text=f'''coalesce({_PLAIN.format(text="x.markdown")},
            (SELECT string_agg(v #>> '{{}}', ' · ') FROM jsonb_path_query(r.data, '$.**') v
              WHERE jsonb_typeof(v) = 'string'), '')'''
    )
} AS original) o
"""
MARK = f"""{_PARSED}
SELECT g.id, o.original,
       ts_headline(g.config::regconfig, messor.fold(o.original), a.question, $7) AS marked
  FROM unnest($4::bigint[], $5::text[], $6::text[]) AS g (id, config, markdown)
  JOIN asked a ON a.config = g.config
 CROSS JOIN LATERAL (SELECT {_BOUNDED.format(text=_PLAIN.format(text="g.markdown"))} AS original) o
"""

FIND = f"""{_ASKED}, ranked AS (
  SELECT m.*, ts_rank_cd(m.words, m.question, 1) AS rank FROM matched m
), chosen AS (
  SELECT * FROM ranked WHERE $14::float4 IS NULL OR (rank, id) < ($14, $15::bigint)
   ORDER BY rank DESC, id DESC LIMIT $16
){_SHOWN.replace("{marks}", "$17")}
 ORDER BY c.rank DESC, c.id DESC
"""

# Documents that a search server found, as they are now.
SHOW = f"""{_PARSED}, chosen AS (
  SELECT d.*, n.domain, a.question, g.rank, g.place
    FROM unnest($4::bigint[], $5::bigint[], $6::float8[]) WITH ORDINALITY
           AS g (page_id, record_id, rank, place)
    JOIN messor.search_documents d
      ON d.page_id = g.page_id AND d.record_id IS NOT DISTINCT FROM g.record_id
    JOIN asked a ON a.config = d.config JOIN messor.domains n ON n.id = d.domain_id
){_SHOWN.replace("{marks}", "$7")} ORDER BY c.place
"""

FACETS = f"""{_ASKED}, counted AS (
  SELECT m.domain, m.kind, m.brand, m.category, m.availability,
         CASE WHEN m.price IS NOT NULL THEN
           coalesce(m.currency, '?') || ' ' || width_bucket(m.price, $14::numeric[]) END AS price,
         floor(m.rating)::int::text AS rating
    FROM matched m LIMIT $15
)
SELECT CASE 0 WHEN grouping(domain) THEN 'domain' WHEN grouping(kind) THEN 'kind'
              WHEN grouping(brand) THEN 'brand' WHEN grouping(category) THEN 'category'
              WHEN grouping(availability) THEN 'availability' WHEN grouping(price) THEN 'price'
              WHEN grouping(rating) THEN 'rating' ELSE 'all' END AS facet,
       coalesce(domain, kind, brand, category, availability, price, rating) AS value,
       count(*) AS documents
  FROM counted
 GROUP BY GROUPING SETS ((domain), (kind), (brand), (category), (availability), (price), (rating), ())
"""
MARKS = f"StartSel={START}, StopSel={STOP}, HighlightAll=true"


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Filters of documents; empty or None matches any."""

    kinds: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    brands: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    availability: tuple[str, ...] = ()
    min_price: Decimal | None = None
    max_price: Decimal | None = None
    currency: str | None = None
    min_rating: Decimal | None = None
    min_confidence: Decimal | None = None  # of a record; pages have none

    def __post_init__(self) -> None:
        low, high = self.min_price, self.max_price
        if low is not None and high is not None and low > high:
            raise UsageError(f"Minimum price {low} exceeds maximum {high}.")
        if self.min_confidence is not None and not 0 <= self.min_confidence <= 1:
            raise UsageError(
                f"A minimum confidence lies between 0 and 1; {self.min_confidence} was given."
            )

    def values(self) -> tuple[Any, ...]:
        lists = (self.kinds, self.domains, self.brands, self.categories, self.availability)
        return (
            *(list(one) or None for one in lists),
            self.min_price,
            self.max_price,
            self.currency,
            self.min_rating,
            self.min_confidence,
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that matches a query."""

    kind: str  # page, or the record's
    page_id: int
    record_id: int | None
    snapshot_id: int
    domain: str
    url: str
    title: str | None
    brand: str | None
    category: str | None
    price: Decimal | None
    currency: str | None
    rating: Decimal | None
    availability: str | None
    rank: float
    fragments: tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A page of results; `next` is the cursor of the following one."""

    hits: list[Hit]
    next: str | None
    answered_by: str = POSTGRESQL
    notice: str | None = None  # why it is not the search server that answered


@dataclass(frozen=True, slots=True)
class ResultPosition:
    """Where a page of results ended, in the order of who answered."""

    rank: float
    last: int
    answered_by: str = POSTGRESQL


@dataclass(frozen=True, slots=True)
class Facets:
    """Number of matching documents, in total and by each facet's most frequent values."""

    total: int
    is_exact: bool  # False: at least that many
    by: dict[str, dict[str, int]] = field(default_factory=dict)


NO_FILTERS = SearchFilters()


async def search(
    source: Connection | Database,
    typed: str,
    filters: SearchFilters = NO_FILTERS,
    *,
    after: str | None = None,
    limit: int = 20,
) -> SearchResults:
    """A page of the best matches; `after` is the cursor of the previous page."""
    question = understand(typed)
    if not 1 <= limit <= MOST:
        raise UsageError(f"A page has 1 to {MOST} results; {limit} were requested.")
    place = None if after is None else opened(after, typed, filters)
    rank, last = (None, None) if place is None else (place.rank, place.last)
    rows = await source.fetch(FIND, *_asked(question, filters), rank, last, limit + 1, MARKS)
    hits = await _hits(source, question, rows[:limit])
    if len(rows) <= limit:
        return SearchResults(hits, None)
    row = rows[limit - 1]
    return SearchResults(hits, sealed(ResultPosition(row["rank"], row["id"]), question, filters))


async def facets(
    source: Connection | Database, typed: str, filters: SearchFilters = NO_FILTERS
) -> Facets:
    """Counts of all matches by domain, kind, brand, category, price and rating."""
    question = understand(typed)
    edges = [Decimal(edge) for edge in PRICE_EDGES]
    rows = await source.fetch(FACETS, *_asked(question, filters), edges, COUNTED + 1)
    total = sum(row["documents"] for row in rows if row["facet"] == "all")
    by: dict[str, dict[str, int]] = {}
    for row in sorted(rows, key=lambda row: (-row["documents"], row["value"] or "")):
        values = by.setdefault(row["facet"], {})
        if row["facet"] != "all" and row["value"] is not None and len(values) < VALUES:
            name = price_range(row["value"]) if row["facet"] == "price" else row["value"]
            values[name] = row["documents"]
    by.pop("all", None)
    return Facets(min(total, COUNTED), total <= COUNTED, by)


async def shown(
    source: Connection | Database,
    question: SearchQuery,
    found: Sequence[tuple[int, int | None, float]],
) -> list[Hit]:
    """Documents found elsewhere, by page, record and rank: those that still exist, in that order."""
    pages, records, ranks = zip(*found, strict=True) if found else ((), (), ())
    rows = await source.fetch(
        SHOW, *_question(question), list(pages), list(records), list(ranks), MARKS
    )
    return await _hits(source, question, rows)


async def _hits(
    source: Connection | Database, question: SearchQuery, rows: Sequence[Any]
) -> list[Hit]:
    """Hits of rows, with what matches in texts that the archive has."""
    archived = {row["snapshot_id"]: row for row in rows if row["is_archived"]}
    stored = await texts(source, archived)
    marked = {}
    if stored:
        ids, found = list(stored), [stored[one].markdown for one in stored]
        configs = [archived[one]["config"] for one in ids]
        made = await source.fetch(MARK, *_question(question), ids, configs, found, MARKS)
        marked = {row["id"]: row for row in made}
    return [
        _hit(row, marked.get(row["snapshot_id"]) if row["is_archived"] else None) for row in rows
    ]


def _question(question: SearchQuery) -> Sequence[Any]:
    return question.words, list(question.beginnings), list(question.unwanted)


def _asked(question: SearchQuery, filters: SearchFilters) -> Sequence[Any]:
    return (*_question(question), *filters.values())


def _hit(row: Any, text: Any = None) -> Hit:
    shown_text = text or row
    found = fragments(shown_text["original"], shown_text["marked"])
    values = {name: row[name] for name in Hit.__slots__ if name != "fragments"}
    return Hit(**values, fragments=tuple(found))


def price_range(value: str) -> str:
    """`EUR 2` as `EUR 25 to 50`."""
    currency, _, number = value.rpartition(" ")
    at = int(number)
    if at <= 0:
        return f"{currency} under {PRICE_EDGES[0]}"
    if at == len(PRICE_EDGES):
        return f"{currency} {PRICE_EDGES[-1]} and more"
    return f"{currency} {PRICE_EDGES[at - 1]} to {PRICE_EDGES[at]}"


def _stamp(question: SearchQuery, filters: SearchFilters) -> str:
    text = repr((question.text, filters.values()))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def sealed(place: ResultPosition, question: SearchQuery, filters: SearchFilters) -> str:
    """The cursor of a place."""
    raw = msgspec.json.encode(
        [place.rank, place.last, place.answered_by, _stamp(question, filters)]
    )
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def opened(cursor: str, typed: str, filters: SearchFilters) -> ResultPosition:
    """The place of a cursor; raises if it is not one of this query."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        rank, last, who, stamp = msgspec.json.decode(raw, type=tuple[float, int, str, str])
    except (binascii.Error, msgspec.DecodeError, ValueError) as error:
        raise UsageError("Invalid cursor: use the one returned with the previous page.") from error
    if stamp != _stamp(understand(typed), filters):
        raise UsageError("This cursor belongs to another query: start from the first page.")
    if not (0 <= last < 2**63 and 0 <= rank < 1e30):
        raise UsageError("Invalid cursor: use the one returned with the previous page.")
    return ResultPosition(rank, last, who)
