"""What archived products save, and what each index of `products` costs: sizes and CPU time of writes.

Run as `python -m bench.archive_products --products 100000`, on an embedded PostgreSQL that is thrown
away afterwards. `docs/analytics.md` has the figures. Nine of ten products went long ago.
"""

from __future__ import annotations

import argparse
from datetime import timedelta

import asyncpg
import uvloop
from bench.measure import read_server
from bench.queue import own_database
from bench.stage import embedded_postgres
from tests.exports.seeding import seed

from messor.records import old_products
from messor.store.database import Database

REMOVED = """
UPDATE messor.products SET state = 'removed', updated_at = messor.clock() - interval '2 years'
 WHERE id % 10 <> 0
"""
SIZES = """
SELECT c.relname AS name, pg_relation_size(c.oid) AS bytes FROM pg_class c
  JOIN pg_index i ON i.indexrelid = c.oid WHERE i.indrelid = 'messor.products'::regclass ORDER BY 2 DESC
"""
TABLES = ("products", "product_prices", "archived_products")
REWRITE = "UPDATE messor.products SET price = price + 1, updated_at = messor.clock()"


async def sizes(raw: asyncpg.Connection) -> dict[str, int]:
    """Bytes of each table with its indexes."""
    return {
        name: await raw.fetchval(f"SELECT pg_total_relation_size('messor.{name}')")
        for name in TABLES
    }


async def write_cost(raw: asyncpg.Connection, dsn: str, postmaster: int) -> float:
    """Microseconds of the server's CPU per product whose price changes."""
    await raw.execute("VACUUM (FULL, ANALYZE) messor.products")
    before = await read_server(dsn, postmaster)
    status = await raw.execute(REWRITE)
    after = await read_server(dsn, postmaster)
    return 1e6 * (after.cpu - before.cpu) / int(status.rpartition(" ")[2])


async def measure(dsn: str, postmaster: int, products: int) -> None:
    raw = await asyncpg.connect(dsn, ssl=False)
    async with Database(dsn, pool_size=1) as database:
        await seed(database, pages=products, records=1, prices=3)
        await raw.execute(REMOVED)
        await raw.execute("VACUUM (FULL, ANALYZE) messor.products")
        before = await sizes(raw)
        for row in await raw.fetch(SIZES):
            print(f"  {row['name']:34} {row['bytes'] / 1e6:8.1f} MB", flush=True)
        await old_products.archive(database, timedelta(days=365))
    for name in TABLES:
        await raw.execute(f"VACUUM (FULL, ANALYZE) messor.{name}")
    after = await sizes(raw)
    for name in TABLES:
        print(f"  {name}: {before[name] / 1e6:.1f} MB, {after[name] / 1e6:.1f} MB afterwards")
    whole = await write_cost(raw, dsn, postmaster)
    print(f"  all indexes: {whole:.1f} µs per product", flush=True)
    names = [row["name"] for row in await raw.fetch(SIZES) if row["name"].startswith("idx_")]
    for name in names:
        await raw.execute(f"DROP INDEX messor.{name}")
        cost = await write_cost(raw, dsn, postmaster)
        print(f"  and without {name}: {cost:.1f} µs per product", flush=True)
    await raw.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=100_000)
    given = parser.parse_args()
    with embedded_postgres() as (dsn, server), own_database(dsn, "bench_archive") as own:
        assert server.pid is not None
        uvloop.run(measure(own, server.pid, given.products))


if __name__ == "__main__":
    main()
