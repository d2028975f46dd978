"""Meta tags: OpenGraph and its product terms, Twitter cards and plain names."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

from turbohtml import Document, Element

MAX_METAS = 1_000

_NAMESPACES = {
    "og": "http://ogp.me/ns#", "music": "http://ogp.me/ns/music#",
    "video": "http://ogp.me/ns/video#", "article": "http://ogp.me/ns/article#",
    "book": "http://ogp.me/ns/book#", "profile": "http://ogp.me/ns/profile#",
}  # fmt: skip


class Meta(NamedTuple):
    """One meta tag with a name and content."""

    name: str
    content: str
    element: Element


def read_metas(document: Document) -> list[Meta]:
    """Return the meta tags with content by lower-case property, name or itemprop."""
    found: list[Meta] = []
    for element in document.select("meta[content]")[:MAX_METAS]:
        name = element.attr("property") or element.attr("name") or element.attr("itemprop")
        if name:
            content = (element.attr("content") or "").strip()
            found.append(Meta(name.strip().lower(), content, element))
    return found


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
