"""How a reader of one kind makes its records: supported fields only, and a confidence over all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from messor.content.evidence import EvidencedField
from messor.content.items import PageItem
from messor.content.passages import Passage
from messor.content.records import Record

PARSER = "generic"
PARSER_VERSION = "1"

# How sure a statement is by where it stands.
STATED = 0.95  # in structured data
LINKED = 0.9  # in a link made for it
SHOWN = 0.75  # in visible text, by its form
GUESSED = 0.6  # in visible text, by its surroundings


def make(
    kind: str, found: Mapping[str, EvidencedField | None], *, needs: tuple[str, ...] = ()
) -> Record | None:
    """A record of the fields that are supported; None when one that it needs is not."""
    fields = {name: field for name, field in found.items() if field is not None}
    if not fields or any(name not in fields for name in needs):
        return None
    sure = [field.confidence for field in fields.values()]
    return Record(kind, sum(sure) / len(sure), PARSER, PARSER_VERSION, fields)


def said(
    item: PageItem | None, *names: str, normaliser: str = "text", confidence: float = STATED
) -> EvidencedField | None:
    """The field that the first useful property of an item supports."""
    if item is None:
        return None
    for name in names:
        for passage in item.texts(name):
            field = passage.field(normaliser, confidence)
            if field is not None:
                return field
    return None


def field_of(
    passage: Passage | None, normaliser: str = "text", confidence: float = SHOWN
) -> EvidencedField | None:
    return None if passage is None else passage.field(normaliser, confidence)


def distinct(records: list[Record]) -> list[Record]:
    """Records that say something no earlier one of their kind says."""
    seen: set[str] = set()
    kept = []
    for record in records:
        key = repr(sorted((name, repr(field.value)) for name, field in record.fields.items()))
        if key not in seen:
            seen.add(key)
            kept.append(record)
    return kept


def stated_or_shown(
    stated: Iterable[Record | None], shown: Callable[[], Record | None] | None
) -> list[Record]:
    """What structured data states; where it states nothing, what the visible page does, if asked."""
    found = [record for record in stated if record is not None]
    if not found and shown is not None and (record := shown()) is not None:
        found = [record]
    return distinct(found)
