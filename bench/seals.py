"""Seals: what they cost beside a flush.

    python -m bench.seals [--pages 20000] [--dsn postgresql://…]

Writes rows of the log of requests as flushes do, once without and once with what the seals add to the
table (an index by range, triggers for changes), then seals them. The share of a flush is the first
difference; the sealer's own time comes after the commit and is given per row.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from messor.fetch.proxies.seal import Seal
from messor.fetch.signing_keys import signing_key
from messor.ledger import sealer
from messor.ledger.seal_audit import SealAudit
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import open_session

BATCH = 200  # pages of a flush
ADD = """
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, status_code, size,
  duration_ms, waited_ms, rule, policy_version, robots_id, final_url, headers_json)
SELECT messor.clock(), n, 1, 7, 'ok', 200, 51000, 120, 1000, 'registry', 1, 3, 'https://shop.test/' || n,
       '{"server": "nginx", "content-type": "text/html; charset=utf-8", "etag": "abc", "vary": "accept"}'
  FROM generate_series($1::int, $1::int + $2::int - 1) n
"""
WITHOUT = """
ALTER TABLE messor.http_fetches DISABLE TRIGGER USER;
DROP INDEX messor.http_fetches_ids;
"""
WITH = """
CREATE INDEX http_fetches_ids ON messor.http_fetches USING brin (id) WITH (autosummarize = on);
ALTER TABLE messor.http_fetches ENABLE TRIGGER USER;
"""
ROUNDS = 4  # of each, in turn
FLUSH_MS = 0.18  # per page, PostgreSQL alone: results.md


async def write(database: Database, first: int, pages: int) -> float:
    """Seconds per page."""
    begun = time.perf_counter()
    for at in range(first, first + pages, BATCH):
        async with database.transaction() as connection:
            await connection.execute(ADD, at, BATCH)
    return (time.perf_counter() - begun) / pages


async def measure(database: Database, pages: int, folder: Path) -> None:
    part = pages // ROUNDS // 2
    with_seals: list[float] = []
    without: list[float] = []
    for number in range(ROUNDS):
        for statements, times in ((WITHOUT, without), (WITH, with_seals)):
            for statement in filter(None, map(str.strip, statements.split(";"))):
                await database.fetch(statement)
            times.append(await write(database, number * pages, part))
    added = (min(with_seals) - min(without)) * 1e6
    share = added / (FLUSH_MS * 10)
    print(
        f"rows written: {min(without) * 1e6:.1f} us a page without, {min(with_seals) * 1e6:.1f} with"
    )
    print(
        f"added to a flush: {added:+.2f} us a page, {share:+.2f} % of the {FLUSH_MS} ms that PostgreSQL spends on it (bar: 2 %)"
    )
    async with database.transaction() as connection:
        key = await signing_key(connection, Seal(folder))
    begun, ours = time.perf_counter(), time.process_time()
    rows = await sealer.seal_now(database, key)
    spent, ours = time.perf_counter() - begun, time.process_time() - ours
    print(
        f"sealed after the commit: {rows:,} rows, {spent / rows * 1e6:.1f} us a row, {ours / rows * 1e6:.1f} of them ours"
    )
    begun = time.perf_counter()
    report = await SealAudit(database, {key.key_id: key.public_key}).run()
    spent = time.perf_counter() - begun
    print(f"audited: {report.rows.total() / spent:,.0f} rows/s. {report.verdict}")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--dsn", help="an empty database with the schema; else one of its own")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="messor-bench-") as folder:
        settings = Settings(
            data_dir=Path(folder), contact="https://example.invalid/bench", database_url=given.dsn
        )
        async with open_session(settings) as session:
            await measure(session.database, given.pages, Path(folder))


if __name__ == "__main__":
    asyncio.run(main())
