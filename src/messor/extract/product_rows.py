"""The rows of products: what a page sells as it stands now, its prices over time, its images.

They follow from the page's product record. `updated_at` moves only when its content did; a price
that a page does not state is not a price of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from messor.extract.changes import Sighting
from messor.extract.found import FoundRecord
from messor.extract.store import Outcome
from messor.store.database import Connection
from messor.web.urls import parse

# Of a row that was there before, `old_…` tell what it said.
SET = """
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::uuid[], $5::text[],
         $6::bytea[], $7::text[], $8::text[], $9::numeric[], $10::text[], $11::text[],
         $12::numeric[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::text[],
         $18::bytea[], $19::jsonb[], $20::text[], $21::text[], $22::timestamptz[])
      AS g (record_id, page_id, snapshot_id, domain_id, url, url_hash, product_name, description,
            price, currency, availability, rating, review_count, brand, category, sku, gtin,
            content_hash, metadata, parser, parser_version, seen_at)
), before AS (
  SELECT p.page_id, p.price, p.currency, p.availability FROM messor.products p
    JOIN given g ON g.page_id = p.page_id
), written AS (
  INSERT INTO messor.products AS p (record_id, page_id, snapshot_id, domain_id, url, url_hash,
         product_name, description, price, currency, availability, rating, review_count, brand,
         category, sku, gtin, content_hash, metadata, parser, parser_version, created_at, updated_at)
  SELECT g.*, g.seen_at FROM given g ORDER BY g.page_id
  ON CONFLICT (page_id) DO UPDATE
     SET record_id = excluded.record_id, snapshot_id = excluded.snapshot_id,
         product_name = excluded.product_name, description = excluded.description,
         price = excluded.price, currency = excluded.currency,
         availability = excluded.availability, rating = excluded.rating,
         review_count = excluded.review_count, brand = excluded.brand,
         category = excluded.category, sku = excluded.sku, gtin = excluded.gtin,
         metadata = excluded.metadata, parser = excluded.parser,
         parser_version = excluded.parser_version, state = 'current',
         updated_at = CASE WHEN p.content_hash = excluded.content_hash AND p.state = 'current'
                           THEN p.updated_at ELSE excluded.updated_at END,
         content_hash = excluded.content_hash
  RETURNING id, page_id
)
SELECT w.id, w.page_id, b.page_id IS NOT NULL AS was_known, b.price AS old_price,
       b.currency AS old_currency, b.availability AS old_availability
  FROM written w LEFT JOIN before b ON b.page_id = w.page_id
"""
REMOVE = """
UPDATE messor.products p SET state = 'removed', updated_at = g.seen_at
  FROM unnest($1::bigint[], $2::timestamptz[]) AS g (record_id, seen_at)
 WHERE p.record_id = g.record_id AND p.state = 'current'
"""
# Read again by another parser, a moment's price may turn out to have been another.
PRICES = """
INSERT INTO messor.product_prices (product_id, page_id, snapshot_id, seen_at, price, currency,
                                   availability, cause)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::numeric[],
                     $6::text[], $7::text[], $8::text[])
ON CONFLICT (product_id, seen_at) DO UPDATE
   SET price = excluded.price, currency = excluded.currency,
       availability = excluded.availability, cause = excluded.cause
"""
IMAGES = """
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[], $5::text[], $6::text[],
                       $7::int[])
      AS g (product_id, page_id, image_url, url_hash, alt_text, image_type, position)
), gone AS (
  DELETE FROM messor.product_images i WHERE i.product_id = ANY ($8::bigint[])
     AND NOT EXISTS (SELECT FROM given g
                      WHERE g.product_id = i.product_id AND g.url_hash = i.url_hash)
)
INSERT INTO messor.product_images AS i (product_id, page_id, image_url, url_hash, alt_text,
                                        image_type, position)
SELECT * FROM given
ON CONFLICT (product_id, url_hash) DO UPDATE
   SET alt_text = coalesce(excluded.alt_text, i.alt_text), image_type = excluded.image_type,
       position = excluded.position
 WHERE (i.image_type, i.position) IS DISTINCT FROM (excluded.image_type, excluded.position)
    OR excluded.alt_text IS DISTINCT FROM i.alt_text
"""

# Fields that are columns; all others are kept as metadata.
_COLUMNS = frozenset(
    ("product_name", "description", "price", "currency", "availability", "rating", "review_count",
     "brand", "category", "sku", "gtin")
)  # fmt: skip

_encode = msgspec.json.Encoder().encode


class PriceChange(NamedTuple):
    """A price that became another."""

    sighting: Sighting
    product_id: int
    before: Decimal
    after: Decimal
    currency: str | None


class _Product(NamedTuple):
    """A page's product record, with the id under which it is stored."""

    outcome: Outcome
    record: FoundRecord
    record_id: int

    @property
    def money(self) -> tuple[Decimal | None, str | None, str | None]:
        data = self.record.data
        return number(data.get("price")), _text(data, "currency"), _text(data, "availability")


async def store(connection: Connection, outcomes: Sequence[Outcome]) -> list[PriceChange]:
    """Write the products of pages whose records were just stored; answers prices that changed."""
    gone = [(o.sighting, r) for o in outcomes for r in o.changes.removed if r.kind == "product"]
    if gone:
        await connection.execute(
            REMOVE, [record.id for _, record in gone], [sighting.seen_at for sighting, _ in gone]
        )
    products = [product for outcome in outcomes for product in _products(outcome)]
    if not products:
        return []
    rows = {row["page_id"]: row for row in await connection.fetch(SET, *_columns(products))}
    await _store_images(connection, products, {page: row["id"] for page, row in rows.items()})
    return await _store_prices(connection, products, rows)


def _products(outcome: Outcome) -> list[_Product]:
    """The product of a page, none or one."""
    changes = outcome.changes
    ids = dict(outcome.new_ids)
    for known, _ in changes.same:
        ids[known.kind, known.identity] = known.id
    for each in changes.changed:
        ids[each.known.kind, each.known.identity] = each.known.id
    records = outcome.page.records if outcome.page else []
    found = [record for record in records if record.kind == "product"][:1]
    return [_Product(outcome, record, ids[record.kind, record.identity]) for record in found]


def _columns(products: Sequence[_Product]) -> list[list[Any]]:
    seen = [product.outcome.sighting for product in products]
    data = [product.record.data for product in products]
    records = [product.record for product in products]
    return [
        [product.record_id for product in products],
        [each.page_id for each in seen],
        [each.snapshot_id for each in seen],
        [each.domain_id for each in seen],
        [each.url for each in seen],
        [each.url_hash for each in seen],
        [_text(each, "product_name") for each in data],
        [_text(each, "description") for each in data],
        [number(each.get("price")) for each in data],
        [_text(each, "currency") for each in data],
        [_text(each, "availability") for each in data],
        [number(each.get("rating")) for each in data],
        [_whole(each.get("review_count")) for each in data],
        [_text(each, "brand") for each in data],
        [_text(each, "category") for each in data],
        [_text(each, "sku") for each in data],
        [_text(each, "gtin") for each in data],
        [record.content_hash for record in records],
        [_encode(_others(each)).decode() for each in data],
        [record.parser for record in records],
        [record.parser_version for record in records],
        [each.seen_at for each in seen],
    ]


async def _store_prices(
    connection: Connection, products: Sequence[_Product], rows: dict[int, Any]
) -> list[PriceChange]:
    moved, changes = [], []
    for product in products:
        sighting = product.outcome.sighting
        row = rows[sighting.page_id]
        before = row["old_price"], row["old_currency"], row["old_availability"]
        price, currency, availability = product.money
        if (row["was_known"] and before == product.money) or (price, availability) == (None, None):
            continue
        moved.append((product, row["id"]))
        old = row["old_price"]
        if price is not None and old is not None and price != old:
            changes.append(PriceChange(sighting, row["id"], old, price, currency))
    if moved:
        money = [product.money for product, _ in moved]
        seen = [product.outcome.sighting for product, _ in moved]
        await connection.execute(
            PRICES,
            [product_id for _, product_id in moved],
            [each.page_id for each in seen],
            [each.snapshot_id for each in seen],
            [each.seen_at for each in seen],
            [price for price, _, _ in money],
            [currency for _, currency, _ in money],
            [availability for _, _, availability in money],
            [each.cause for each in seen],
        )
    return changes


async def _store_images(
    connection: Connection, products: Sequence[_Product], ids: dict[int, int]
) -> None:
    images = [image for product in products for image in _images(product, ids)]
    columns = [list(column) for column in zip(*images, strict=True)] or [[] for _ in range(7)]
    await connection.execute(IMAGES, *columns, list(ids.values()))


def _images(product: _Product, ids: dict[int, int]) -> list[tuple[Any, ...]]:
    """The images of a product, each address once, as rows."""
    sighting, page = product.outcome.sighting, product.outcome.page
    found: dict[str, FoundRecord] = {}
    for record in page.records if page else []:
        url = parse(str(record.data.get("url", "")), sighting.url)
        if record.kind == "image" and url is not None:
            found.setdefault(url.href, record)
    return [
        (
            ids[sighting.page_id],
            sighting.page_id,
            url,
            sha256(url.encode()).digest(),
            _text(record.data, "alt"),
            "gallery" if place else "primary",
            place,
        )
        for place, (url, record) in enumerate(found.items())
    ]


def number(value: Any) -> Decimal | None:
    """A number as it was written, None when it is none."""
    try:
        made = Decimal(str(value)) if value is not None else None
    except InvalidOperation:
        return None
    return made if made is not None and made.is_finite() else None


def _whole(value: Any) -> int | None:
    made = number(value)
    return None if made is None or abs(made) >= 2**62 else int(made)


def _text(data: dict[str, Any], name: str) -> str | None:
    value = data.get(name)
    if isinstance(value, list):
        value = " > ".join(map(str, value))
    return None if value is None else str(value)


def _others(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in _COLUMNS}
