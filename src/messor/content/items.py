"""schema.org items of a page in any syntax: JSON-LD, microdata or RDFa.

All three have one interface: types, texts with literal quotes, and nested items. References by
`@id` are followed; every walk is bounded.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from messor.content.evidence import Passage
from messor.content.page import ParsedPage
from messor.content.structured import items as structured
from messor.core.lazy import lazy

MAX_ITEMS = 1_000
_MAX_DEPTH = 24
_SHORT = 4_000  # characters of one script

_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*+)"(\s*+:)?|(-?\d[\d.eE+\-]*+)', re.DOTALL)


class PageItem(ABC):
    """One item: its types without their vocabulary, and its property values."""

    types: frozenset[str]

    @abstractmethod
    def texts(self, name: str) -> list[Passage]:
        """Return the text values of a property."""

    @abstractmethod
    def items(self, name: str) -> list[PageItem]:
        """Return the items that are values of a property."""

    def text(self, *names: str) -> Passage | None:
        """Return the first text of the first of these properties that has one."""
        return next((found for name in names for found in self.texts(name)), None)

    def listed(self, name: str) -> Passage | None:
        """Return all values of a property as one passage, if they are adjacent in the source."""
        found = self.texts(name)
        return found[0] if len(found) == 1 else None

    def item(self, *names: str) -> PageItem | None:
        return next((found for name in names for found in self.items(name)), None)

    def is_a(self, types: frozenset[str]) -> bool:
        return not self.types.isdisjoint(types)


def _short(name: str) -> str:
    if name.isalpha():  # the usual spelling
        return name
    return name.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]


class _Script:
    """One JSON-LD script: its nodes by id, and where its literals are in the source."""

    def __init__(self, written: str, nodes: dict[str, dict[str, Any]]) -> None:
        self.nodes = nodes
        self._written = written
        self._known: dict[tuple[str, str], str] = {}  # literals as in the source
        self._unread = self._literals()
        # Nothing is escaped, and the script is small enough to search each time.
        self._is_plain = len(written) <= _SHORT and "\\" not in written

    def _literals(self) -> Iterator[tuple[str, str]]:
        """Yield each literal with the key before it."""
        known = self._known
        key = ""
        for match in _LITERAL.finditer(self._written):
            text, colon, number = match.groups()
            if colon is not None:
                key = text
                continue
            literal = (key, _decoded(text)) if number is None else (key, number)
            if literal not in known:
                known[literal] = number or text
                yield literal

    def literal(self, key: str, value: str) -> str | None:
        """Return the first literal after a key with this value, as in the source; scans lazily."""
        if self._is_plain and type(value) is str and '"' not in value and self._says(key, value):
            return value
        wanted = (key, value)
        written = self._known.get(wanted)
        if written is None and wanted in self._unread:
            written = self._known[wanted]
        return written

    def _says(self, key: str, value: str) -> bool:
        """Whether key and value occur in one of the two usual spellings, so that no literal has to
        be parsed.

        Without a backslash, every second quotation mark closes the one before it.
        """
        source = self._written
        for pair in (f'"{key}": "{value}"', f'"{key}":"{value}"'):
            at = source.find(pair)
            if at >= 0 and source.startswith((",", "}"), at + len(pair)):
                return source.count('"', 0, at) % 2 == 0
        return False

    def passage(self, key: str, value: object, path: str) -> Passage | None:
        if not isinstance(value, str) or not value.strip():
            return None
        written = self.literal(key, value)
        if written is None:
            return None
        return Passage("json_ld", written, path)

    def array(self, key: str, value: list[Any], path: str) -> Passage | None:
        """Return the content of an array of texts as in the source."""
        for match in re.finditer(rf'"{re.escape(key)}"\s*+:\s*+\[([^\[\]{{}}]*+)\]', self._written):
            if [_decoded(each[1]) for each in _LITERAL.finditer(match[1]) if each[1]] == value:
                return Passage("json_ld", match[1], path)
        return None


def _decoded(text: str) -> str:
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


class JsonItem(PageItem):
    """A JSON-LD item."""

    def __init__(self, node: dict[str, Any], script: _Script) -> None:
        self._node = node
        self._script = script
        named = node.get("@type")
        listed = named if isinstance(named, list) else [named]
        self.types = frozenset([_short(each) for each in listed if isinstance(each, str)])

    def _values(self, name: str) -> list[Any]:
        value = self._node.get(name)
        if value is None:
            value = self._node.get(f"schema:{name}")
        if isinstance(value, list):
            return value[:MAX_ITEMS]
        return [] if value is None else [value]

    def texts(self, name: str) -> list[Passage]:
        values = self._values(name)
        if not values:
            return []
        path = f"{'/'.join(sorted(self.types))}.{name}"
        found = []
        for each in values:
            key, value = name, each
            if isinstance(each, dict) and "@value" in each:
                key, value = "@value", each["@value"]
            passage = self._script.passage(key, value, path)
            if passage is not None:
                found.append(passage)
        return found

    def listed(self, name: str) -> Passage | None:
        value = self._node.get(name)
        if not isinstance(value, list) or len(value) < 2:
            return super().listed(name)
        return self._script.array(name, value, f"{'/'.join(sorted(self.types))}.{name}")

    def items(self, name: str) -> list[PageItem]:
        return [
            JsonItem(self._script.nodes.get(value.get("@id", ""), value), self._script)
            if isinstance(value.get("@id", ""), str) and len(value) == 1
            else JsonItem(value, self._script)
            for value in self._values(name)
            if isinstance(value, dict)
        ]


class TreeItem(PageItem):
    """A microdata or RDFa item: elements of the page."""

    def __init__(self, item: structured.StructuredItem, method: str, page: ParsedPage) -> None:
        self.types = frozenset(_short(each) for each in item.types)
        self._item = item
        self._method = method
        self._page = page

    @lazy
    def _properties(self) -> dict[str, list[structured.Value | structured.StructuredItem]]:
        found: dict[str, list[structured.Value | structured.StructuredItem]] = {}
        for name, values in self._item.properties.items():
            found.setdefault(_short(name), []).extend(values)
        return found

    def texts(self, name: str) -> list[Passage]:
        values = self._properties.get(name)
        if values is None:
            return []
        path = f"{'/'.join(sorted(self.types))}.{name}"
        found = [
            Passage(self._method, self._quote(value), path)
            for value in values
            if isinstance(value, structured.Value)
        ]
        return [passage for passage in found if passage.quote.strip()]

    def _quote(self, value: structured.Value) -> str:
        if value.attribute is None:
            return self._page.source.inside(value.element)
        return self._page.source.attribute(value.element, value.attribute)

    def items(self, name: str) -> list[PageItem]:
        return [
            TreeItem(value, self._method, self._page)
            for value in self._properties.get(name, ())
            if isinstance(value, structured.StructuredItem)
        ]


def json_items(page: ParsedPage) -> list[PageItem]:
    """Return the items of all JSON-LD scripts, including nested ones."""
    found: list[PageItem] = []
    for script in page.scripts:
        nodes = _nodes(script.values)
        named = {
            node["@id"]: node
            for node in nodes
            if isinstance(node.get("@id"), str) and len(node) > 1
        }
        shared = _Script(script.written(page.source) or script.element.text, named)
        found += [JsonItem(node, shared) for node in nodes[: MAX_ITEMS - len(found)]]
    return [item for item in found if item.types]


def tree_items(page: ParsedPage) -> list[PageItem]:
    """Return the items of microdata and RDFa, including nested ones."""
    return [
        TreeItem(item, syntax.name, page)
        for syntax in (structured.MICRODATA, structured.RDFA)
        for item in page.items(syntax)[:MAX_ITEMS]
        if item.types
    ]


def _nodes(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a document in document order, outer ones first."""
    found: list[dict[str, Any]] = []
    stack = [(value, 0)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, dict):
            found.append(value)
            value = list(value.values())
        if isinstance(value, list) and depth < _MAX_DEPTH:
            stack += [
                (each, depth + 1) for each in reversed(value) if isinstance(each, (dict, list))
            ]
    return found
