"""What search costs at size: keywords that are made and made again, and visibility of a million results.

Run as `python -m bench.visibility`, on an embedded PostgreSQL that is thrown away afterwards. Exits 1
when a bar is broken. Visibility is measured beside a plain aggregate over the same rows: how often,
and how high on average, each domain stands.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median

from bench.queue import Bar, judge, own_database
from bench.stage import embedded_postgres

from messor.insight import visibility
from messor.scout import keywords
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.files import VerticalFile
from messor.verticals.model import Vertical
from messor.verticals.verticals import Applied

ACTOR = "bench"
OVER_PLAIN = 3.0
KEYWORDS, PROFILES = 100_000, 3
RESULTS, PER_PAGE, DOMAIN_COUNT = 1_000_000, 10, 20_000
ROUNDS = 5

MAKE_REQUESTS = """
INSERT INTO messor.search_requests (id, keyword_id, serp_profile_id, window_key, state, finished_at)
SELECT uuidv7(), k.id, k.serp_profile_id, '2026-W46', 'answered', messor.clock()
  FROM (SELECT id, serp_profile_id FROM messor.keywords WHERE vertical_id = $1 ORDER BY id LIMIT $2) k
"""
MAKE_PAGES = """
INSERT INTO messor.serp_snapshots
  (id, keyword_id, serp_profile_id, request_id, window_key, engine, outcome, result_count, captured_at)
SELECT uuidv7(), keyword_id, serp_profile_id, id, window_key, 'serper', 'ok', $1,
       messor.clock() - interval '1 hour' FROM messor.search_requests
"""
# A few domains are seen everywhere, most of them hardly ever.
MAKE_RESULTS = """
INSERT INTO messor.serp_results (snapshot_id, rank_position, block_type, domain, url, title, snippet,
                                 is_best)
SELECT s.id, n, 'organic', d.name, 'https://' || d.name || '/' || n, 'A title of some words',
       'What a page says of itself, in a sentence or two that an engine has cut off',
       row_number() OVER (PARTITION BY s.id, d.name ORDER BY n) = 1
  FROM messor.serp_snapshots s, generate_series(1, $1::int) n,
       LATERAL (SELECT 'd' || floor($2 * power(hashtextextended(s.id::text, n)::float8 / 2^64 + 0.5, 3))
                       || '.example' AS name) d
"""
MAKE_CLASSES = """
INSERT INTO messor.domain_classes (domain, class, confidence, reasons, features)
SELECT DISTINCT domain, CASE WHEN hashtext(domain) % 5 = 0 THEN 'directory' ELSE 'business' END, 0.9,
       '[]'::jsonb, '{}'::text[] FROM messor.serp_results
"""
PLAIN = """
SELECT domain, count(*), avg(rank_position) FROM messor.serp_results
 WHERE block_type IN ('organic', 'local_pack') GROUP BY domain
"""


def large() -> VerticalFile:
    """A vertical whose templates make so many keywords: services, two ways to ask, and places."""
    shipped = files.shipped("wellness").vertical.model_dump(mode="json")
    profile = next(iter(shipped["profiles"].values()))
    shipped["services"] = [{"name": f"service {n}"} for n in range(100)]
    shipped["geo_sets"] = {"places": {"modifiers": [f"place {n}" for n in range(500)]}}
    shipped["templates"] = [
        {"template": template, "geo_set": "places"}
        for template in ("{service} {geo}", "best {service} in {geo}")
    ]
    shipped["profiles"] = {f"profile-{n}": profile for n in range(PROFILES)}
    return VerticalFile(Vertical.model_validate(shipped), "made for the bench")


async def keyword_bars(database: Database, applied: Applied) -> list[Bar]:
    """Made once, then made again: the second time nothing is new."""
    started, before = time.perf_counter(), database.round_trips
    new = await keywords.write(database, applied, actor=ACTOR)
    trips, seconds = database.round_trips - before, time.perf_counter() - started
    print(f"  {new:,} keywords in {seconds:.1f} s, {trips} round trips", file=sys.stderr)
    again = await keywords.write(database, applied, actor=ACTOR)
    stored = await database.fetchval("SELECT count(*) FROM messor.keywords")
    batches = -(-KEYWORDS // keywords.BATCH)
    wanted = KEYWORDS * PROFILES
    return [
        ("keywords made, each once", new, f"= {wanted}", new == stored == wanted),
        ("keywords made the second time", again, "= 0", again == 0),
        # Each batch begins, writes and commits; what is around them is a handful.
        ("round trips a batch", trips / batches, "<= 4", trips <= 4 * batches),
    ]


async def fill(database: Database, applied: Applied) -> None:
    async with database.transaction() as connection:
        await connection.execute("SET LOCAL statement_timeout = 0")
        await connection.execute(MAKE_REQUESTS, applied.id, RESULTS // PER_PAGE)
        await connection.execute(MAKE_PAGES, PER_PAGE)
        await connection.execute(MAKE_RESULTS, PER_PAGE, float(DOMAIN_COUNT))
        await connection.execute(MAKE_CLASSES)
    for table in (
        "serp_results",
        "serp_snapshots",
        "search_requests",
        "keywords",
        "domain_classes",
    ):
        await database.fetch(f"ANALYZE messor.{table}")


async def visibility_bars(database: Database, applied: Applied) -> list[Bar]:
    window = await visibility.last_window(database)
    rows = await database.fetchval("SELECT count(*) FROM messor.serp_results")
    seen = await visibility.of_domains(database, applied, window)

    async def plain() -> None:
        async with database.transaction() as connection:
            await connection.execute(visibility.IN_MEMORY)
            await connection.fetch(PLAIN)

    async def ours() -> None:
        await visibility.of_domains(database, applied, window)

    floor, cost = await timed(plain), await timed(ours)
    print(
        f"  {rows:,} results: plain {floor * 1000:.0f} ms, visibility of {len(seen):,} domains"
        f" {cost * 1000:.0f} ms", file=sys.stderr,
    )  # fmt: skip
    return [("visibility over a plain aggregate", cost / floor, "<= 3", cost <= OVER_PLAIN * floor)]


async def measure(dsn: str) -> list[Bar]:
    async with Database(dsn) as database:
        async with database.transaction() as connection:
            applied, _ = await verticals.apply(connection, large(), actor=ACTOR)
        bars = await keyword_bars(database, applied)
        print("  making result pages …", file=sys.stderr)
        await fill(database, applied)
        return bars + await visibility_bars(database, applied)


async def timed(work: Callable[[], Awaitable[None]]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await work()
        times.append(time.perf_counter() - started)
    return median(times)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with embedded_postgres() as (dsn, _), own_database(dsn) as own:
        bars = asyncio.run(measure(own))
    sys.exit(0 if judge(bars) else 1)


if __name__ == "__main__":
    main()
