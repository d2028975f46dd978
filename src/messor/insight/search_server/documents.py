"""Documents as a search server gets them, read where they are stored, and what may leave of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from messor.archive.text_records import Text
from messor.archive.texts import texts
from messor.insight.highlights import fold
from messor.insight.search_server.layout import key_of
from messor.rights.release import Purpose, release
from messor.store.database import Connection, Database

# The texts are those of `messor.search_words`, folded alike: a question finds the same words there.
# The fingerprint is that of the row: the server's copy has it as long as it is the same.
_COLUMNS = """
SELECT CASE WHEN d.record_id IS NULL THEN s.text_segment_id IS NOT NULL END AS is_archived,
       d.snapshot_id, d.id AS number, d.page_id, d.record_id, d.kind, d.config, n.domain AS domain_name, p.url,
       d.brand, d.category, d.price, d.currency, d.rating, d.availability,
       r.confidence::numeric AS confidence,
       q.id AS product_id, q.product_name, q.description,
       coalesce(q.created_at, r.first_seen, p.found_at) AS created_at,
       messor.fold(coalesce(left(d.title, 1000), '')) AS title,
       messor.fold(coalesce(left(CASE WHEN r.id IS NULL THEN s.description
                                      ELSE concat_ws(' ', d.brand, d.category) END, 5000), '')) AS about,
       messor.fold(coalesce(left(CASE WHEN r.id IS NULL THEN x.markdown ELSE (
         SELECT string_agg(v #>> '{}', E'\\n') FROM jsonb_path_query(r.data, '$.**') v
          WHERE jsonb_typeof(v) = 'string') END, 100000), '')) AS body,
       {fingerprint} AS fingerprint
"""
_FINGERPRINT = "md5(concat_ws('|', d.id, d.snapshot_id, extract(epoch FROM d.indexed_at)))"
_JOINS = """
  JOIN messor.domains n ON n.id = d.domain_id
  JOIN messor.pages p ON p.id = d.page_id
  LEFT JOIN messor.records r ON r.id = d.record_id
  LEFT JOIN messor.products q ON q.record_id = d.record_id
  LEFT JOIN messor.page_snapshots s ON s.id = d.snapshot_id AND d.record_id IS NULL
  LEFT JOIN messor.snapshot_texts x ON x.snapshot_id = d.snapshot_id AND d.record_id IS NULL
"""
_SELECT = _COLUMNS.replace("{fingerprint}", _FINGERPRINT)
BY_KEY = f"""{_SELECT}
  FROM unnest($1::bigint[], $2::bigint[]) AS g (page, record)
  JOIN messor.search_documents d ON d.page_id = g.page AND d.record_id IS NOT DISTINCT FROM g.record
{_JOINS}"""
AFTER = f"""{_SELECT}
  FROM (SELECT * FROM messor.search_documents WHERE id > $1 ORDER BY id LIMIT $2) d
{_JOINS} ORDER BY d.id"""
FINGERPRINTS = f"""
SELECT d.id, d.page_id, d.record_id, {_FINGERPRINT} AS fingerprint FROM messor.search_documents d
 WHERE d.id > $1 ORDER BY d.id LIMIT $2
"""
STANDING = f"""
SELECT d.page_id, d.record_id, {_FINGERPRINT} AS fingerprint
  FROM unnest($1::bigint[], $2::bigint[]) AS g (page, record)
  JOIN messor.search_documents d ON d.page_id = g.page AND d.record_id IS NOT DISTINCT FROM g.record
"""
MOST_CHARACTERS = 100_000  # of a text, as of those in PostgreSQL
INTEGER = 2**31 - 1  # greatest value of the specification's type of product_id

Key = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Document:
    """One document, and the page that it was read from."""

    number: int
    page_id: int
    record_id: int | None
    body: dict[str, Any]

    @property
    def key(self) -> str:
        return key_of(self.page_id, self.record_id)


async def documents_of(source: Connection | Database, keys: Sequence[Key]) -> list[Document]:
    """The documents of these keys that exist and may leave."""
    rows = await source.fetch(BY_KEY, [page for page, _ in keys], [record for _, record in keys])
    return await _released(source, rows)


async def documents_after(
    source: Connection | Database, last: int, limit: int
) -> tuple[list[Document], int | None]:
    """The next documents by number that may leave, and the last number read; None at the end."""
    rows = await source.fetch(AFTER, last, limit)
    return await _released(source, rows), rows[-1]["number"] if rows else None


async def _released(source: Connection | Database, rows: Sequence[Any]) -> list[Document]:
    archived = await texts(source, [row["snapshot_id"] for row in rows if row["is_archived"]])
    found = [_document(row, archived) for row in rows]
    return await release(source, Purpose.SEARCH, found, lambda one: one.page_id)


def _document(row: Any, archived: Mapping[int, Text]) -> Document:
    text = archived.get(row["snapshot_id"]) if row["is_archived"] else None
    content = row["body"] if text is None else fold(text.markdown[:MOST_CHARACTERS])
    product = row["product_id"]
    rating = row["rating"]
    body = {
        "key": key_of(row["page_id"], row["record_id"]),
        "number": row["number"],
        "fingerprint": row["fingerprint"],
        "kind": row["kind"],
        "config": row["config"],
        "page_id": row["page_id"],
        "record_id": row["record_id"],
        "domain_name": row["domain_name"],
        "url": row["url"],
        "brand": row["brand"],
        "category": row["category"],
        "price": row["price"],
        "currency": row["currency"],
        "rating": rating,
        "rating_floor": None if rating is None else int(rating // 1),
        "availability": row["availability"],
        "confidence": row["confidence"],
        "product_id": product if product is not None and product <= INTEGER else None,
        "product_name": row["product_name"],
        "description": row["description"],
        "created_at": row["created_at"],
        "text": {row["config"]: {"title": row["title"], "about": row["about"], "body": content}},
    }
    stated = {name: value for name, value in body.items() if value is not None}
    return Document(row["number"], row["page_id"], row["record_id"], stated)
