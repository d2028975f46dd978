"""Old products: those that their site removed long ago leave the tables of lists for an archive.

An archived product is a row as it was, with its prices; it has no index but that of its page, by which
it comes back when the page sells it again. Analytics has it all the time. It leaves no tombstone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from messor.store.database import Connection, Database

BATCH = 1_000

OLD = """
SELECT id FROM messor.products
 WHERE state = 'removed' AND updated_at < messor.clock() - $1::interval
 ORDER BY updated_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
"""
COUNT_OLD = """
SELECT count(*) FROM messor.products
 WHERE state = 'removed' AND updated_at < messor.clock() - $1::interval
"""
KEEP = """
INSERT INTO messor.archived_products (id, page_id, record_id, domain_id, product, prices)
SELECT q.id, q.page_id, q.record_id, q.domain_id, jsonb_strip_nulls(to_jsonb(q)),
       coalesce((SELECT jsonb_agg(jsonb_strip_nulls(to_jsonb(o)) ORDER BY o.seen_at) FROM messor.product_prices o
                  WHERE o.product_id = q.id), '[]')
  FROM messor.products q WHERE q.id = ANY ($1::bigint[])
"""
FORGET_PRICES = "DELETE FROM messor.product_prices WHERE product_id = ANY ($1::bigint[])"
FORGET = "DELETE FROM messor.products WHERE id = ANY ($1::bigint[])"
# Triggers look when the whole statement is done: the product is in one of both tables.
RESTORE = """
WITH back AS (
  DELETE FROM messor.archived_products WHERE page_id = ANY ($1::bigint[]) RETURNING product, prices
), listed AS (
  INSERT INTO messor.products OVERRIDING SYSTEM VALUE
  SELECT p.* FROM back CROSS JOIN LATERAL jsonb_populate_record(NULL::messor.products, back.product) p
)
INSERT INTO messor.product_prices
SELECT p.* FROM back CROSS JOIN LATERAL jsonb_populate_recordset(NULL::messor.product_prices, back.prices) p
"""


@dataclass(slots=True)
class ArchivedProducts:
    """What a run moved."""

    products: int = 0
    prices: int = 0


async def archive(database: Database, older_than: timedelta) -> ArchivedProducts:
    """Archive products that were removed so long ago, a batch per transaction."""
    done = ArchivedProducts()
    while True:
        async with database.transaction() as connection:
            rows = await connection.fetch(OLD, older_than, BATCH)
            ids = [row["id"] for row in rows]
            if ids:
                await connection.execute(KEEP, ids)
                gone = await connection.execute(FORGET_PRICES, ids)
                await connection.execute(FORGET, ids)
                done.products += len(ids)
                done.prices += int(gone.rpartition(" ")[2])
        if len(ids) < BATCH:
            return done


async def count_old(database: Database, older_than: timedelta) -> int:
    """How many products would be archived."""
    found: int = await database.fetchval(COUNT_OLD, older_than)
    return found


async def restore(connection: Connection, pages: Sequence[int]) -> None:
    """Bring back the archived products of pages, with their ids and prices."""
    await connection.execute(RESTORE, pages)
