"""What the change feed costs a flush, and how fast a reader far behind catches up.

Run as `python -m bench.changes` (`--quick` for a short run), on an embedded PostgreSQL that is thrown
away afterwards. Exits 1 when a bar is broken.

Writing: page changes of 200 pages per statement, as a flush writes them, with the feed's trigger and
without; WAL and PostgreSQL's CPU per page. Reading: a reader that is a million entries behind, three
quarters of them changes of records with evidence, in batches of the API, decided on by the rights and
encoded as its responses.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from operator import attrgetter

import asyncpg
import msgspec
import uvloop
from bench.measure import cpu_seconds, read_server
from bench.queue import Bar, execute, judge, own_database
from bench.stage import embedded_postgres

from messor.core.memory import collect_rarely
from messor.feed.queries import MAX_BATCH, ChangeFilter, FeedPage, read_feed
from messor.rights.release import Purpose, release
from messor.store.database import Database

WAL_BYTES = 500
ENTRIES_PER_SECOND = 20_000
FLUSH = 200

DOMAIN = """
WITH d AS (INSERT INTO messor.domains (id, domain, base_url, submitted_by, submitter_type)
           VALUES (gen_random_uuid(), 'bench.test', 'https://bench.test/', 'bench', 'admin') RETURNING id)
INSERT INTO messor.hosts (domain_id, host) SELECT id, 'bench.test' FROM d
"""
PAGES = """
INSERT INTO messor.pages (host_id, url_hash, url, found_by)
SELECT h.id, sha256(n::text::bytea), 'https://bench.test/' || n, 'link'
  FROM messor.hosts h, generate_series(1, $1::int) n
"""
NOTE = """
INSERT INTO messor.page_changes (page_id, snapshot_id, state, seen_at)
SELECT id, NULL, 'changed', messor.clock() FROM unnest($1::bigint[]) AS g (id)
"""
RECORDS = """
INSERT INTO messor.records (page_id, snapshot_id, domain_id, kind, identity, confidence, parser,
       parser_version, data, fields, content_hash, first_seen, last_seen, updated_at)
SELECT p.id, 1, h.domain_id, 'offer', '', 0.9, 'bench', '1',
       '{"name": "Copper kettle", "price": 49.9, "currency": "EUR"}',
       '{"price": {"confidence": 0.9, "evidence": {"quote": "49.90 EUR", "path": "/html/body/p"}}}',
       sha256(''), messor.clock(), messor.clock(), messor.clock()
  FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
"""
CHANGED = """
INSERT INTO messor.record_changes (record_id, page_id, snapshot_id, changed_at, state, cause, field,
                                   before, after)
SELECT id, page_id, 1, messor.clock(), 'changed', 'page', 'price', to_jsonb($1::int), to_jsonb($1::int + 1)
  FROM messor.records
"""


async def write_cost(dsn: str, postmaster: int, pages: int, *, noted: bool) -> tuple[float, float]:
    """WAL bytes and microseconds of CPU per page."""
    raw = await asyncpg.connect(dsn, ssl=False)
    mode = "ENABLE" if noted else "DISABLE"
    await raw.execute(f"ALTER TABLE messor.page_changes {mode} TRIGGER page_changes_noted")
    ids = [row["id"] for row in await raw.fetch("SELECT id FROM messor.pages ORDER BY id")][:pages]
    before = await read_server(dsn, postmaster)
    for start in range(0, len(ids), FLUSH):
        await raw.execute(NOTE, ids[start : start + FLUSH])
    after = await read_server(dsn, postmaster)
    await raw.close()
    return (after.wal - before.wal) / len(ids), 1e6 * (after.cpu - before.cpu) / len(ids)


async def fill(dsn: str, entries: int) -> None:
    raw = await asyncpg.connect(dsn, ssl=False)
    await raw.execute(RECORDS)
    records = await raw.fetchval("SELECT count(*) FROM messor.records")
    for number in range(max(1, entries * 3 // 4 // records)):
        await raw.execute(CHANGED, number)
    ids = [row["id"] for row in await raw.fetch("SELECT id FROM messor.pages ORDER BY id")]
    for _ in range(max(1, entries // 4 // records)):
        await raw.execute(NOTE, ids)
    await raw.execute("ANALYZE")
    await raw.close()


async def read_rate(dsn: str, postmaster: int) -> tuple[int, float, float]:
    """Entries, seconds, and CPU seconds of this process and the server."""
    cursor, count = None, 0
    collect_rarely()  # as the server does
    async with Database(dsn, pool_size=1) as database:
        both = (os.getpid(), postmaster)
        started, cpu = time.perf_counter(), sum(map(cpu_seconds, both))
        while True:
            page = await read_feed(database, ChangeFilter(), cursor=cursor, limit=MAX_BATCH)
            items = await release(database, Purpose.FEED, page.items, attrgetter("page_id"))
            msgspec.json.encode(FeedPage(items, page.next, page.cursor))
            count, cursor = count + len(items), page.cursor
            if page.next is None:
                break
        return count, time.perf_counter() - started, sum(map(cpu_seconds, both)) - cpu


async def measure(dsn: str, postmaster: int, *, quick: bool) -> list[Bar]:
    pages, entries = (20_000, 100_000) if quick else (100_000, 1_000_000)
    await execute(dsn, DOMAIN)
    await execute(dsn, PAGES, pages)
    plain = await write_cost(dsn, postmaster, pages, noted=False)
    noted = await write_cost(dsn, postmaster, pages, noted=True)
    print(f"  without the feed: {plain[0]:.0f} B of WAL, {plain[1]:.1f} µs per page", flush=True)
    print(f"  with the feed: {noted[0]:.0f} B of WAL, {noted[1]:.1f} µs per page", flush=True)
    await fill(dsn, entries)
    count, seconds, cpu = await read_rate(dsn, postmaster)
    each = 1e6 * cpu / count
    print(f"  {count:,} entries in {seconds:.1f} s, {each:.1f} µs of CPU each", flush=True)
    wal, rate = noted[0] - plain[0], count / seconds
    return [
        ("WAL of the feed per page, bytes", wal, f"<= {WAL_BYTES}", wal <= WAL_BYTES),
        ("entries read per second", rate, f">= {ENTRIES_PER_SECOND}", rate >= ENTRIES_PER_SECOND),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    with embedded_postgres() as (dsn, server), own_database(dsn, "bench_changes") as own:
        assert server.pid is not None
        bars = uvloop.run(measure(own, server.pid, quick=given.quick))
    if not judge(bars):
        sys.exit(1)


if __name__ == "__main__":
    main()
