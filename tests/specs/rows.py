"""A database with a row behind every view of the specifications' schemas."""

from __future__ import annotations

from messor.scout import keywords
from messor.store.database import Database
from messor.verticals import files, verticals
from tests.crawling import admit, submit

# One crawled page with its product, one page that yielded nothing, one that is not scheduled.
CRAWLED = """
WITH host AS (SELECT h.id, h.domain_id FROM messor.hosts h WHERE h.host = 'example.com'),
page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by, sitemap_lastmod)
  SELECT host.id, sha256(convert_to('https://example.com/' || n.name, 'UTF8')),
         'https://example.com/' || n.name, n.how, messor.clock()
    FROM host, (VALUES ('headphones', 'link'), ('empty', 'link'), ('sitemap.xml', 'sitemap'),
                       ('rest', 'link')) AS n (name, how)
  RETURNING id, url, host_id
), segment AS (
  INSERT INTO messor.segments (name, worker_id) VALUES ('one.warc.gz', 1) RETURNING id
), snapshot AS (
  INSERT INTO messor.page_snapshots (page_id, content_hash, data_hash, raw_hash, reader_version,
    segment_id, segment_offset, segment_length, size, status_code, crawled_at)
  SELECT p.id, sha256('\\x01'), sha256(n.data), sha256('\\x03'), 1, segment.id, 42, 100, 400, 200,
         messor.clock()
    FROM page p, segment, (VALUES ('\\x04'::bytea), ('\\x05')) AS n (data)
   WHERE p.url ~ 'headphones|empty' RETURNING id, page_id, data_hash
), texts AS (
  INSERT INTO messor.snapshot_texts (snapshot_id, markdown)
  SELECT id, 'Wireless headphones, black' FROM snapshot
), tasks AS (
  INSERT INTO messor.crawl_tasks (page_id, host_id, kind, status, outcome, due_at, last_fetched_at,
    completed_at, last_status, snapshot_id)
  SELECT p.id, p.host_id, CASE WHEN p.url ~ 'sitemap' THEN 'sitemap' ELSE 'page' END, 'completed', 'ok',
         CASE WHEN p.url !~ 'rest' THEN messor.clock() + interval '1 day' END, messor.clock(),
         messor.clock(), 200, (SELECT max(s.id) FROM snapshot s WHERE s.page_id = p.id)
    FROM page p
), sitemaps AS (
  INSERT INTO messor.sitemaps (page_id, host_id) SELECT id, host_id FROM page WHERE url ~ 'sitemap'
), fetches AS (
  INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code,
    duration_ms, waited_ms, rule, policy_version)
  SELECT messor.clock(), id, host_id, 1, 'ok', 200, 12, 0, 'allowed', 1 FROM page
), extracted AS (
  INSERT INTO messor.extractions (page_id, snapshot_id, domain_id, page_type, page_type_confidence)
  SELECT p.id, min(s.id), host.domain_id, 'product', 0.9
    FROM host, page p JOIN snapshot s ON s.page_id = p.id GROUP BY p.id, host.domain_id
), record AS (
  -- Its content was seen again with other data: the record still says the older snapshot.
  INSERT INTO messor.records (page_id, snapshot_id, domain_id, kind, identity, confidence, parser,
    parser_version, data, fields, content_hash, first_seen, last_seen, updated_at)
  SELECT p.id, min(s.id), host.domain_id, 'product', 'x', 0.9, 'generic', '1', '{}', '{}',
         sha256('\\x06'), messor.clock(), messor.clock(), messor.clock()
    FROM host, page p JOIN snapshot s ON s.page_id = p.id WHERE p.url ~ 'headphones'
   GROUP BY p.id, host.domain_id RETURNING id, page_id, snapshot_id, domain_id
), product AS (
  INSERT INTO messor.products (record_id, page_id, snapshot_id, domain_id, url, url_hash,
    product_name, description, price, currency, availability, content_hash, parser, parser_version,
    created_at, updated_at)
  SELECT r.id, r.page_id, r.snapshot_id, r.domain_id, p.url, sha256('\\x07'), 'Headphones',
         'Wireless, black', 49.9, 'EUR', 'in_stock', sha256('\\x08'), 'generic', '1',
         messor.clock(), messor.clock()
    FROM record r JOIN page p ON p.id = r.page_id RETURNING id, page_id
)
INSERT INTO messor.product_images (product_id, page_id, image_url, url_hash)
SELECT id, page_id, 'https://example.com/a.png', sha256('\\x09') FROM product
"""

AROUND = (
    """INSERT INTO messor.proxies (proxy_url, proxy_port, failure_count, last_used_at)
       VALUES ('10.0.0.1', 3128, 10, messor.clock()), ('10.0.0.2', 3128, 11, messor.clock())""",
    """INSERT INTO messor.error_logs (category, error_type, error_message)
       VALUES ('network', 'DnsError', 'no such host')""",
    """INSERT INTO messor.members (id, email, name, role, created_by)
       VALUES (messor.new_id(), 'ann@example.org', 'Ann', 'admin', 'test')""",
    """INSERT INTO messor.ingestion_runs (trace_id, orbit_slug, mode, url, requested_by)
       VALUES ('t1', 'shop', 'light', 'https://example.com/', 'test')""",
    """INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key)
       VALUES (messor.new_id(), 'score', 'domain', 'score:1')""",
    """INSERT INTO messor.organisations (id, vertical_id, name, name_key, created_by)
       SELECT messor.new_id(), id, 'Clinic', 'clinic', 'test' FROM messor.verticals""",
    """INSERT INTO messor.discovery_sessions (id, vertical_id, vertical_version, started_by)
       SELECT messor.new_id(), id, 1, 'test' FROM messor.verticals""",
    """INSERT INTO messor.candidates (id, session_id, vertical_id, domain, url, url_hash,
         search_engine, search_query, position, confidence_score, status, validation_notes)
       SELECT messor.new_id(), id, vertical_id, 'example.com', 'https://example.com/',
              sha256('\\x01'), 'searxng', 'grants', 1, 0.7, 'PENDING_CRAWL', '{}'
         FROM messor.discovery_sessions""",
    """WITH asked AS (
         INSERT INTO messor.search_requests (id, keyword_id, serp_profile_id, window_key)
         SELECT messor.new_id(), id, serp_profile_id, 'w' FROM messor.keywords LIMIT 1
         RETURNING id, keyword_id, serp_profile_id
       ), answer AS (
         INSERT INTO messor.search_answers (request_id, engine, status, body, raw_hash, is_json)
         SELECT id, 'searxng', 200, '{"results": []}', sha256('{"results": []}'), true FROM asked
       ), page AS (
         INSERT INTO messor.serp_snapshots (id, keyword_id, serp_profile_id, request_id, window_key,
           engine, outcome, raw_hash)
         SELECT messor.new_id(), keyword_id, serp_profile_id, id, 'w', 'searxng', 'ok',
                sha256('{"results": []}') FROM asked RETURNING id
       )
       INSERT INTO messor.serp_results (snapshot_id, rank_position, block_type, url)
       SELECT id, 1, 'organic', 'https://example.com/' FROM page""",
)


async def fill(database: Database) -> None:
    """Domain 1 is example.com, approved and crawled; domain 2 waits for its review."""
    await admit(database, "https://example.com/", delay=None)
    await submit(database, "waiting.org")
    async with database.transaction() as connection:
        applied, _ = await verticals.apply(connection, files.shipped("wellness"), actor="test")
        await keywords.add(connection, applied, "botox singapore", actor="test")
        await connection.execute(CRAWLED)
        for statement in AROUND:
            await connection.execute(statement)
