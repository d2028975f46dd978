"""Record fields for display: the value, its confidence and the quote that supports it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote as quoted

import msgspec

from messor.content.evidence import JSON_SOURCES
from messor.content.plain import from_html, one_space
from messor.records.correction_queries import Correction
from messor.records.queries import FullRecord, Proof, RecordField
from messor.records.titles import title_fields

MAX_VALUE = 2_000  # characters shown
MAX_QUOTE = 240
LONG = 120
MAX_FRAGMENT = 80  # characters of a text fragment
SOURCES = {
    "json_ld": "structured data",
    "state": "script data",
    "script": "script",
    "meta": "meta tag",
    "html": "page text",
}


@dataclass(frozen=True, slots=True)
class DisplayField:
    """One field, ready for the template."""

    name: str
    value: str
    confidence: float | None
    quote: str  # the beginning of a long quote
    rest: str
    method: str
    path: str
    place: str  # URL of the snapshot, scrolled to the quote where possible
    key: str
    correction: Correction | None = None  # in force
    page_value: str = ""  # of a corrected field


def display_fields(record: FullRecord, made: Sequence[Correction] = ()) -> list[DisplayField]:
    """The fields of a record: titles first, long texts last; `made` are its corrections."""
    by_id = {one.id: one for one in made}
    place = f"/pages/{record.page_id}/snapshots/{record.snapshot_id}"
    titles = [name for name in title_fields(record.kind) if name in record.fields]
    names = dict.fromkeys((*titles, *sorted(record.fields)))
    shown = [_field(name, record.fields[name], place, by_id) for name in names]
    return sorted(shown, key=lambda one: len(one.value) > LONG)


def _field(
    name: str, field: RecordField, place: str, made: Mapping[int, Correction]
) -> DisplayField:
    note = field.correction
    evidence = field.evidence or Proof("", "")
    literal, method = evidence.quote, evidence.method
    source, _, how = method.partition(":")
    words = f"{SOURCES.get(source, source)}, as {how.replace('_', ' ')}" if how else source
    return DisplayField(
        name.replace("_", " "),
        as_text(field.value),
        None if note else field.confidence,
        literal[:MAX_QUOTE],
        literal[MAX_QUOTE:],
        words,
        evidence.path,
        place if source in JSON_SOURCES else place + text_fragment(from_html(literal)),
        name,
        made.get(note.id) if note else None,
        as_text(note.page_value) if note else "",
    )


def as_text(value: Any) -> str:
    """Format a value: lists of scalars joined by commas, other structures as JSON."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        text = ", ".join(map(str, value))
    else:
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def text_fragment(text: str) -> str:
    """URL text fragment that scrolls to the quote; empty without one."""
    wanted = one_space(text)[:MAX_FRAGMENT].strip()
    # Dash, comma and ampersand have a special meaning in text fragments.
    return f"#:~:text={quoted(wanted, safe='').replace('-', '%2D')}" if wanted else ""


def tone(confidence: float | None) -> str:
    if confidence is None:
        return "secondary"
    return "green" if confidence >= 0.8 else "yellow" if confidence >= 0.5 else "orange"
