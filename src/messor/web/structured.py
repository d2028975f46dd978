"""Structured data within a page: JSON-LD, microdata, OpenGraph and embedded application state.

The result is plain JSON, as published: nothing is interpreted here. Every part is limited in size
and depth, and unreadable parts are left out.

`content.structured` reads the same markup for records, with the node of each value. The two are not
one because of what is stored, not because of speed (0.12 ms a page each, on 206 pages): `data_hash`
is over exactly this result, and a reader that mends malformed markup would report every page that
has some as changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from turbohtml import Document, Element, MicrodataItem

from messor.web.text import storable

MAX_SCRIPT = 1024 * 1024
MAX_SCRIPTS_TOTAL = 4 * MAX_SCRIPT
MAX_ITEMS = 2_000
MAX_DEPTH = 64

_JSON_TYPES = ("application/json", "text/json")
_STATE = re.compile(r"\s*(?:window|self|globalThis|var|let|const)?\s*[.\[]?\s*[\"']?__\w+__")
_WRAPPING = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>);?\s*$")
# itemref lets a few bytes cause a great deal of work.
_MAX_REFERENCE_WORK = 200_000


def read_structured(document: Document, metas: Sequence[Element]) -> dict[str, Any]:
    """All structured data of a page; absent formats have no key."""
    json_ld, state = _scripts(document)
    found = {
        "json_ld": json_ld,
        "opengraph": _opengraph(metas),
        "microdata": _microdata(document),
        "state": state,
    }
    return {name: value for name, value in found.items() if value}


def _opengraph(metas: Sequence[Element]) -> dict[str, str]:
    """By hand: the parser's own extraction costs a sixth of a page's reading."""
    found: dict[str, str] = {}
    for meta in metas:
        key = meta.attr("property") or meta.attr("name") or ""
        if key.startswith("og:"):
            found.setdefault(storable(key[3:]), storable(meta.attr("content") or ""))
    return found


def _scripts(document: Document) -> tuple[list[Any], dict[str, str]]:
    json_ld: list[Any] = []
    state: dict[str, str] = {}
    budget = MAX_SCRIPTS_TOTAL
    for script in document.select("script")[:MAX_ITEMS]:
        kind = (script.attr("type") or "").strip().lower()
        if script.attr("src") is not None:
            continue
        text = script.text
        if len(text) > MAX_SCRIPT or len(text) > budget:
            continue
        if kind.startswith("application/ld+json"):
            json_ld.extend(_parsed_json_ld(text))
        elif kind.startswith(_JSON_TYPES) or "__" in text[:64]:
            if kind and not kind.startswith(_JSON_TYPES) and "javascript" not in kind:
                continue
            name = _state_name(script, text, len(state))
            if name is None:
                continue
            state[name] = storable(text)
        else:
            continue
        budget -= len(text)
    return json_ld, state


def _state_name(script: Element, text: str, number: int) -> str | None:
    """The name of embedded state: its id, its variable, or its number."""
    name = script.attr("id")
    if name:
        return storable(name[:128])
    match = _STATE.match(text[:256])
    if match is not None:
        return match[0].strip().rpartition(".")[2].strip(" [\"'")
    return None if text.lstrip()[:1] not in ("{", "[") else f"json-{number}"


def _parsed_json_ld(text: str) -> list[Any]:
    try:
        value = _parsed_json(text)
    except (ValueError, RecursionError):
        return []
    value = storable_json(value)
    return value if isinstance(value, list) else [value]


def _parsed_json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        # Line breaks in strings and comment wrappers are common, and harmless.
        plain = _WRAPPING.sub("", text)
        return json.loads(plain, strict=False, parse_constant=lambda _: None)


def storable_json(value: Any, depth: int = MAX_DEPTH) -> Any:
    """JSON with storable strings, truncated below a depth."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, MicrodataItem):
        value = {"type": value.type, "id": value.id, "properties": value.properties}
    if isinstance(value, (dict, list)) and depth <= 0:
        return None
    if isinstance(value, dict):
        return {storable(key): storable_json(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [storable_json(item, depth - 1) for item in value]
    if isinstance(value, float) and value - value != 0:  # infinite: not a JSON number
        return None
    return value


def _microdata(document: Document) -> list[Any]:
    scopes = document.select("[itemscope]")
    if not scopes or len(scopes) > MAX_ITEMS or not _has_bounded_references(document):
        return []
    try:
        items = document.microdata()
    except RecursionError:
        return []
    return [storable_json(item) for item in items]


def _has_bounded_references(document: Document) -> bool:
    """Whether itemref neither chains nor multiplies: chains grow exponentially."""
    referring = document.select("[itemref]")
    if not referring:
        return True
    if len(referring) * len(document.select("[itemprop]")) > _MAX_REFERENCE_WORK:
        return False
    wanted = {name for element in referring for name in (element.attr("itemref") or "").split()}
    return not any(
        ancestor.attr("id") in wanted
        for element in referring
        for ancestor in (element, *_ancestors(element))
    )


def _ancestors(element: Element) -> list[Element]:
    return [node for node in element.ancestors if isinstance(node, Element)]
