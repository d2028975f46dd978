"""10,000 watches over 100,000 changes: statements per batch, and what a change costs.

Run as `python -m bench.watches` (`--quick` for a tenth of both), on an embedded PostgreSQL that is
thrown away afterwards. Exits 1 when a bar is broken. Watches have a domain of 100 and a second filter
of the list; each change concerns those of its domain.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

import uvloop
from bench.measure import cpu_seconds
from bench.queue import Bar, execute, judge, own_database
from bench.stage import embedded_postgres

from messor.store.database import Connection, Database
from messor.watches.evaluate import evaluate

MAX_STATEMENTS = 20

FILL = (
    """INSERT INTO messor.domains (id, domain, base_url, submitted_by, submitter_type)
       SELECT gen_random_uuid(), 's' || n || '.test', 'https://s' || n || '.test/', 'bench', 'admin'
         FROM generate_series(0, 99) n WHERE $1 > 0""",
    "INSERT INTO messor.hosts (domain_id, host) SELECT id, domain FROM messor.domains WHERE $1 > 0",
    """INSERT INTO messor.pages (host_id, url_hash, url, found_by)
       SELECT h.id, sha256(n::text::bytea), 'https://' || h.host || '/' || n, 'link'
         FROM generate_series(1, $1::int / 10) n JOIN messor.hosts h ON h.host = 's' || n % 100 || '.test'""",
    """INSERT INTO messor.records (page_id, snapshot_id, domain_id, kind, identity, confidence, parser,
              parser_version, data, fields, content_hash, first_seen, last_seen, updated_at)
       SELECT p.id, 1, h.domain_id, 'offer', '', 0.9, 'bench', '1', '{"name": "Kettle", "price": 49.9}',
              '{}', sha256(''), messor.clock(), messor.clock(), messor.clock()
         FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id WHERE $1 > 0""",
)
WATCH = """
INSERT INTO messor.watches (id, name, noun, filters, condition, channel, token_hash, is_active, created_by)
SELECT gen_random_uuid(), 'w' || n, 'records',
       jsonb_build_object('domain', 's' || n % 100 || '.test', 'min_confidence', (n % 200) / 100.0),
       '{"when": "falls", "field": "price", "percent": 10}', 'feed', sha256(n::text::bytea), true, 'bench'
  FROM generate_series(1, $1::int) n
"""
CHANGE = """
INSERT INTO messor.record_changes (record_id, page_id, snapshot_id, changed_at, state, cause, field,
                                   before, after)
SELECT id, page_id, 1, messor.clock(), 'changed', 'page', 'price', to_jsonb(100),
       to_jsonb(CASE WHEN id % 20 = 0 THEN 80 ELSE 99 END)
  FROM messor.records
"""


class Counter:
    """Counts the statements of every connection."""

    def __init__(self) -> None:
        self.statements = 0
        for name in ("fetch", "fetchrow", "fetchval", "execute"):
            setattr(Connection, name, self._counted(getattr(Connection, name)))

    def _counted(self, real: Any) -> Any:
        async def counted(connection: Connection, sql: str, *args: Any) -> Any:
            self.statements += 1
            return await real(connection, sql, *args)

        return counted


async def measure(dsn: str, postmaster: int, *, quick: bool) -> list[Bar]:
    watches, changes = (1_000, 10_000) if quick else (10_000, 100_000)
    for sql in FILL:
        await execute(dsn, sql, changes)
    await execute(dsn, WATCH, watches)
    for _ in range(10):
        await execute(dsn, CHANGE)
    await execute(dsn, "ANALYZE")
    counter, most, read = Counter(), 0, 0
    both = (os.getpid(), postmaster)
    started, cpu = time.perf_counter(), sum(map(cpu_seconds, both))
    async with Database(dsn, pool_size=2) as database:
        while True:
            counter.statements = 0
            found = await evaluate(database)
            most = max(most, counter.statements)
            if not found:
                break
            read += found
        alerts = await database.fetchval("SELECT count(*) FROM messor.watch_alerts")
    seconds, spent = time.perf_counter() - started, sum(map(cpu_seconds, both)) - cpu
    print(
        f"  {read:,} changes, {watches:,} watches, {alerts:,} alerts: {seconds:.1f} s", flush=True
    )
    print(f"  {1e6 * spent / read:.0f} µs of CPU per change", flush=True)
    return [
        ("changes evaluated", read, f">= {changes}", read >= changes),
        ("statements of a batch, at most", most, f"<= {MAX_STATEMENTS}", most <= MAX_STATEMENTS),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    with embedded_postgres() as (dsn, server), own_database(dsn, "bench_watches") as own:
        assert server.pid is not None
        bars = uvloop.run(measure(own, server.pid, quick=given.quick))
    if not judge(bars):
        sys.exit(1)


if __name__ == "__main__":
    main()
