"""What was made of a page, in the form in which it crosses processes and is stored.

Each record has an identity that tells it from others of its kind on the same page, so that the
next reading of the page can be held against this one, and a hash of its values.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

import msgspec

from messor.extract.reading import Extraction
from messor.extract.records import Record
from messor.web.text import storable

MAX_IDENTITY = 200

# What tells records of a kind on one page apart, the first set that is stated whole. A page has one
# product, so that its name and its number may change and it stays the same.
_IDENTITIES: dict[str, tuple[tuple[str, ...], ...]] = {
    "product": ((),),
    "product_offer": (("sku", "seller"), ("sku",), ("seller",), ("url",), ("condition",)),
    "product_variant": (("sku",), ("gtin",), ("product_name", "color", "size"), ("color", "size"),
                        ("size",), ("color",), ("product_name",)),
    "image": (("url",),),
    "contact": (("email",), ("phone",), ("profile",), ("name", "role"), ("name",),
                ("form_action",), ("street", "locality")),
    "organisation": (("name",),),
    "opening_hours": (("days", "valid_from"), ("days",)),
    "offer": (("title",),),
    "call_to_action": (("label", "url"), ("label",)),
    "service": (("name",),),
    "price_item": (("name", "section"), ("name",)),
    "opportunity": (("title", "url"), ("title",)),
    "funding_program": (("name",),),
    "faq": (("question",),),
    "event": (("name", "start"),),
}  # fmt: skip

_encode = msgspec.json.Encoder(order="sorted").encode


class FoundRecord(msgspec.Struct, frozen=True):
    """A record with its identity and the hash of its values."""

    kind: str
    identity: str
    confidence: float
    parser: str
    parser_version: str
    data: dict[str, Any]  # values by field
    fields: dict[str, Any]  # confidence and evidence by field
    content_hash: bytes


class FoundPage(msgspec.Struct, frozen=True):
    """All that was made of one page."""

    page_type: str
    page_type_confidence: float
    headline: str
    main_text: str
    markdown: str
    metadata: dict[str, Any]
    flags: list[Any]
    warnings: list[str]
    rejected: list[Any]
    is_read: bool  # whether anything could be made of the page at all
    unread: list[str]  # kinds of which nothing is known, as their reader failed
    records: list[FoundRecord]


def found_page(extraction: Extraction) -> FoundPage:
    """An extraction in the form in which it is stored."""
    return FoundPage(
        page_type=extraction.page_type.name,
        page_type_confidence=extraction.page_type.confidence,
        headline=extraction.main.headline,
        main_text=extraction.main.text,
        markdown=extraction.main.markdown,
        metadata=clean(extraction.metadata.as_json()),
        flags=clean([flag._asdict() for flag in extraction.flags]),
        warnings=clean(extraction.warnings),
        rejected=clean([each._asdict() for each in extraction.rejected]),
        is_read=bool(extraction.main.text) or not extraction.unread,
        unread=sorted(extraction.unread),
        records=found_records(extraction.records),
    )


def found_records(records: Iterable[Record]) -> list[FoundRecord]:
    """Records with identities of their own; one that is taken is numbered."""
    found: list[FoundRecord] = []
    taken: dict[tuple[str, str], int] = {}
    for record in records:
        data = clean({name: field.value for name, field in record.fields.items()})
        identity = identity_of(record.kind, data)
        number = taken[record.kind, identity] = taken.get((record.kind, identity), 0) + 1
        fields = {name: field.as_json() for name, field in record.fields.items()}
        for field in fields.values():
            del field["value"]
        found.append(
            FoundRecord(
                record.kind,
                identity if number == 1 else f"{identity}#{number}",
                min(max(record.confidence, 0.0), 1.0),
                record.parser,
                record.parser_version,
                data,
                clean(fields),
                sha256(_encode(data)).digest(),
            )
        )
    return found


def identity_of(kind: str, data: dict[str, Any]) -> str:
    """What a record is called among those of its kind on its page."""
    for names in _IDENTITIES.get(kind, ()):
        if all(name in data for name in names):
            return _short(" | ".join(_said(data[name]) for name in names))
    return _short(_encode(data).decode())


def _said(value: Any) -> str:
    return value if isinstance(value, str) else _encode(value).decode()


def _short(text: str) -> str:
    if len(text) <= MAX_IDENTITY:
        return text
    return f"{text[: MAX_IDENTITY - 17]}~{sha256(text.encode()).hexdigest()[:16]}"


def clean(value: Any) -> Any:
    """JSON material that PostgreSQL takes."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(name)): clean(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean(each) for each in value]
    return value
