"""Lists of records and products, single ones in full, and their history."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec

from messor.errors import NotFoundError
from messor.store.database import Connection, Database

RECORDS = """
SELECT r.id, r.kind, r.state, r.confidence, r.parser, r.parser_version, r.data, d.domain, p.url,
       r.first_seen, r.last_seen, r.updated_at
  FROM messor.records r JOIN messor.domains d ON d.id = r.domain_id
  JOIN messor.pages p ON p.id = r.page_id
 WHERE ($1::uuid IS NULL OR r.domain_id = $1) AND ($2::text IS NULL OR r.kind = $2)
   AND ($3::text IS NULL OR r.state = $3) AND r.confidence >= $4 AND r.id > $5
 ORDER BY r.id LIMIT $6
"""
RECORD = """
SELECT r.id, r.kind, r.identity, r.state, r.confidence, r.parser, r.parser_version, r.data,
       r.fields, d.domain, p.url, r.page_id, r.snapshot_id, r.first_seen, r.last_seen,
       r.updated_at, r.removed_at
  FROM messor.records r JOIN messor.domains d ON d.id = r.domain_id
  JOIN messor.pages p ON p.id = r.page_id WHERE r.id = $1
"""
HISTORY = """
SELECT changed_at, state, cause, field, before, after, snapshot_id
  FROM messor.record_changes WHERE record_id = $1 ORDER BY id
"""
_PRODUCT = """q.id, q.product_name, q.price, q.currency, q.availability, q.brand, q.category, q.sku,
       q.gtin, q.rating, q.review_count, q.state, d.domain, q.url, q.parser, q.parser_version,
       q.created_at, q.updated_at"""
PRODUCTS = f"""
SELECT {_PRODUCT} FROM messor.products q JOIN messor.domains d ON d.id = q.domain_id
 WHERE ($1::uuid IS NULL OR q.domain_id = $1) AND ($2::text IS NULL OR q.state = $2)
   AND ($3::text IS NULL OR q.availability = $3)
   AND ($4::text IS NULL OR strpos(lower(q.product_name), lower($4)) > 0) AND q.id > $5
 ORDER BY q.id LIMIT $6
"""
PRODUCT = f"""
SELECT {_PRODUCT}, q.description, q.metadata, q.record_id, q.page_id, q.snapshot_id
  FROM messor.products q JOIN messor.domains d ON d.id = q.domain_id WHERE q.id = $1
"""
PRICES = """
SELECT seen_at, price, currency, availability, snapshot_id, cause
  FROM messor.product_prices WHERE product_id = $1 ORDER BY seen_at
"""
IMAGES = """
SELECT id, image_url, alt_text, image_type, position, width, height, file_size, image_path,
       media_type, refusal
  FROM messor.product_images WHERE product_id = $1 ORDER BY position
"""

Source = Connection | Database
Row = dict[str, Any]

_JSON = frozenset(("data", "fields", "metadata", "before", "after"))
_NUMBERS = frozenset(("price", "rating"))


async def records(
    source: Source,
    *,
    domain_id: UUID | None = None,
    kind: str | None = None,
    state: str | None = "current",
    least: float = 0.0,
    after: int = 0,
    limit: int = 50,
) -> list[Row]:
    """Return records ordered by id; `after` is the last id of the previous page."""
    rows = await source.fetch(RECORDS, domain_id, kind, state, least, after, limit)
    return [_plain(row) for row in rows]


async def record(source: Source, record_id: int) -> Row:
    """Return a record with the evidence of its fields and its history."""
    row = await source.fetchrow(RECORD, record_id)
    if row is None:
        raise NotFoundError(f"There is no record {record_id}.")
    found = _plain(row)
    data, proofs = found.pop("data"), found.pop("fields")
    found["fields"] = {
        name: {"value": value, **proofs.get(name, {})} for name, value in data.items()
    }
    found["history"] = [_plain(line) for line in await source.fetch(HISTORY, record_id)]
    return found


async def products(
    source: Source,
    *,
    domain_id: UUID | None = None,
    state: str | None = "current",
    availability: str | None = None,
    name: str | None = None,
    after: int = 0,
    limit: int = 50,
) -> list[Row]:
    """Return products ordered by id; `name` is searched in their names."""
    rows = await source.fetch(PRODUCTS, domain_id, state, availability, name, after, limit)
    return [_plain(row) for row in rows]


async def product(source: Source, product_id: int) -> Row:
    """Return a product with its price history and images."""
    row = await source.fetchrow(PRODUCT, product_id)
    if row is None:
        raise NotFoundError(f"There is no product {product_id}.")
    found = _plain(row)
    found["prices"] = [_plain(line) for line in await source.fetch(PRICES, product_id)]
    found["images"] = [_plain(line) for line in await source.fetch(IMAGES, product_id)]
    return found


def _plain(row: Any) -> Row:
    """Return a row with JSON parsed and decimals as numbers."""
    found = dict(row)
    for name, value in found.items():
        if value is not None and name in _JSON:
            found[name] = msgspec.json.decode(value)
        elif value is not None and name in _NUMBERS:
            found[name] = float(value)
    return found
