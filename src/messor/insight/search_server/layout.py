"""The index at a search server: settings and mapping, and the names of its parts.

`product_id`, `product_name`, `description`, `brand`, `category`, `domain_name` and `created_at` are
as specification 001 prints them. Texts are analysed in the language of the document, under the name
of PostgreSQL's configuration for it.
"""

from __future__ import annotations

from typing import Any

# PostgreSQL's configurations, and what analyses them at the server; the others are not stemmed there.
ANALYZERS: dict[str, str] = {
    name: name
    for name in (
        "arabic", "armenian", "basque", "catalan", "danish", "dutch", "english", "finnish", "french",
        "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "lithuanian",
        "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "turkish",
    )
}  # fmt: skip
UNSTEMMED = ("nepali", "serbian", "simple", "tamil", "yiddish")
PARTS = ("title", "about", "body")
MAX_ID_BYTES = 512

PRODUCTS: dict[str, Any] = {
    "product_id": {"type": "integer"},
    "product_name": {"type": "text", "analyzer": "standard"},
    "description": {"type": "text", "analyzer": "standard"},
    "brand": {"type": "keyword"},
    "category": {"type": "keyword"},
    "domain_name": {"type": "keyword"},
    "created_at": {"type": "date"},
}
DOCUMENTS: dict[str, Any] = {
    "key": {"type": "keyword"},
    "number": {"type": "long"},  # of the search document; the last criterion of the order
    "fingerprint": {"type": "keyword"},  # compared by the drift check
    "kind": {"type": "keyword"},
    "config": {"type": "keyword"},
    "page_id": {"type": "long"},
    "record_id": {"type": "long"},
    "url": {"type": "keyword", "index": False, "doc_values": False},
    "price": {"type": "double"},
    "currency": {"type": "keyword"},
    "rating": {"type": "double"},
    "rating_floor": {"type": "integer"},
    "confidence": {"type": "double"},  # of a record
    "availability": {"type": "keyword"},
}


def index_body() -> dict[str, Any]:
    """What an index is created with; it is refreshed once it is filled."""
    return {
        "settings": {"index": {"refresh_interval": "-1"}},
        "mappings": {
            "dynamic": False,
            "properties": {**PRODUCTS, **DOCUMENTS, "text": {"properties": _texts()}},
        },
    }


def _texts() -> dict[str, Any]:
    analyzers = ANALYZERS | dict.fromkeys(UNSTEMMED, "standard")
    return {
        config: {"properties": {part: {"type": "text", "analyzer": name} for part in PARTS}}
        for config, name in sorted(analyzers.items())
    }


def key_of(page_id: int, record_id: int | None) -> str:
    """The id of a document at the server; it stays the same when its row is made anew."""
    key = f"page-{page_id}" if record_id is None else f"page-{page_id}-record-{record_id}"
    assert len(key.encode()) <= MAX_ID_BYTES
    return key


def parts_of(key: str) -> tuple[int, int | None]:
    """The page and the record of an id."""
    _, page, *record = key.split("-")
    return int(page), int(record[1]) if record else None
