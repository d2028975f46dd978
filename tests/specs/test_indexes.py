"""The queries that the specifications have indexes for are answered by an index, as the planner sees it."""

from __future__ import annotations

import json

import pytest

from messor.store.database import Database

# Enough rows that reading them all is not the cheapest; all but one domain are others'.
MANY = (
    """INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key, state)
       SELECT gen_random_uuid(), 'type' || n % 50, 'x', 'k' || n,
              CASE WHEN n % 20 = 0 THEN 'queued' ELSE 'done' END FROM generate_series(1, 5000) n""",
    """INSERT INTO messor.domains (id, domain, base_url, submitted_by, submitter_type)
       SELECT gen_random_uuid(), 'd' || n || '.org', 'https://d' || n || '.org/', 'test', 'system'
         FROM generate_series(1, 3000) n""",
    """UPDATE messor.domains SET processing = 'processing_failed', failure_reason = 'no answer',
              failure_count = 1, retry_after = messor.clock() + interval '1 day'
        WHERE domain ~ '^d[0-9]+7.org'""",
    """INSERT INTO messor.hosts (domain_id, host) SELECT id, domain FROM messor.domains
        WHERE domain ~ '^d[0-9]'""",
    """INSERT INTO messor.lanes (host_id, domain_id) SELECT id, domain_id FROM messor.hosts
       ON CONFLICT DO NOTHING""",
    """INSERT INTO messor.pages (host_id, url_hash, url, found_by)
       SELECT h.id, sha256(convert_to(h.host || n, 'UTF8')), 'https://' || h.host || '/' || n, 'link'
         FROM messor.hosts h, generate_series(1, 5) n WHERE h.host ~ '^d[0-9]'""",
    """INSERT INTO messor.crawl_tasks (page_id, host_id, due_at, status)
       SELECT id, host_id, messor.clock() + interval '1 day', 'completed' FROM messor.pages
        WHERE url LIKE 'https://d%'""",
    """INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome,
         duration_ms, waited_ms, rule, policy_version)
       SELECT messor.clock(), id, host_id, 1, 'ok', 1, 0, 'allowed', 1 FROM messor.pages
        WHERE url LIKE 'https://d%'""",
    """INSERT INTO messor.product_images (product_id, page_id, image_url, url_hash)
       SELECT n, n, 'https://d1.org/a.png', sha256('\\x00') FROM generate_series(1000, 6000) n""",
    """INSERT INTO messor.proxies (proxy_url, proxy_port, is_active, last_used_at)
       SELECT 'p' || n, 80, n % 2 = 0, messor.clock() - n * interval '1 s'
         FROM generate_series(1, 3000) n""",
)
QUERIES = {
    "idx_jobs_claim": """SELECT id FROM wellness.jobs WHERE job_type = 'type3'
        AND state IN ('queued', 'running') AND available_at <= now()""",
    "idx_domain_retry": """SELECT id FROM messor.domains
        WHERE processing = 'processing_failed' AND retry_after <= now()""",
    "idx_fetches_page": """SELECT * FROM wellness.http_fetches WHERE page_id = 77
        ORDER BY fetched_at DESC LIMIT 1""",
    "crawl_tasks_due": """SELECT * FROM forager.crawl_tasks WHERE status = 'pending'
        AND scheduled_at <= now() ORDER BY priority, scheduled_at LIMIT 100""",
    "domains_number_key": "SELECT count(*) FROM forager.crawl_tasks WHERE domain_id = 7",
    "pages_host_id_url_hash_key": "SELECT url FROM forager.crawl_tasks WHERE domain_id = 7",
    "product_images_product_id_url_hash_key": "SELECT * FROM forager.images WHERE product_id = 1234",
    "idx_proxies_last_used_at": """SELECT * FROM forager.proxies WHERE is_active = TRUE
        ORDER BY last_used_at ASC LIMIT 1""",
    "domains_domain_key": "SELECT * FROM forager.domains WHERE domain_name = 'd9.org'",
    "hosts_domain": "SELECT last_scraped_at FROM approval.domains WHERE domain_url = 'd9.org'",
}


def nodes(plan: dict[str, object]) -> list[dict[str, object]]:
    found = [plan]
    for below in plan.get("Plans", []):  # type: ignore[attr-defined]
        found += nodes(below)
    return found


@pytest.fixture
async def large(filled: Database) -> Database:
    async with filled.transaction() as connection:
        for statement in MANY:
            await connection.execute(statement)
    for table in ("jobs", "domains", "hosts", "lanes", "pages", "crawl_tasks", "http_fetches",
                  "product_images", "proxies"):  # fmt: skip
        async with filled.connection() as connection:
            await connection.execute(f"ANALYZE messor.{table}")
    return filled


async def test_each_query_finds_its_index(large: Database) -> None:
    for index, query in QUERIES.items():
        (row,) = await large.fetch(f"EXPLAIN (FORMAT JSON) {query}")
        used = [str(n.get("Index Name", "")) for n in nodes(json.loads(row[0])[0]["Plan"])]
        # A partition's index is named after the partition.
        own = index.replace("idx_fetches_page", "page_id_fetched_at_idx")
        assert any(own in name for name in used), (index, [n for n in used if n], row[0])


PRODUCTS = """
INSERT INTO messor.products (record_id, page_id, snapshot_id, domain_id, url, url_hash, product_name,
                             price, currency, availability, brand, category, content_hash, parser,
                             parser_version, created_at, updated_at)
SELECT 100000 + n, 100000 + n, p.snapshot_id, d.id, 'https://d1.org/' || n, sha256(convert_to(n::text, 'UTF8')),
       'Thing ' || n, n / 7.0, 'EUR', CASE WHEN n % 50 = 0 THEN 'preorder' ELSE 'in_stock' END,
       'Brand ' || n % 900, 'Category ' || n % 900, sha256('\\x00'), 'x', '1',
       messor.clock() - n * interval '1 minute', messor.clock()
  FROM generate_series(1, 9000) n, (SELECT * FROM messor.products LIMIT 1) p
  JOIN LATERAL (SELECT id FROM messor.domains WHERE domain = 'd' || 1 + n % 900 || '.org') d ON true
"""
# As the list of products asks; names and brands are compared by their beginning first.
PRODUCT_QUERIES = {
    "idx_products_price": """SELECT * FROM forager.products WHERE price BETWEEN 100 AND 103""",
    "idx_products_availability": "SELECT * FROM forager.products WHERE availability = 'preorder'",
    "idx_products_created_at": "SELECT * FROM messor.products ORDER BY created_at DESC LIMIT 20",
    "idx_products_url_hash": """SELECT * FROM messor.products WHERE url_hash =
        sha256(convert_to('77', 'UTF8'))""",
    "idx_products_brand": """SELECT * FROM messor.products q WHERE q.brand = 'Brand 7'
        AND left(q.brand, 200) = left('Brand 7', 200)""",
    "idx_products_category": """SELECT * FROM messor.products q WHERE q.category = 'Category 7'
        AND left(q.category, 200) = left('Category 7', 200)""",
    "idx_products_product_name": """SELECT * FROM messor.products q
        WHERE left(q.product_name, 200) = 'Thing 77'""",
    "idx_products_domain": """SELECT * FROM messor.products q WHERE q.domain_id =
        (SELECT id FROM messor.domains WHERE domain = 'd7.org')""",
}


async def test_products_are_found_by_their_indexes(large: Database) -> None:
    await large.fetch(PRODUCTS)
    async with large.connection() as connection:
        await connection.execute("ANALYZE messor.products")
    for index, query in PRODUCT_QUERIES.items():
        (row,) = await large.fetch(f"EXPLAIN (FORMAT JSON) {query}")
        used = [str(n.get("Index Name", "")) for n in nodes(json.loads(row[0])[0]["Plan"])]
        assert any(name.startswith(index) for name in used), (index, used, row[0])


async def test_a_list_of_contents_reads_no_text(large: Database) -> None:
    for query in (
        "SELECT id, page_id, fetched_at FROM wellness.page_content",
        "SELECT id, url, crawled_at FROM approval.page_snapshots",
        "SELECT url, last_crawled_at FROM wellness.pages LIMIT 50",
    ):
        (row,) = await large.fetch(f"EXPLAIN (FORMAT JSON) {query}")
        tables = {n.get("Relation Name") for n in nodes(json.loads(row[0])[0]["Plan"])}
        assert not tables & {"snapshot_texts", "extractions"}, query
