"""Rows of every exported noun, written straight into the tables; hostile texts among them."""

from __future__ import annotations

from messor.store.database import Database

# Texts that break careless writers: formulas, quotes, line breaks, separators, control characters.
TEXTS = (
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1", "\uff0b1", "\uff0d1",
    "\uff20x", 'say "hi"', "a,b;c", "line\nbreak", "", "\x01\x02", "😀 é", "back\\slash", "'quoted", "NULL",
)  # fmt: skip

PLACES = """
INSERT INTO messor.domains (id, domain, base_url, status, submitted_by, submitter_type, reviewed_by, reviewed_at)
SELECT ('00000000-0000-7000-8000-00000000000' || n)::uuid, 'shop' || n || '.example',
       'https://shop' || n || '.example/', 'approved', 'test', 'admin', 'test', messor.clock()
  FROM generate_series(1, 2) n;
INSERT INTO messor.hosts (domain_id, host) SELECT id, domain FROM messor.domains ORDER BY domain;
INSERT INTO messor.segments (name, worker_id) VALUES ('seed.warc.gz', 1)
"""
PAGES = """
INSERT INTO messor.pages (host_id, url_hash, url, found_by, found_at)
SELECT h.id, sha256(convert_to(u.url, 'UTF8')), u.url, 'link', messor.clock()
  FROM generate_series(1, $1::int) n JOIN messor.hosts h ON h.host = 'shop' || 1 + n % 2 || '.example'
 CROSS JOIN LATERAL (SELECT 'https://' || h.host || '/p/' || n AS url) u ORDER BY n
"""
SNAPSHOTS = """
INSERT INTO messor.page_snapshots (id, page_id, content_hash, data_hash, raw_hash, reader_version, segment_id,
  segment_offset, segment_length, size, status_code, content_type, title, description, language, crawled_at)
OVERRIDING SYSTEM VALUE
SELECT p.id, p.id, p.url_hash, p.url_hash, p.url_hash, 1, 1, 0, 1, 51000, 200, 'text/html',
       ($1::text[])[1 + p.id % cardinality($1)], 'about ' || p.id, 'en', p.found_at FROM messor.pages p
"""
REST = """
INSERT INTO messor.snapshot_texts (snapshot_id, markdown)
SELECT id, '# ' || title || E'\\n\\n' || repeat(description || '. ', 4) FROM messor.page_snapshots;
INSERT INTO messor.crawl_tasks (page_id, host_id, status, outcome, last_fetched_at, last_status, snapshot_id)
SELECT p.id, p.host_id, 'completed', 'ok', p.found_at, 200, p.id FROM messor.pages p;
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code, size,
  duration_ms, waited_ms, delay_ms, rule, policy_version)
SELECT messor.clock() - make_interval(secs => p.id % 1000), p.id, p.host_id, 1, 'ok', 200, 51000, 120, 1000,
       1000, 'approved', 1 FROM messor.pages p;
INSERT INTO messor.events (type, actor, domain_id, page_id, data)
SELECT 'extraction.completed', 'system', h.domain_id, p.id, jsonb_build_object('url', p.url)
  FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id ORDER BY p.id
"""
RECORDS = """
INSERT INTO messor.records (page_id, snapshot_id, domain_id, kind, identity, confidence, parser, parser_version,
  data, fields, content_hash, first_seen, last_seen, updated_at)
SELECT p.id, p.id, h.domain_id, CASE n % 2 WHEN 0 THEN 'product' ELSE 'service' END, n::text, 0.5, 'generic', '1',
       jsonb_build_object('name', ($2::text[])[1 + n % cardinality($2)], 'price', n),
       jsonb_build_object('name', jsonb_build_object('confidence', 0.5, 'evidence',
         jsonb_build_object('quote', 'name ' || n, 'method', 'node', 'path', '/html/body'))),
       p.url_hash, p.found_at, p.found_at, p.found_at
  FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id CROSS JOIN generate_series(1, $1::int) n
"""
PRODUCTS = """
INSERT INTO messor.products (record_id, page_id, snapshot_id, domain_id, url, url_hash, product_name, description,
  price, currency, availability, rating, review_count, brand, category, sku, content_hash, metadata, parser,
  parser_version, created_at, updated_at)
SELECT p.id, p.id, p.id, h.domain_id, p.url, p.url_hash, ($1::text[])[1 + p.id % cardinality($1)],
       ($1::text[])[1 + p.id * 7 % cardinality($1)], p.id * 1.05, 'EUR', 'in_stock', 4.5, NULL,
       ($1::text[])[1 + p.id * 3 % cardinality($1)], NULL, 'sku-' || p.id, p.url_hash,
       jsonb_build_object('note', ($1::text[])[1 + p.id % cardinality($1)]), 'generic', '1', p.found_at, p.found_at
  FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id ORDER BY p.id
"""
PRICES = """
INSERT INTO messor.product_prices (product_id, page_id, snapshot_id, seen_at, price, currency, availability)
SELECT q.id, q.page_id, q.snapshot_id, q.created_at - make_interval(days => n), q.price + n, 'EUR', 'in_stock'
  FROM messor.products q CROSS JOIN generate_series(0, $1::int - 1) n
"""


async def seed(database: Database, pages: int = 60, records: int = 2, prices: int = 3) -> None:
    """Fill the tables: so many pages, each with a product, and records and prices of each."""
    texts = [text for text in TEXTS if text]
    async with database.transaction() as connection:
        await connection.execute("SET LOCAL statement_timeout = 0")
        await connection.execute(PLACES)
        await connection.execute(PAGES, pages)
        await connection.execute(SNAPSHOTS, texts)
        await connection.execute(REST)
        await connection.execute(RECORDS, records, texts)
        await connection.execute(PRODUCTS, texts)
        await connection.execute(PRICES, prices)
