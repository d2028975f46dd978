"""Structured data in the shapes in which external cases and other readers write it down."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from turbohtml import Document

from messor.content.plain import one_space
from messor.content.structured.items import (
    MICRODATA,
    StructuredItem,
    Syntax,
    Value,
    all_items,
    marked_items,
)
from messor.content.structured.json_ld import JsonLiteral

MAX_METAS = 1_000
_MAX_DEPTH = 40
_NAMESPACES = {
    "og": "http://ogp.me/ns#", "music": "http://ogp.me/ns/music#",
    "video": "http://ogp.me/ns/video#", "article": "http://ogp.me/ns/article#",
    "book": "http://ogp.me/ns/book#", "profile": "http://ogp.me/ns/profile#",
}  # fmt: skip


def read_items(
    document: Document, base: str = "", syntax: Syntax = MICRODATA
) -> list[StructuredItem]:
    """Return the top-level items of a page."""
    return [item for item in marked_items(document, base, syntax) if not item.is_within]


def as_json(item: StructuredItem, *, lists: bool = True, depth: int = _MAX_DEPTH) -> dict[str, Any]:
    """Return an item as JSON; without `lists`, single values are not wrapped in a list."""
    found: dict[str, Any] = {}
    if item.types:
        found["type"] = item.types if lists or len(item.types) > 1 else item.types[0]
    if item.id:
        found["id"] = item.id
    found["properties"] = {}
    for name, values in item.properties.items():
        plain = [
            value.text if isinstance(value, Value) else as_json(value, lists=lists, depth=depth - 1)
            for value in values
            if isinstance(value, Value) or depth > 0
        ]
        found["properties"][name] = plain if lists or len(plain) != 1 else plain[0]
    return found


def flat_json(items: list[StructuredItem]) -> list[dict[str, Any]]:
    """Return all items as a flat list, numbered by `iid`; nested ones are referenced by `iid_ref`."""
    numbered = all_items(items)
    numbers = {id(item): number for number, item in enumerate(numbered, 1)}
    found: list[dict[str, Any]] = []
    for item in numbered:
        flat = as_json(StructuredItem(item.types, item.id, item.element))
        flat["iid"] = numbers[id(item)]
        flat["properties"] = {
            name: [
                value.text if isinstance(value, Value) else {"iid_ref": numbers[id(value)]}
                for value in values
            ]
            for name, values in item.properties.items()
        }
        found.append(flat)
    return found


def text_content(item: StructuredItem) -> str:
    """Return the text of the item's element, line by line."""
    lines = (one_space(line) for line in item.element.to_text().splitlines())
    return "\n".join(line for line in lines if line)


def read_opengraph(document: Document) -> list[dict[str, Any]]:
    """Return OpenGraph as published: namespaces and properties in order; empty if there is none."""
    names = dict(_declared(document))
    properties: list[tuple[str, str]] = []
    for element in document.select("head > meta[property][content]")[:MAX_METAS]:
        name, content = element.attr("property") or "", element.attr("content") or ""
        prefix = name.partition(":")[0]
        if prefix in _NAMESPACES:
            names[prefix] = _NAMESPACES[prefix]
        if prefix in names:
            properties.append((name, content))
    if not properties:
        return []
    return [{"namespace": names, "properties": properties}]


def _declared(document: Document) -> list[tuple[str, str]]:
    """Return the prefixes declared on the root or head, as `prefix="og: http://ogp.me/ns#"`."""
    found: list[tuple[str, str]] = []
    for tag in ("html", "head"):
        element = document.find(tag)
        words = ((element.attr("prefix") or "") if element is not None else "").split()
        found.extend((name.rstrip(":"), iri) for name, iri in pairwise(words) if name.endswith(":"))
    return found


def with_numbers(value: Any) -> Any:
    """JSON with numbers in place of their literals."""
    if isinstance(value, JsonLiteral):
        return json.loads(value)
    if isinstance(value, dict):
        return {name: with_numbers(each) for name, each in value.items()}
    return [with_numbers(each) for each in value] if isinstance(value, list) else value
