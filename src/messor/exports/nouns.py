"""Nouns that can be exported: the list whose filters apply, the tables, the key and the columns.

An export reads a table in the order of its key, which never changes, a window of keys at a time.
Columns with error texts, which may contain passwords of URLs, are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from messor.errors import UsageError
from messor.exports import visibility
from messor.exports.columns import Column, columns
from messor.fetch.queries import FETCHES
from messor.frontier.page_queries import PAGES
from messor.ledger.events import data_of
from messor.ledger.queries import EVENTS
from messor.records.product_queries import PRODUCTS
from messor.records.queries import RECORDS
from messor.scout.candidate_queries import CANDIDATES
from messor.scout.serp_queries import SERPS
from messor.store.listing import Filters, Listing, Values, all_of
from messor.verticals.queries import ORGANISATIONS

_HOSTS = """(SELECT h.id FROM messor.domains x JOIN messor.hosts h ON h.domain_id = x.id
              WHERE x.domain = {}::text)"""


@dataclass(frozen=True, kw_only=True)
class Noun:
    """What can be exported.

    `table` and `key` give the order; `page` is the page that a row was read from. A row that is
    written once and never changed is a log: rows committed after the start are left to the next
    increment.
    """

    name: str
    about: str
    listing: Listing[Any, Any]
    table: str  # with its alias
    key: tuple[tuple[str, str], ...]  # columns and their types
    columns: tuple[Column, ...]
    changed: str  # the time of a row's last change
    partition: str  # the column by which Parquet is partitioned; times by their month
    tx: str = ""  # the transaction that wrote it
    age: str = ""  # or how old the newest one is that did
    joins: str = ""
    page: str | None = None
    text_of: str | None = None  # the snapshot whose text is the column `markdown`
    is_log: bool = False
    windows: Literal["rows", "time"] = "rows"
    # Conditions of filters that the list applies in another way.
    conditions: Mapping[str, str] = field(default_factory=dict)
    # For values that SQL cannot make: a row's values by column.
    make: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    @property
    def age_of_row(self) -> str:
        """How many transactions ago a row was written, as SQL."""
        return self.age or f"age({self.tx})"

    def condition(self, filters: Filters, values: Values) -> str:
        """The filters as SQL."""
        found = [*values.conditions(filters, indexed=True), *values.conditions(filters)]
        for name, sql in self.conditions.items():
            if (given := getattr(filters, name)) is not None:
                found.append(sql.replace("{}", values.add(given)))
        return all_of([self.listing.only, *found])

    def chosen(self, names: tuple[str, ...]) -> tuple[Column, ...]:
        """The columns of these names in their order; all without names."""
        known = {column.name: column for column in self.columns}
        for name in names:
            if name not in known:
                raise UsageError(
                    f"{self.name} has no column {name[:60]!r}; it has {', '.join(known)}."
                )
        return tuple(known[name] for name in names) or self.columns


def _event(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "data": data_of(row["type"], row["data"])} if row.get("data") else row


_ALL = (
    Noun(
        name="pages",
        about="pages with their state and newest content",
        listing=PAGES,
        table="messor.crawl_tasks k",
        key=(("k.page_id", "bigint"),),
        joins="""JOIN messor.pages p ON p.id = k.page_id JOIN messor.hosts h ON h.id = p.host_id
          JOIN messor.domains d ON d.id = h.domain_id
          LEFT JOIN messor.page_snapshots s ON s.id = k.snapshot_id
          LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = k.snapshot_id""",
        page="k.page_id",
        text_of="k.snapshot_id",
        changed="coalesce(k.last_fetched_at, p.found_at)",
        partition="domain",
        tx="k.xmin",
        conditions={
            "domain": f"k.host_id = ANY (ARRAY{_HOSTS})",
            "batch": """EXISTS (SELECT FROM messor.batch_pages b
                         WHERE b.batch_id = {} AND b.page_id = k.page_id)""",
        },
        columns=columns("""
            id: integer = p.id
            domain = d.domain
            host = h.host
            url = p.url
            kind = k.kind
            found_by = p.found_by
            found_on: integer = p.found_on
            found_at: time = p.found_at
            depth: integer = p.depth
            category = p.category
            status = k.status
            outcome = k.outcome
            last_http_status: integer = k.last_status
            last_crawled_at: time = k.last_fetched_at
            next_crawl_at: time = k.due_at
            snapshot_id: integer = k.snapshot_id
            content_hash = encode(s.content_hash, 'hex')
            content_type = s.content_type
            language = s.language
            title = s.title
            description = s.description
            provider = s.provider
            crawled_at: time = s.crawled_at
            markdown = x.markdown
        """),
    ),
    Noun(
        name="records",
        about="records with the evidence of their fields",
        listing=RECORDS,
        table="messor.records r",
        key=(("r.id", "bigint"),),
        joins="""JOIN messor.domains d ON d.id = r.domain_id
          JOIN messor.pages p ON p.id = r.page_id""",
        page="r.page_id",
        changed="greatest(r.updated_at, r.removed_at)",
        partition="domain",
        tx="r.xmin",
        columns=columns("""
            id: integer = r.id
            kind = r.kind
            state = r.state
            domain = d.domain
            url = p.url
            data: json = r.data
            fields: json = r.fields
            confidence: number = r.confidence
            parser = r.parser
            parser_version = r.parser_version
            page_id: integer = r.page_id
            snapshot_id: integer = r.snapshot_id
            first_seen: time = r.first_seen
            last_seen: time = r.last_seen
            updated_at: time = r.updated_at
            removed_at: time = r.removed_at
        """),
    ),
    Noun(
        name="products",
        about="products, one row each",
        listing=PRODUCTS,
        table="messor.products q",
        key=(("q.id", "bigint"),),
        joins="JOIN messor.domains d ON d.id = q.domain_id",
        page="q.page_id",
        changed="q.updated_at",
        partition="domain",
        tx="q.xmin",
        columns=columns("""
            id: integer = q.id
            product_name = q.product_name
            price: number = q.price
            currency = q.currency
            availability = q.availability
            brand = q.brand
            category = q.category
            sku = q.sku
            gtin = q.gtin
            rating: number = q.rating
            review_count: integer = q.review_count
            state = q.state
            domain = d.domain
            url = q.url
            description = q.description
            metadata: json = q.metadata
            confidence: number = q.confidence
            parser = q.parser
            parser_version = q.parser_version
            record_id: integer = q.record_id
            page_id: integer = q.page_id
            snapshot_id: integer = q.snapshot_id
            created_at: time = q.created_at
            updated_at: time = q.updated_at
        """),
    ),
    Noun(
        name="prices",
        about="prices over time, one row per observation",
        listing=PRODUCTS,
        table="messor.product_prices o",
        key=(("o.product_id", "bigint"), ("o.seen_at", "timestamptz")),
        joins="""JOIN messor.products q ON q.id = o.product_id
          JOIN messor.domains d ON d.id = q.domain_id""",
        page="o.page_id",
        changed="o.seen_at",
        partition="seen_at",
        tx="o.xmin",
        is_log=True,
        columns=columns("""
            product_id: integer = o.product_id
            seen_at: time = o.seen_at
            price: number = o.price
            currency = o.currency
            availability = o.availability
            cause = o.cause
            product_name = q.product_name
            brand = q.brand
            sku = q.sku
            gtin = q.gtin
            domain = d.domain
            url = q.url
            page_id: integer = o.page_id
            snapshot_id: integer = o.snapshot_id
        """),
    ),
    Noun(
        name="organisations",
        about="organisations with their domains",
        listing=ORGANISATIONS,
        table="messor.organisations o",
        key=(("o.id", "uuid"),),
        joins="JOIN messor.verticals v ON v.id = o.vertical_id",
        changed="o.created_at",
        partition="vertical",
        tx="o.xmin",
        columns=columns("""
            id = o.id
            vertical = v.name
            name = o.name
            location = o.location
            external_id = o.external_id
            domains: json = to_json(ARRAY(SELECT x.domain FROM messor.organisation_domains x WHERE x.organisation_id = o.id ORDER BY x.domain))
            created_at: time = o.created_at
        """),
    ),
    Noun(
        name="candidates",
        about="candidates and the programs they name",
        listing=CANDIDATES,
        table="messor.candidates c",
        key=(("c.id", "uuid"),),
        joins="JOIN messor.verticals v ON v.id = c.vertical_id",
        page="c.page_id",
        changed="c.updated_at",
        partition="vertical",
        tx="c.xmin",
        columns=columns("""
            id = c.id
            vertical = v.name
            status = c.status
            organisation_name = c.organisation_name
            program_name = c.program_name
            domain = c.domain
            url = c.url
            title = c.title
            snippet = c.snippet
            confidence_score: number = c.confidence_score
            search_engine = c.search_engine
            search_query = c.search_query
            position: integer = c.position
            session_id = c.session_id
            page_id: integer = c.page_id
            reviewed_by = c.reviewed_by
            reviewed_at: time = c.reviewed_at
            review_reason = c.review_reason
            created_at: time = c.created_at
            updated_at: time = c.updated_at
        """),
    ),
    Noun(
        name="ranks",
        about="ranks on result pages, one row per result",
        listing=SERPS,
        table="messor.serp_results r",
        key=(("r.id", "bigint"),),
        joins="""JOIN messor.serp_snapshots s ON s.id = r.snapshot_id
          JOIN messor.keywords w ON w.id = s.keyword_id
          JOIN messor.serp_profiles f ON f.id = s.serp_profile_id
          JOIN messor.verticals v ON v.id = w.vertical_id""",
        changed="s.captured_at",
        partition="captured_at",
        tx="r.xmin",
        is_log=True,
        columns=columns("""
            captured_at: time = s.captured_at
            vertical = v.name
            keyword = w.keyword_text
            tier = w.tier
            profile = f.name
            engine = s.engine
            window_key = s.window_key
            block_type = r.block_type
            rank_position: integer = r.rank_position
            domain = r.domain
            url = r.url
            title = r.title
            snippet = r.snippet
            is_best: boolean = r.is_best
            keyword_id = s.keyword_id
            serp_id = s.id
            id: integer = r.id
        """),
    ),
    Noun(
        name="visibility",
        about="visibility of domains on result pages, one row per week",
        listing=visibility.VISIBILITY,
        table=visibility.TABLE,
        key=(("v.week", "timestamptz"), ("v.vertical_id", "uuid"), ("v.domain", "text")),
        joins="LEFT JOIN messor.organisations g ON g.id = v.organisation_id",
        changed="v.week + interval '7 days'",
        partition="vertical",
        age="v.age",
        columns=columns("""
            week: time = v.week
            vertical = v.vertical
            domain = v.domain
            organisation = g.name
            visibility: number = v.visibility
            share_of_voice: number = v.share_of_voice
            best_rank: integer = v.best_rank
            pages: integer = v.pages
            pages_of_week: integer = v.pages_of_week
        """),
    ),
    Noun(
        name="events",
        about="events in commit order",
        listing=EVENTS,
        table="messor.events e",
        key=(("e.tx", "xid8"), ("e.id", "bigint")),
        joins="LEFT JOIN messor.domains d ON d.id = e.domain_id",
        page="e.page_id",
        changed="e.occurred_at",
        partition="occurred_at",
        tx="e.xmin",
        is_log=True,
        make=_event,
        columns=columns("""
            id = e.tx::text || '-' || e.id
            occurred_at: time = e.occurred_at
            type = e.type
            actor = e.actor
            domain_id = e.domain_id
            domain = d.domain
            page_id: integer = e.page_id
            data: json = e.data
        """),
    ),
    Noun(
        name="fetches",
        about="the fetch log, one row per attempt",
        listing=FETCHES,
        table="messor.http_fetches n",
        key=(("n.fetched_at", "timestamptz"), ("n.id", "bigint")),
        joins="LEFT JOIN messor.pages p ON p.id = n.page_id",
        page="n.page_id",
        changed="n.fetched_at",
        partition="fetched_at",
        tx="n.xmin",
        is_log=True,
        windows="time",
        conditions={
            "page_id": "n.page_id = {}",
            "url": "n.page_id IN (SELECT x.id FROM messor.pages x WHERE x.url = {})",
        },
        columns=columns("""
            id: integer = n.id
            fetched_at: time = n.fetched_at
            page_id: integer = n.page_id
            url = p.url
            outcome = n.outcome
            status_code: integer = n.status_code
            size: integer = n.size
            duration_ms: integer = n.duration_ms
            waited_ms: integer = n.waited_ms
            delay_ms: integer = n.delay_ms
            fetch_provider = n.fetch_provider
            provider_cost: number = n.provider_cost
            quality_gate_failed = n.quality_gate_failed
            rule = n.rule
            policy_version: integer = n.policy_version
            robots_id: integer = n.robots_id
            final_url = n.final_url
        """),
    ),
)
NOUNS: Mapping[str, Noun] = {noun.name: noun for noun in _ALL}


def noun_of(name: str) -> Noun:
    """The noun of a name; raises if it cannot be exported."""
    if name not in NOUNS:
        raise UsageError(f"{name[:60]!r} cannot be exported; choose from: {', '.join(NOUNS)}.")
    return NOUNS[name]
