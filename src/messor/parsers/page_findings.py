"""Extraction results of a page, in the form that crosses processes and is stored.

Each record has an identity within its kind and page, so that the next reading can be compared with
this one, and a hash of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from hashlib import sha256
from typing import Any

import msgspec

from messor.content.evidence import Evidence, EvidencedField
from messor.content.kinds import KINDS
from messor.content.records import Record
from messor.parsers.page_reading import PageExtraction
from messor.web.text import storable

MAX_IDENTITY = 200

_encode = msgspec.json.Encoder().encode
# Sorted, so that the hash does not depend on field order.
_encode_sorted = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.decode
_NUL = b"\\u0000"


class FoundRecord(msgspec.Struct, frozen=True, array_like=True):
    """A record with its identity and the hash of its values."""

    kind: str
    identity: str
    confidence: float
    parser: str
    parser_version: str
    data_json: str
    fields_json: str
    content_hash: bytes

    @property
    def data(self) -> dict[str, Any]:
        """Values by field."""
        found: dict[str, Any] = _decode(self.data_json)
        return found

    @property
    def fields(self) -> dict[str, Any]:
        """Confidence and evidence by field."""
        found: dict[str, Any] = _decode(self.fields_json)
        return found


class FoundPage(msgspec.Struct, frozen=True, array_like=True):
    """All results of one page; JSON columns are already encoded."""

    page_type: str
    page_type_confidence: float
    headline: str
    main_text: str
    markdown: str
    metadata_json: str
    flags_json: str
    warnings_json: str
    rejected_json: str
    is_read: bool  # whether the page could be read at all
    unread: list[str]  # kinds with an unknown result, because their parser failed
    records: list[FoundRecord]
    kinds: list[str] | None = None  # kinds looked for; None: all
    failed: list[str] = []  # parsers that failed, even if another parser replaced them

    @property
    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = _decode(self.metadata_json)
        return found

    @property
    def rejected(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = _decode(self.rejected_json)
        return found

    @property
    def warnings(self) -> list[str]:
        found: list[str] = _decode(self.warnings_json)
        return found

    @property
    def size(self) -> int:
        """Approximate number of characters to store."""
        return len(self.main_text) + len(self.markdown) + sum(map(_size, self.records))

    def has_asked_for(self, kind: str) -> bool:
        """Whether a record of this kind would have been found if the page had one."""
        return kind not in self.unread and (self.kinds is None or kind in self.kinds)


def _size(record: FoundRecord) -> int:
    return len(record.data_json) + len(record.fields_json)


def found_page(extraction: PageExtraction, kinds: Collection[str] | None = None) -> FoundPage:
    """Convert an extraction for storage; `kinds` were looked for, None means all."""
    return FoundPage(
        page_type=extraction.page_type.name,
        page_type_confidence=extraction.page_type.confidence,
        headline=extraction.main.headline,
        main_text=extraction.main.text,
        markdown=extraction.main.markdown,
        metadata_json=_stored(extraction.metadata.as_json())[1].decode(),
        flags_json=_listed([flag._asdict() for flag in extraction.flags]),
        warnings_json=_listed(extraction.warnings),
        rejected_json=_listed([each._asdict() for each in extraction.rejected]),
        is_read=bool(extraction.main.text) or not extraction.unread,
        unread=sorted(extraction.unread),
        records=found_records(extraction.records),
        kinds=None if kinds is None else sorted(kinds),
        failed=extraction.failed,
    )


def found_records(records: Iterable[Record]) -> list[FoundRecord]:
    """Return records with unique identities; duplicates are numbered."""
    found: list[FoundRecord] = []
    taken: dict[tuple[str, str], int] = {}
    for record in records:
        values, encoded = _stored(
            {name: each.value for name, each in record.fields.items()}, _encode_sorted
        )
        identity = identity_of(record.kind, values)
        number = taken[record.kind, identity] = taken.get((record.kind, identity), 0) + 1
        _, fields = _stored({name: _proof(each) for name, each in record.fields.items()})
        found.append(
            FoundRecord(
                record.kind,
                identity if number == 1 else f"{identity}#{number}",
                min(max(record.confidence, 0.0), 1.0),
                record.parser,
                record.parser_version,
                encoded.decode(),
                fields.decode(),
                sha256(encoded).digest(),
            )
        )
    return found


def _proof(field: EvidencedField) -> dict[str, Any]:
    return {"confidence": round(field.confidence, 3), "evidence": field.evidence}


def _listed(values: list[Any]) -> str:
    return _stored(values)[1].decode() if values else "[]"


def _stored(value: Any, encode: Callable[[Any], bytes] = _encode) -> tuple[Any, bytes]:
    """Return data that PostgreSQL accepts as JSON, and its encoding; few pages need cleaning."""
    try:
        encoded: bytes | None = encode(value)
    except (UnicodeEncodeError, TypeError):  # a lone surrogate, or a key that is not a string
        encoded = None
    if encoded is None or _NUL in encoded:
        value = clean(value)
        encoded = encode(value)
    return value, encoded


def identity_of(kind: str, data: dict[str, Any]) -> str:
    """Return the identity of a record within its kind and page."""
    declared = KINDS.get(kind)
    for names in declared.identity if declared else ():
        if not names:
            return ""
        if all(name in data for name in names):
            return _short(" | ".join(_text(data[name]) for name in names))
    return _short(_encode_sorted(data).decode())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _encode_sorted(value).decode()


def _short(text: str) -> str:
    if len(text) <= MAX_IDENTITY:
        return text
    return f"{text[: MAX_IDENTITY - 17]}~{sha256(text.encode()).hexdigest()[:16]}"


def clean(value: Any) -> Any:
    """Return data that PostgreSQL accepts as JSON."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(str(name)): clean(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean(each) for each in value]
    if isinstance(value, Evidence):
        return Evidence(clean(value.method), clean(value.quote), clean(value.path))
    return value
