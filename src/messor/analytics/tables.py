"""The tables of analytics: columns, key, and where PostgreSQL has the rows.

A table follows the change feed by the ids that an entry touches, or it is a log that is read by
commit position, or a measurement that is taken anew once a day. Columns that change without an entry
in the feed are left out, so that a table is never older than its position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from messor.exports.columns import Column, columns

Subject = Literal["domain", "page", "record", "product", "candidate", "serp"]

SECTION = "coalesce(substring(p.url FROM '^[a-z]+://[^/]+(/[^/?#]+/)'), '/')"


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of analytics; `sql` is everything of its rows after SELECT and columns."""

    name: str
    about: str
    key: tuple[str, ...]  # columns
    sql: str
    columns: tuple[Column, ...]
    page: str | None = None  # the page that a row was read from, as SQL

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


@dataclass(frozen=True, kw_only=True)
class Followed(Table):
    """A table whose rows belong to ids of the change feed, such as the prices of a product."""

    subject: Subject
    id_type: Literal["bigint", "uuid"] = "bigint"
    parent: str  # the column with the id
    parent_sql: str
    ids: str  # all ids in their order: $1 the last one seen, $2 how many


@dataclass(frozen=True, kw_only=True)
class Log(Table):
    """A table of rows that are written once, found by their time and the transaction that wrote them."""

    time: str
    tx: str
    partitioned: str  # the table in PostgreSQL


@dataclass(frozen=True, kw_only=True)
class Measured(Table):
    """A table of measurements: a row per day and domain, taken domain by domain."""

    ids: str


_IDS = "SELECT id FROM messor.{} WHERE id > $1 ORDER BY id LIMIT $2"
_PAGE_IDS = """SELECT DISTINCT page_id AS id FROM messor.page_changes WHERE page_id > $1
                ORDER BY page_id LIMIT $2"""

_PRODUCT_IDS = """SELECT id FROM (
  SELECT id FROM messor.products UNION ALL SELECT id FROM messor.archived_products) q
  WHERE id > $1 ORDER BY id LIMIT $2"""
_PRODUCT_COLUMNS = """url, product_name, brand, category, price, currency, availability, rating,
  review_count, sku, gtin, state, created_at, updated_at"""
_ALL_PRODUCTS = f"""
  SELECT id, domain_id, page_id, record_id, {_PRODUCT_COLUMNS} FROM messor.products UNION ALL
  SELECT a.id, a.domain_id, a.page_id, a.record_id, {_PRODUCT_COLUMNS}
    FROM (SELECT id, domain_id, page_id, record_id, product FROM messor.archived_products) a
   CROSS JOIN LATERAL (SELECT {_PRODUCT_COLUMNS}
                         FROM jsonb_populate_record(NULL::messor.products, a.product)) p"""
_ALL_PRICES = """
  SELECT product_id, page_id, seen_at, price, currency, availability, cause FROM messor.product_prices
   UNION ALL
  SELECT a.id, a.page_id, p.seen_at, p.price, p.currency, p.availability, p.cause
    FROM messor.archived_products a
   CROSS JOIN LATERAL jsonb_populate_recordset(NULL::messor.product_prices, a.prices) p"""

DOMAINS = Followed(
    name="domains",
    about="domains with their decision",
    subject="domain",
    id_type="uuid",
    key=("id",),
    parent="id",
    parent_sql="d.id",
    ids=_IDS.format("domains"),
    sql="FROM messor.domains d",
    columns=columns("""
        id = d.id
        domain = d.domain
        vertical = d.vertical
        status = d.status
        submitter_type = d.submitter_type
        created_at: time = d.created_at
        reviewed_at: time = d.reviewed_at
    """),
)
PAGES = Followed(
    name="pages",
    about="pages that were read; `section` is the first folder of the path",
    subject="page",
    key=("id",),
    parent="id",
    parent_sql="p.id",
    ids=_PAGE_IDS,
    sql="""FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
      JOIN messor.domains d ON d.id = h.domain_id""",
    page="p.id",
    columns=columns(f"""
        id: integer = p.id
        domain = d.domain
        host = h.host
        url = p.url
        section = {SECTION}
        depth: integer = p.depth
        found_by = p.found_by
        found_at: time = p.found_at
    """),
)
PAGE_CHANGES = Followed(
    name="page_changes",
    about="when a page was new, changed or removed",
    subject="page",
    key=("page_id", "seen_at"),
    parent="page_id",
    parent_sql="c.page_id",
    ids=_PAGE_IDS,
    sql="FROM messor.page_changes c",
    page="c.page_id",
    columns=columns("""
        page_id: integer = c.page_id
        seen_at: time = c.seen_at
        state = c.state
    """),
)
RECORDS = Followed(
    name="records",
    about="records with their values",
    subject="record",
    key=("id",),
    parent="id",
    parent_sql="r.id",
    ids=_IDS.format("records"),
    sql="FROM messor.records r JOIN messor.domains d ON d.id = r.domain_id",
    page="r.page_id",
    columns=columns("""
        id: integer = r.id
        kind = r.kind
        state = r.state
        domain = d.domain
        page_id: integer = r.page_id
        data: json = CASE WHEN octet_length(r.data::text) < 1000000 THEN r.data END
        first_seen: time = r.first_seen
        updated_at: time = r.updated_at
        removed_at: time = r.removed_at
    """),
)
PRODUCTS = Followed(
    name="products",
    about="products, one row each; archived ones stay",
    subject="product",
    key=("id",),
    parent="id",
    parent_sql="q.id",
    ids=_PRODUCT_IDS,
    sql=f"FROM ({_ALL_PRODUCTS}) q JOIN messor.domains d ON d.id = q.domain_id",
    page="q.page_id",
    columns=columns("""
        id: integer = q.id
        domain = d.domain
        url = q.url
        product_name = q.product_name
        brand = q.brand
        category = q.category
        price: number = q.price::float8
        currency = q.currency
        availability = q.availability
        rating: number = q.rating::float8
        review_count: integer = q.review_count
        sku = q.sku
        gtin = q.gtin
        state = q.state
        record_id: integer = q.record_id
        page_id: integer = q.page_id
        created_at: time = q.created_at
        updated_at: time = q.updated_at
    """),
)
PRICES = Followed(
    name="prices",
    about="prices over time: a row when price, currency or availability changed",
    subject="product",
    key=("product_id", "seen_at"),
    parent="product_id",
    parent_sql="o.product_id",
    ids=_PRODUCT_IDS,
    sql=f"FROM ({_ALL_PRICES}) o",
    page="o.page_id",
    columns=columns("""
        product_id: integer = o.product_id
        seen_at: time = o.seen_at
        price: number = o.price::float8
        currency = o.currency
        availability = o.availability
        cause = o.cause
    """),
)
CANDIDATES = Followed(
    name="candidates",
    about="judged search results on their way to review",
    subject="candidate",
    id_type="uuid",
    key=("id",),
    parent="id",
    parent_sql="c.id",
    ids=_IDS.format("candidates"),
    sql="FROM messor.candidates c JOIN messor.verticals v ON v.id = c.vertical_id",
    page="c.page_id",
    columns=columns("""
        id = c.id
        vertical = v.name
        domain = c.domain
        status = c.status
        search_engine = c.search_engine
        search_query = c.search_query
        confidence: number = c.confidence_score
        created_at: time = c.created_at
        reviewed_at: time = c.reviewed_at
    """),
)
SERPS = Followed(
    name="serps",
    about="result pages of search engines",
    subject="serp",
    id_type="uuid",
    key=("id",),
    parent="id",
    parent_sql="s.id",
    ids=_IDS.format("serp_snapshots"),
    sql="""FROM messor.serp_snapshots s JOIN messor.keywords w ON w.id = s.keyword_id
      JOIN messor.serp_profiles f ON f.id = s.serp_profile_id
      JOIN messor.verticals v ON v.id = w.vertical_id""",
    columns=columns("""
        id = s.id
        vertical = v.name
        keyword = w.keyword_text
        keyword_id = s.keyword_id
        profile = f.name
        engine = s.engine
        outcome = s.outcome
        results: integer = s.result_count
        captured_at: time = s.captured_at
    """),
)
RANKS = Followed(
    name="ranks",
    about="ranks on result pages, a row per result",
    subject="serp",
    id_type="uuid",
    key=("id",),
    parent="serp_id",
    parent_sql="r.snapshot_id",
    ids=_IDS.format("serp_snapshots"),
    sql="FROM messor.serp_results r",
    columns=columns("""
        id: integer = r.id
        serp_id = r.snapshot_id
        block_type = r.block_type
        rank_position: integer = r.rank_position
        domain = r.domain
        url = r.url
        is_best: boolean = r.is_best
    """),
)
FETCHES = Log(
    name="fetches",
    about="the fetch log, one row per attempt",
    key=("id",),
    partitioned="messor.http_fetches",
    sql="""FROM messor.http_fetches n LEFT JOIN messor.hosts h ON h.id = n.host_id
      LEFT JOIN messor.domains d ON d.id = h.domain_id""",
    page="n.page_id",
    time="n.fetched_at",
    tx="n.xmin",
    columns=columns("""
        id: integer = n.id
        fetched_at: time = n.fetched_at
        page_id: integer = n.page_id
        domain = d.domain
        host = h.host
        outcome = n.outcome
        status_code: integer = n.status_code
        size: integer = n.size
        duration_ms: integer = n.duration_ms
        waited_ms: integer = n.waited_ms
        delay_ms: integer = n.delay_ms
        provider = n.fetch_provider
        cost: number = n.provider_cost::float8
    """),
)
MODEL_CALLS = Log(
    name="model_calls",
    about="questions to a model that ended",
    key=("id",),
    partitioned="messor.ai_calls",
    sql="FROM messor.ai_calls a",
    page="a.page_id",
    time="a.asked_at",
    tx="a.xmin",
    columns=columns("""
        id: integer = a.id
        asked_at: time = a.asked_at
        page_id: integer = a.page_id
        domain = a.domain
        model = a.model
        purpose = a.purpose
        ending = a.ending
        cost: number = a.cost::float8
    """),
)
# What a site lists counts as expected even where no page is known of it yet.
COVERAGE = Measured(
    name="coverage",
    about="pages expected and read, by day and domain",
    key=("day", "domain"),
    ids="SELECT id FROM messor.domains WHERE id > $1 ORDER BY id LIMIT $2",
    sql="""FROM (
      SELECT date_trunc('day', messor.clock(), 'UTC') AS day, d.domain,
             coalesce(sum(k.known), 0)::bigint AS known, coalesce(sum(k.read), 0)::bigint AS read,
             coalesce(sum(k.failed), 0)::bigint AS failed, coalesce(sum(m.listed), 0)::bigint AS listed
        FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
        LEFT JOIN LATERAL (
          SELECT count(*) AS known, count(t.snapshot_id) AS read,
                 count(*) FILTER (WHERE t.status = 'failed') AS failed
            FROM messor.crawl_tasks t
           WHERE t.host_id = h.id AND t.kind = 'page' AND t.status NOT IN ('skipped', 'cancelled')) k ON true
        LEFT JOIN LATERAL (SELECT sum(urls) AS listed FROM messor.sitemaps s WHERE s.host_id = h.id) m
          ON true
       WHERE d.id = ANY ($1::uuid[]) GROUP BY d.domain) g""",
    columns=columns("""
        day: time = g.day
        domain = g.domain
        known: integer = g.known
        listed: integer = g.listed
        expected: integer = greatest(g.known, g.listed)
        read: integer = g.read
        failed: integer = g.failed
    """),
)

FOLLOWED: tuple[Followed, ...] = (
    DOMAINS,
    PAGES,
    PAGE_CHANGES,
    RECORDS,
    PRODUCTS,
    PRICES,
    CANDIDATES,
    SERPS,
    RANKS,
)
LOGS: tuple[Log, ...] = (FETCHES, MODEL_CALLS)
TABLES: Mapping[str, Table] = {table.name: table for table in (*FOLLOWED, *LOGS, COVERAGE)}
