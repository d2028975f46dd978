"""Helpers to build records: supported fields only, with an overall confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from messor.content.evidence import EvidencedField, Passage
from messor.content.items import PageItem
from messor.content.records import Record

PARSER = "generic"
PARSER_VERSION = "1"

# Confidence of a statement by its source.
STATED = 0.95  # in structured data
LINKED = 0.9  # in a mailto:, tel: or profile link
VISIBLE = 0.75  # in visible text, recognised by its form
GUESSED = 0.6  # in visible text, inferred from its context


def make(
    kind: str, found: Mapping[str, EvidencedField | None], *, needs: tuple[str, ...] = ()
) -> Record | None:
    """Build a record of the supported fields; None if a required one is missing."""
    fields = {name: field for name, field in found.items() if field is not None}
    if not fields or any(name not in fields for name in needs):
        return None
    sure = [field.confidence for field in fields.values()]
    return Record(kind, sum(sure) / len(sure), PARSER, PARSER_VERSION, fields)


def property_field(
    item: PageItem | None, *names: str, normaliser: str = "text", confidence: float = STATED
) -> EvidencedField | None:
    """Return the field supported by the first usable property of an item."""
    if item is None:
        return None
    for name in names:
        for passage in item.texts(name):
            field = passage.field(normaliser, confidence)
            if field is not None:
                return field
    return None


def field_of(
    passage: Passage | None, normaliser: str = "text", confidence: float = VISIBLE
) -> EvidencedField | None:
    return None if passage is None else passage.field(normaliser, confidence)


def distinct(records: list[Record]) -> list[Record]:
    """Return the records without duplicates of an earlier one of their kind."""
    seen: set[str] = set()
    kept = []
    for record in records:
        key = repr(sorted((name, repr(field.value)) for name, field in record.fields.items()))
        if key not in seen:
            seen.add(key)
            kept.append(record)
    return kept


def stated_or_visible(
    stated: Iterable[Record | None], visible: Callable[[], Record | None] | None
) -> list[Record]:
    """Return the records of structured data; if there are none, those of the visible page."""
    found = [record for record in stated if record is not None]
    if not found and visible is not None and (record := visible()) is not None:
        found = [record]
    return distinct(found)
