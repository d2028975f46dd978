"""How fast full-text search answers over many products: PostgreSQL, and a search server beside it.

Run as `python -m bench.search --products 10000 --products 100000`, on an embedded PostgreSQL that is
thrown away afterwards. With `--server http://127.0.0.1:9200` the same products are sent to that
Elasticsearch or OpenSearch and the same queries are asked there. `docs/search.md` has the figures.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from decimal import Decimal

import asyncpg
import uvloop
from bench.queue import execute, own_database
from bench.stage import embedded_postgres

from messor.insight.full_text import FullText
from messor.insight.search import SearchFilters
from messor.insight.search_server.client import SearchServer, SearchServerSettings
from messor.insight.search_server.rebuild import drop, rebuild
from messor.settings import Settings
from messor.store.database import Database

CHUNK = 20_000
ROUNDS = 15
DOMAINS = """
WITH d AS (INSERT INTO messor.domains (id, domain, base_url, submitted_by, submitter_type)
           SELECT gen_random_uuid(), 'shop' || n || '.test', 'https://shop' || n || '.test/', 'bench', 'admin'
             FROM generate_series(1, 200) n RETURNING id, domain)
INSERT INTO messor.hosts (domain_id, host) SELECT id, domain FROM d
"""
# 60 words a description, of 30,000; low numbers are far more frequent than high ones.
PRODUCTS = """
WITH made AS MATERIALIZED (
  SELECT n, 'w' || floor(30000 * power(random(), 4))::int || ' kettle' || n % 977 AS name,
         (SELECT string_agg('w' || floor(30000 * power(random(), 4))::int, ' ')
            FROM generate_series(1, 60) WHERE n > 0) AS description
    FROM generate_series($1::int, $2::int) n
), pages AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by)
  SELECT 1 + n % 200, sha256(n::text::bytea), 'https://shop' || 1 + n % 200 || '.test/' || n, 'link' FROM made
  RETURNING id, host_id, url
), records AS (
  INSERT INTO messor.records (page_id, snapshot_id, domain_id, kind, identity, confidence, parser,
         parser_version, data, fields, content_hash, first_seen, last_seen, updated_at)
  SELECT p.id, 1, h.domain_id, 'product', '', 0.9, 'bench', '1',
         jsonb_build_object('product_name', m.name, 'description', m.description, 'brand', 'brand' || m.n % 300,
                            'category', 'category' || m.n % 40), '{}', sha256(''), messor.clock(),
         messor.clock(), messor.clock()
    FROM pages p JOIN messor.hosts h ON h.id = p.host_id
    JOIN made m ON m.n = substring(p.url FROM '[0-9]+$')::int
  RETURNING id, page_id, domain_id, data
), products AS (
  INSERT INTO messor.products (record_id, page_id, snapshot_id, domain_id, url, url_hash, product_name,
         description, price, currency, brand, category, content_hash, parser, parser_version, created_at,
         updated_at)
  SELECT id, page_id, 1, domain_id, page_id::text, sha256(page_id::text::bytea), data->>'product_name',
         data->>'description', page_id % 1000, 'EUR', data->>'brand', data->>'category', '', 'bench', '1',
         messor.clock(), messor.clock()
    FROM records
)
INSERT INTO messor.search_documents (page_id, snapshot_id, record_id, domain_id, kind, title, config, brand,
       category, price, currency, words)
SELECT page_id, 1, id, domain_id, 'product', data->>'product_name', 'english', data->>'brand',
       data->>'category', page_id % 1000, 'EUR',
       messor.search_words('english', data->>'product_name', concat_ws(' ', data->>'brand', data->>'category'),
                           data->>'description')
  FROM records
"""
SIZE = "SELECT pg_size_pretty(pg_total_relation_size('messor.search_documents'))"
FIRST, DEAR = SearchFilters(), SearchFilters(min_price=Decimal(900), currency="EUR")
QUESTIONS = (
    ("a rare word", "kettle500", FIRST),
    ("two words", "w900 w41", FIRST),
    ("a phrase", '"w3 w5"', FIRST),
    ("a prefix", "w2990*", FIRST),
    ("a frequent word", "w20", FIRST),
    ("the same, at 900 EUR or more", "w20", DEAR),
)


async def fill(dsn: str, count: int, have: int) -> float:
    """Add products up to a number; returns the seconds."""
    started = time.perf_counter()
    for low in range(have + 1, count + 1, CHUNK):
        await execute(dsn, PRODUCTS, low, min(low + CHUNK - 1, count))
    raw = await asyncpg.connect(dsn, ssl=False)
    await raw.execute("VACUUM ANALYZE")
    await raw.close()
    return time.perf_counter() - started


async def ask(full_text: FullText, *, counted: bool) -> list[tuple[str, float, float]]:
    """Milliseconds of each query: the median and the slowest."""
    found = []
    for name, typed, filters in QUESTIONS:
        took = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            answer = await full_text.search(typed, filters)
            if counted:
                await full_text.facets(typed, filters)
            took.append(1000 * (time.perf_counter() - started))
            assert answer.notice is None, answer.notice
        found.append((name, statistics.median(took), max(took)))
    return found


def show(title: str, figures: Sequence[tuple[str, float, float]]) -> None:
    print(f"  {title}", flush=True)
    for name, middle, worst in figures:
        print(f"    {name:<30}{middle:>9.1f} ms{worst:>9.1f} ms", flush=True)


async def measure_server(database: Database, url: str) -> None:
    options = SearchServerSettings.of(
        Settings.model_validate({"search_server_url": url, "search_server_timeout": 60,
                                 "search_server_index": "messor-bench", "search_server_products": "messor-bench-products"})
    )  # fmt: skip
    assert options is not None
    async with SearchServer(options) as server:
        started = time.perf_counter()
        done = await rebuild(database, server)
        print(
            f"  search server: {done.documents:,} documents in {time.perf_counter() - started:.0f} s"
        )
        show("search server, first page", await ask(FullText(database, server), counted=False))
        show("search server, with facets", await ask(FullText(database, server), counted=True))
        await drop(database, server)


async def measure(dsn: str, sizes: Sequence[int], url: str | None) -> None:
    await execute(dsn, DOMAINS)
    have = 0
    for count in sizes:
        seconds = await fill(dsn, count, have)
        async with Database(dsn, pool_size=1) as database:
            size = await database.fetchval(SIZE)
            print(
                f"{count:,} products ({seconds:.0f} s to add, documents and index {size})",
                flush=True,
            )
            show("PostgreSQL, first page", await ask(FullText(database), counted=False))
            show("PostgreSQL, with facets", await ask(FullText(database), counted=True))
            if url is not None:
                await measure_server(database, url)
        have = count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, action="append")
    parser.add_argument("--server")
    given = parser.parse_args()
    sizes = sorted(given.products or [10_000, 100_000])
    with embedded_postgres() as (dsn, _), own_database(dsn, "bench_search") as own:
        uvloop.run(measure(own, sizes, given.server))


if __name__ == "__main__":
    main()
