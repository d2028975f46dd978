"""JSON-LD: items that a page describes in scripts, with flattened graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from turbohtml import Document, Element

from messor.content.spans import SourceText
from messor.content.structured.json_text import read_json_values

MAX_SCRIPT = 1024 * 1024
MAX_SCRIPTS = 200
MAX_NODES = 5_000
_MAX_DEPTH = 40


@dataclass(slots=True)
class JsonLdScript:
    """A JSON-LD script and its values; a top-level list is flattened."""

    element: Element
    values: list[Any]
    _written: str | None = None

    def written(self, source: SourceText) -> str:
        """Return the source between its tags, cached; empty if one is missing."""
        if self._written is None:
            self._written = source.inside(self.element)
        return self._written


def read_json_ld(document: Document, *, literal: bool = False) -> list[JsonLdScript]:
    """Return the JSON-LD scripts of a page; with `literal`, numbers stay as written."""
    found: list[JsonLdScript] = []
    for element in document.select("script[type]")[:MAX_SCRIPTS]:
        if "ld+json" not in (element.attr("type") or "").lower():
            continue
        text = element.text
        if len(text) <= MAX_SCRIPT:
            found.append(JsonLdScript(element, _flat(read_json_values(text, literal=literal))))
    return found


def nodes(value: Any, depth: int = _MAX_DEPTH) -> Iterator[dict[str, Any]]:
    """Yield all objects of a JSON value, outer ones first."""
    pending: list[tuple[Any, int]] = [(value, depth)]
    seen = 0
    while pending and seen < MAX_NODES:
        current, left = pending.pop()
        seen += 1
        if left <= 0:
            continue
        if isinstance(current, dict):
            yield current
            pending.extend((item, left - 1) for item in reversed(current.values()))
        elif isinstance(current, list):
            pending.extend((item, left - 1) for item in reversed(current))


def types_of(node: dict[str, Any]) -> list[str]:
    """Return the type names of a JSON-LD node, without their vocabulary."""
    given = node.get("@type") or node.get("type") or []
    names = given if isinstance(given, list) else [given]
    return [
        name.rstrip("/").rpartition("/")[2].rpartition(":")[2]
        for name in names
        if isinstance(name, str)
    ]


def _flat(values: list[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        flat.extend(value if isinstance(value, list) else [value])
    return flat
