"""Checks of stored records as statements, each over a range of ids.

A statement takes the first and last id, and returns how many rows it examined, how many are broken,
and some of those by name.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """A condition on every record or product, and its query."""

    id: str
    title: str
    asks: str
    sql: str | None  # None: the archive has to be read


def _asked(judged: str) -> str:
    """A statement over rows of `name` and `fault`, which is NULL where all is well."""
    return f"""
WITH judged AS MATERIALIZED ({judged})
SELECT count(*)::int AS examined, count(fault)::int AS broken,
       coalesce((SELECT array_agg(b.name || ': ' || b.fault ORDER BY b.name)
                   FROM (SELECT name, fault FROM judged WHERE fault IS NOT NULL
                          ORDER BY name LIMIT 5) b), '{{}}') AS examples
  FROM judged
"""


BELONGS = _asked("""
  SELECT 'record ' || r.id AS name,
         CASE WHEN p.id IS NULL THEN 'its page is not there'
              WHEN d.id IS NULL THEN 'its domain is not there'
              WHEN x.page_id IS NULL THEN 'its page was never extracted'
              WHEN r.state = 'current' AND s.id IS NULL THEN 'its snapshot is not there'
              WHEN s.id IS NOT NULL AND s.page_id <> r.page_id THEN 'its snapshot is of another page'
              WHEN (r.state = 'removed') <> (r.removed_at IS NOT NULL)
                THEN 'it is ' || r.state || ', its removal says otherwise' END AS fault
    FROM messor.records r LEFT JOIN messor.pages p ON p.id = r.page_id
    LEFT JOIN messor.domains d ON d.id = r.domain_id
    LEFT JOIN messor.extractions x ON x.page_id = r.page_id
    LEFT JOIN messor.page_snapshots s ON s.id = r.snapshot_id
   WHERE r.id BETWEEN $1 AND $2
""")
PROVEN = _asked("""
  SELECT 'record ' || r.id AS name, 'no evidence of ' || string_agg(v.key, ', ' ORDER BY v.key)
           FILTER (WHERE coalesce(r.fields #>> ARRAY[v.key, 'evidence', 'quote'], '') = ''
                     AND r.fields #> ARRAY[v.key, 'correction'] IS NULL) AS fault
    FROM messor.records r CROSS JOIN LATERAL jsonb_object_keys(r.data) v (key)
   WHERE r.id BETWEEN $1 AND $2 GROUP BY r.id
""")
SOLD = _asked("""
  SELECT 'record ' || r.id AS name,
         CASE WHEN o.id IS NULL THEN 'it is missing among the products'
              WHEN o.page_id <> r.page_id THEN 'its product is of another page'
              WHEN o.state <> r.state THEN 'it is ' || r.state || ', its product ' || o.state
              WHEN o.url_hash <> p.url_hash THEN 'its product has the address of another page'
              WHEN EXISTS (SELECT FROM messor.products n WHERE n.url_hash = o.url_hash AND n.id <> o.id)
                THEN 'another product has its address' END AS fault
    FROM messor.records r LEFT JOIN messor.products o ON o.record_id = r.id
    LEFT JOIN messor.pages p ON p.id = r.page_id
   WHERE r.id BETWEEN $1 AND $2 AND r.kind = 'product'
""")
PRICED = _asked("""
  SELECT 'product ' || o.id AS name,
         CASE WHEN o.price < 0 THEN 'its price is below nought'
              WHEN o.currency !~ '^[A-Z]{3}$' THEN 'its currency is ' || left(o.currency, 20)
              WHEN h.product_id IS NULL AND o.price IS NOT NULL THEN 'its price has no history'
              WHEN h.price IS DISTINCT FROM o.price OR h.currency IS DISTINCT FROM o.currency
                THEN 'its price is not the newest of its history' END AS fault
    FROM messor.records r JOIN messor.products o ON o.record_id = r.id AND o.state = 'current'
    LEFT JOIN LATERAL (SELECT product_id, price, currency FROM messor.product_prices
                        WHERE product_id = o.id ORDER BY seen_at DESC LIMIT 1) h ON true
   WHERE r.id BETWEEN $1 AND $2
""")

CHECKS = (
    RecordCheck(
        "RECORDS_001", "References are complete",
        "Each record has its page, its domain, its extraction and, while current, the snapshot "
        "that states it.", BELONGS,
    ),
    RecordCheck(
        "RECORDS_002", "Every value has evidence",
        "Each value of each record has a quote it was derived from.", PROVEN,
    ),
    RecordCheck(
        "RECORDS_003", "Products match their records",
        "Each product's record has one product of the same page and state, and no two products "
        "share a URL.", SOLD,
    ),
    RecordCheck(
        "RECORDS_004", "Prices are the newest of their history",
        "Each current product's price and currency are valid, and those last seen.", PRICED,
    ),
    RecordCheck(
        "RECORDS_005", "Quotes occur in the archive",
        "In a sample, each quote occurs literally in the stored page and, parsed again, yields the "
        "value.", None,
    ),
    RecordCheck(
        "RECORDS_006", "Snapshots match the archive",
        "In a sample, the bytes match the hash and the page, the page's URL has a "
        "record of its own, and the text matches the bytes.", None,
    ),
)  # fmt: skip
