"""JSON-LD: items that a page describes in scripts, with flattened graphs, and lenient JSON parsing.

Comments, trailing commas, wrappers and control characters are tolerated. Numbers stay
as written, so that a value can be found again in the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from turbohtml import Document, Element

from messor.content.spans import SourceText

MAX_VALUES = 200
MAX_OBJECT = 20_000

_WRAPPING = re.compile(
    r"^\s*(?:<!--.*?-->\s*|<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)"
    r"|(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/|\]\]>)[\s;]*$",
    re.DOTALL,
)
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\Z)'
# Strings are skipped; comments and trailing commas are removed.
_REPAIR = re.compile(
    rf"({_STRING})|//[^\n]*|/\*(?:.*?\*/|.*)|<!--(?:.*?-->|.*)|,(?=[\s,]{{0,8}}[}}\]])",
    re.DOTALL,
)
_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|(.))', re.DOTALL)
_SINGLE = r"'(?P<single>(?:[^'\\]|\\.)*+)'"
# Strings in double and other quotes, bare keys, comments, trailing commas.
_JS = re.compile(
    rf"(?P<kept>{_STRING})|{_SINGLE}|(?P<key>[A-Za-z_$][\w$]{{0,60}})(?P<colon>\s{{0,20}}:)"
    r"|//[^\n]*|/\*(?:.*?\*/|.*)|,(?=[\s,]{0,8}[}\]])",
    re.DOTALL,
)
_BRACKET = re.compile(rf"{_STRING}|'(?:[^'\\]|\\.)*+'|[{{}}\[\]]", re.DOTALL)
_BETWEEN = re.compile(r"[\s;,]*")
MAX_SCRIPT = 1024 * 1024
MAX_SCRIPTS = 200
MAX_NODES = 5_000
_MAX_DEPTH = 40


class JsonLiteral(str):
    """A number, true or false as written; it compares like its text."""

    __slots__ = ()


_DECODER = json.JSONDecoder(
    strict=False, parse_float=JsonLiteral, parse_int=JsonLiteral, parse_constant=lambda _: None
)


def read_json_values(text: str) -> list[Any]:
    """Return all consecutive JSON values in a text; invalid ones are skipped."""
    text = text.strip()
    try:
        return [_DECODER.decode(text)]
    except (ValueError, RecursionError):
        pass
    for attempt in (_unwrapped(text), _repaired(_unwrapped(text))):
        values = _consecutive(attempt)
        if values:
            return values
    return []


def raw_json(text: str, at: int) -> tuple[Any, int] | None:
    """Return the JSON value at a position and its end; None if there is none."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def raw_object(text: str, at: int) -> tuple[Any, int] | None:
    """Return the object literal of a script at a position, if it holds plain values only."""
    end = _closing(text, at)
    if end < 0:
        return None
    try:
        return _DECODER.decode(_JS.sub(_as_json, text[at:end])), end
    except (ValueError, RecursionError):
        return None


def _closing(text: str, at: int) -> int:
    """Return where the brackets opened at a position close, -1 if not within limits."""
    depth = 0
    for match in _BRACKET.finditer(text, at, at + MAX_OBJECT):
        sign = match[0]
        depth += (sign in "{[") - (sign in "}]")
        if depth <= 0 and sign in "}]":
            return match.end()
    return -1


def _as_json(match: re.Match[str]) -> str:
    if match["single"] is not None:
        return json.dumps(_BAD_ESCAPE.sub(r"\1\2", match["single"]))
    if match["key"] is not None:
        return f'"{match["key"]}"{match["colon"]}'
    return match[0] if match["kept"] else ""


def _consecutive(text: str) -> list[Any]:
    values: list[Any] = []
    at = 0
    while len(values) < MAX_VALUES:
        match = _BETWEEN.match(text, at)
        at = match.end() if match is not None else at
        if at >= len(text):
            break
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        values.append(value)
    return values


def _unwrapped(text: str) -> str:
    return _WRAPPING.sub("", _WRAPPING.sub("", text)).strip()


def _repaired(text: str) -> str:
    return _REPAIR.sub(lambda match: _mended(match[1]) if match[1] else "", text)


def _mended(string: str) -> str:
    return _BAD_ESCAPE.sub(lambda match: match[0] if match[1] else match[2], string)


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


def read_json_ld(document: Document) -> list[JsonLdScript]:
    """Return the JSON-LD scripts of a page; numbers stay as written."""
    found: list[JsonLdScript] = []
    for element in document.select("script[type]")[:MAX_SCRIPTS]:
        if "ld+json" not in (element.attr("type") or "").lower():
            continue
        text = element.text
        if len(text) <= MAX_SCRIPT:
            found.append(JsonLdScript(element, _flat(read_json_values(text))))
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
