"""Licence marks: the licences that a page names for itself, in links, Dublin Core and schema.org."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from turbohtml import Document, Element

from messor.web.text import one_line

LICENCE = "license"
MAX_MARKS = 20
MAX_NODES = 200
_MAX_LENGTH = 500
_DUBLIN_CORE = frozenset(
    ("dc.rights", "dc.rights.license", "dc.license", "dcterms.license", "dcterms.rights")
)


def read_licences(
    document: Document,
    metas: Sequence[Element],
    structured: dict[str, Any],
    usage: list[tuple[str, str]],
) -> None:
    """Add the licences of a page to what it says about its use, each once."""
    found = dict.fromkeys(_named(document, metas, structured))
    usage += [(LICENCE, one_line(address, _MAX_LENGTH)) for address in list(found)[:MAX_MARKS]]


def _named(
    document: Document, metas: Sequence[Element], structured: dict[str, Any]
) -> Iterator[str]:
    for element in document.select("link[rel], a[rel]")[:1000]:
        if LICENCE in (element.attr("rel") or "").lower().split():
            yield element.attr("href") or ""
    for meta in metas:
        if (meta.attr("name") or meta.attr("property") or "").lower() in _DUBLIN_CORE:
            yield meta.attr("content") or ""
    for node in _nodes(structured.get("json_ld") or []):
        yield from _addresses(node.get(LICENCE))


def _nodes(values: list[Any]) -> Iterator[dict[str, Any]]:
    """The things that a page is about: those at the top, and of their graphs."""
    for value in values[:MAX_NODES]:
        if isinstance(value, dict):
            yield value
            graph = value.get("@graph")
            if isinstance(graph, list):
                yield from (one for one in graph[:MAX_NODES] if isinstance(one, dict))


def _addresses(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        address = (one.get("@id") or one.get("url")) if isinstance(one, dict) else one
        if isinstance(address, str):
            yield address
