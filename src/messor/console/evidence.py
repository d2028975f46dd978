"""Fields of records as people read them: the value, how sure it is, and the quote that supports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote as quoted

import msgspec

from messor.content.evidence import JSON_SOURCES
from messor.content.plain import from_html, one_space
from messor.records.queries import TITLES

MOST_VALUE = 2_000  # characters that are shown
MOST_QUOTE = 240
LONG = 120
MOST_FOUND = 80  # characters of a text that a browser looks for
SOURCES = {
    "json_ld": "structured data",
    "state": "data in a script",
    "script": "a script",
    "meta": "a meta tag",
    "html": "the page's text",
}


@dataclass(frozen=True, slots=True)
class ShownField:
    """One field, ready to be drawn."""

    name: str
    value: str
    confidence: float | None
    quote: str  # its beginning, if it is long
    rest: str
    method: str
    path: str
    place: str  # the snapshot, at the quote where a browser can find it


def shown(fields: Mapping[str, Any], page_id: int, snapshot_id: int) -> list[ShownField]:
    """The fields of a record: what it is called first, long texts last."""
    place = f"/pages/{page_id}/snapshots/{snapshot_id}"
    made = [_field(name, fields[name], place) for name in sorted(fields, key=_rank)]
    return sorted(made, key=lambda one: len(one.value) > LONG)


def _rank(name: str) -> tuple[int, str]:
    return (TITLES.index(name) if name in TITLES else len(TITLES), name)


def _field(name: str, field: Mapping[str, Any], place: str) -> ShownField:
    proof = field.get("evidence") or {}
    literal, method = str(proof.get("quote", "")), str(proof.get("method", ""))
    source, _, how = method.partition(":")
    words = f"{SOURCES.get(source, source)}, as {how.replace('_', ' ')}" if how else source
    return ShownField(
        name.replace("_", " "),
        said(field.get("value")),
        field.get("confidence"),
        literal[:MOST_QUOTE],
        literal[MOST_QUOTE:],
        words,
        str(proof.get("path", "")),
        place if source in JSON_SOURCES else place + found_at(from_html(literal)),
    )


def said(value: Any) -> str:
    """A value as text: lists of words with commas, everything else that is no text as JSON."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        text = ", ".join(map(str, value))
    else:
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= MOST_VALUE else f"{text[:MOST_VALUE]}…"


def found_at(text: str) -> str:
    """The end of an address by which a browser shows a text where it stands; empty for none."""
    wanted = one_space(text)[:MOST_FOUND].strip()
    # A dash, a comma and an ampersand mean something there.
    return f"#:~:text={quoted(wanted, safe='').replace('-', '%2D')}" if wanted else ""


def tone(confidence: float | None) -> str:
    if confidence is None:
        return "secondary"
    return "green" if confidence >= 0.8 else "yellow" if confidence >= 0.5 else "orange"
