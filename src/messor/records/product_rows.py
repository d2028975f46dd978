"""Product rows: what a page sells now, its price history and its images.

They are derived from the page's product record; until its page is read, from a card of a list that
links to it (`listed_rows`). `updated_at` changes only with the content; a missing price is not a
price of zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from messor.parsers.page_findings import FoundPage, FoundRecord
from messor.records import old_products
from messor.records.changes import Sighting
from messor.records.store import PRODUCT, StoredOutcome
from messor.store.database import Connection, sparse
from messor.web.urls import parse

IMAGE = "image"

# For an existing row, `old_price` is its previous price, or the last one in this currency if no
# price was stated meanwhile. Every change has a row in the prices, with `cause` parser for pages in
# $23 and person for those in $26; another parser may revise the price of a moment. A card never replaces what the product's own
# page says.
SET = """
WITH given AS (
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::uuid[], $5::text[],
         $6::bytea[], $7::text[], $8::text[], $9::numeric[], $10::text[], $11::text[],
         $12::numeric[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::text[],
         $18::bytea[], $19::jsonb[], $20::text[], $21::text[], $22::real[], $24::bigint[],
         $25::timestamptz[])
      AS g (record_id, page_id, snapshot_id, domain_id, url, url_hash, product_name, description,
            price, currency, availability, rating, review_count, brand, category, sku, gtin,
            content_hash, metadata, parser, parser_version, confidence, listing_page_id, seen_at)
), before AS (
  SELECT p.page_id, p.price, p.currency, p.availability FROM messor.products p
   WHERE p.page_id = ANY ($2::bigint[])
), written AS (
  INSERT INTO messor.products AS p (record_id, page_id, snapshot_id, domain_id, url, url_hash,
         product_name, description, price, currency, availability, rating, review_count, brand,
         category, sku, gtin, content_hash, metadata, parser, parser_version, confidence,
         listing_page_id, created_at, updated_at)
  SELECT g.*, g.seen_at FROM given g ORDER BY g.page_id
  ON CONFLICT (page_id) DO UPDATE
     SET record_id = excluded.record_id, snapshot_id = excluded.snapshot_id,
         product_name = excluded.product_name, description = excluded.description,
         price = excluded.price, currency = excluded.currency,
         availability = excluded.availability, rating = excluded.rating,
         review_count = excluded.review_count, brand = excluded.brand,
         category = excluded.category, sku = excluded.sku, gtin = excluded.gtin,
         metadata = excluded.metadata, parser = excluded.parser,
         parser_version = excluded.parser_version, confidence = excluded.confidence,
         listing_page_id = excluded.listing_page_id, state = 'current',
         updated_at = CASE WHEN p.content_hash = excluded.content_hash AND p.state = 'current'
                           THEN p.updated_at ELSE excluded.updated_at END,
         content_hash = excluded.content_hash
   WHERE excluded.listing_page_id IS NULL OR p.listing_page_id IS NOT NULL
  RETURNING id, page_id, snapshot_id, price, currency, availability
), told AS (
  SELECT w.*, g.seen_at, b.page_id IS NOT NULL AS was_known,
         CASE WHEN b.page_id IS NOT NULL AND b.price IS NULL AND w.price IS NOT NULL
              THEN (SELECT q.price FROM messor.product_prices q
                     WHERE q.product_id = w.id AND q.price IS NOT NULL
                       AND q.currency IS NOT DISTINCT FROM w.currency
                     ORDER BY q.seen_at DESC LIMIT 1) ELSE b.price END AS old_price,
         b.page_id IS NULL OR (w.price, w.currency, w.availability)
                              IS DISTINCT FROM (b.price, b.currency, b.availability) AS has_moved
    FROM written w JOIN given g ON g.page_id = w.page_id LEFT JOIN before b ON b.page_id = w.page_id
), priced AS (
  INSERT INTO messor.product_prices (product_id, page_id, snapshot_id, seen_at, price, currency,
                                     availability, cause)
  SELECT id, page_id, snapshot_id, seen_at, price, currency, availability,
         CASE WHEN page_id = ANY ($23::bigint[]) THEN 'parser'
              WHEN page_id = ANY ($26::bigint[]) THEN 'person' ELSE 'page' END
    FROM told WHERE has_moved AND (price IS NOT NULL OR availability IS NOT NULL)
  ON CONFLICT (product_id, seen_at) DO UPDATE
     SET price = excluded.price, currency = excluded.currency,
         availability = excluded.availability, cause = excluded.cause
)
SELECT page_id, id, was_known, old_price, price, currency FROM told
"""
REMOVE = """
UPDATE messor.products p SET state = 'removed', updated_at = g.seen_at
  FROM unnest($1::bigint[], $2::timestamptz[]) AS g (record_id, seen_at)
 WHERE p.record_id = g.record_id AND p.state = 'current'
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

# Fields with a column; all others are stored as metadata.
_COLUMNS = frozenset(
    ("product_name", "description", "price", "currency", "availability", "rating", "review_count",
     "brand", "category", "sku", "gtin")
)  # fmt: skip

_encode = msgspec.json.Encoder().encode


class PriceChange(NamedTuple):
    """A price change."""

    sighting: Sighting
    product_id: int
    before: Decimal
    after: Decimal
    currency: str | None


class ProductSource(NamedTuple):
    """A product's page, and the record it is read from with the id it is stored under."""

    sighting: Sighting
    page: FoundPage | None  # None for a card, which has no images
    record: FoundRecord
    record_id: int
    listing_page_id: int | None = None  # the page with the card


async def store(connection: Connection, outcomes: Sequence[StoredOutcome]) -> list[PriceChange]:
    """Store the products of pages whose records were just stored; returns price changes."""
    gone = [(o.sighting, r) for o in outcomes for r in o.changes.removed if r.kind == PRODUCT]
    if gone:
        await connection.execute(
            REMOVE, [record.id for _, record in gone], [sighting.seen_at for sighting, _ in gone]
        )
    return await write(
        connection, [product for outcome in outcomes for product in _products(outcome)]
    )


async def write(connection: Connection, products: Sequence[ProductSource]) -> list[PriceChange]:
    """Write products, at most one per page; returns price changes."""
    if not products:
        return []
    await old_products.restore(connection, [each.sighting.page_id for each in products])
    rows = {row["page_id"]: row for row in await connection.fetch(SET, *_columns(products))}
    await _store_images(connection, [each for each in products if each.page is not None], rows)
    return [
        PriceChange(each.sighting, row["id"], row["old_price"], row["price"], row["currency"])
        for each in products
        # No row: its own page has been read.
        if (row := rows.get(each.sighting.page_id)) is not None and _has_new_price(row)
    ]


def _has_new_price(row: Any) -> bool:
    old, new = row["old_price"], row["price"]
    return old is not None and new is not None and old != new


def _products(outcome: StoredOutcome) -> list[ProductSource]:
    """Return the product of a page: none or one."""
    page, ids = outcome.page, outcome.product_ids
    if page is None or not ids:
        return []
    first = next((record for record in page.records if record.kind == PRODUCT), None)
    if first is None:
        return []
    return [ProductSource(outcome.sighting, page, first, ids[PRODUCT, first.identity])]


def _columns(products: Sequence[ProductSource]) -> list[list[Any]]:
    seen = [product.sighting for product in products]
    records = [product.record for product in products]
    data = [record.data for record in records]
    columns: list[list[Any]] = [
        [product.record_id for product in products],
        [each.page_id for each in seen],
        [each.snapshot_id for each in seen],
        [each.domain_id for each in seen],
        [each.url for each in seen],
        [each.url_hash for each in seen],
        [_text(each.get("product_name")) for each in data],
        [_text(each.get("description")) for each in data],
        [number(each.get("price")) for each in data],
        [_text(each.get("currency")) for each in data],
        [_text(each.get("availability")) for each in data],
        [number(each.get("rating")) for each in data],
        [_whole(each.get("review_count")) for each in data],
        [_text(each.get("brand")) for each in data],
        [_text(each.get("category")) for each in data],
        [_text(each.get("sku")) for each in data],
        [_text(each.get("gtin")) for each in data],
        [record.content_hash for record in records],
        [_others(each) for each in data],
        [record.parser for record in records],
        [record.parser_version for record in records],
        [record.confidence for record in records],
        [each.page_id for each in seen if each.cause == "parser"],
        [product.listing_page_id for product in products],
        [each.seen_at for each in seen],
        [each.page_id for each in seen if each.cause == "person"],
    ]
    return list(map(sparse, columns))


async def _store_images(
    connection: Connection, products: Sequence[ProductSource], rows: dict[int, Any]
) -> None:
    """Store the images of products whose pages were read for images."""
    with_images = [each for each in products if each.page and each.page.has_asked_for(IMAGE)]
    ids = [rows[each.sighting.page_id]["id"] for each in with_images]
    images = [
        row for each, found in zip(with_images, ids, strict=True) for row in _images(each, found)
    ]
    known = [
        found
        for each, found in zip(with_images, ids, strict=True)
        if rows[each.sighting.page_id]["was_known"]
    ]
    if images or known:
        columns = [list(column) for column in zip(*images, strict=True)] or [[] for _ in range(7)]
        await connection.execute(IMAGES, *columns, known)


def _images(product: ProductSource, product_id: int) -> list[tuple[Any, ...]]:
    """Return the distinct images of a product as rows, each thumbnail at the place of its image."""
    base = product.sighting.url
    found: dict[str, dict[str, Any]] = {}
    for record in product.page.records if product.page else ():
        url = parse(str(record.data.get("url", "")), base) if record.kind == IMAGE else None
        if url is not None:
            found.setdefault(url.href, record.data)
    rows = {
        url: (url, _text(data.get("alt")), "gallery" if place else "primary", place)
        for place, (url, data) in enumerate(found.items())
    }
    for place, data in enumerate(found.values()):
        small = parse(str(data["thumbnail"]), base) if data.get("thumbnail") else None
        if small is not None:  # beside its image in the order
            rows.setdefault(small.href, (small.href, _text(data.get("alt")), "thumbnail", place))
    return [
        (product_id, product.sighting.page_id, url, sha256(url.encode()).digest(), alt, kind, place)
        for url, alt, kind, place in rows.values()
    ]


def number(value: Any) -> Decimal | None:
    """Return a number as written, None if it is not one."""
    try:
        made = Decimal(str(value)) if value is not None else None
    except InvalidOperation:
        return None
    return made if made is not None and made.is_finite() else None


def _whole(value: Any) -> int | None:
    made = number(value)
    return None if made is None or abs(made) >= 2**62 else int(made)


def _text(value: Any) -> str | None:
    if value is None or type(value) is str:
        return value
    return " > ".join(map(str, value)) if isinstance(value, list) else str(value)


def _others(data: dict[str, Any]) -> str:
    """Return the fields without a column as JSON."""
    left = {name: value for name, value in data.items() if name not in _COLUMNS}
    return _encode(left).decode() if left else "{}"
