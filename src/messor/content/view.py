"""The page as record readers see it: parsed once, everything else computed on demand.

The tree must be parsed with source locations; without them a quote is searched in the whole source.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from turbohtml import Element

from messor.content.dates import fold
from messor.content.evidence import Passage
from messor.content.items import PageItem, json_items, tree_items
from messor.content.lines import Line, lines_of, read_marks
from messor.content.lists import Lists
from messor.content.memory import Memory
from messor.content.page import ParsedPage
from messor.content.plain import one_space
from messor.content.visible_lines import BodyLines, VisibleLines, read_visible_lines
from messor.core.lazy import lazy
from messor.web.urls import parse

MAX_METAS = 1_000
MAX_ANCHORS = 5_000

Value = TypeVar("Value")


class PageView:
    """A page: its URL, decoded source, tree, and lazily computed views of them."""

    def __init__(self, page: ParsedPage) -> None:
        self.page = page
        self.url = page.url
        self.path = _path_of(page.url)  # including the query
        self.source = page.source
        self.document = page.document
        self.memory = page.memory
        self.lists = Lists(page.source, page.memory)
        self._known: dict[object, Any] = {}

    @classmethod
    def of(
        cls, source: str, url: str, *, may_die: bool = False, memory: Memory | None = None
    ) -> PageView:
        """Parse a page and return its view; `may_die` as for `ParsedPage.read`."""
        return cls(ParsedPage.read(source, url, may_die=may_die, memory=memory))

    def once(self, read: Callable[[PageView], Value]) -> Value:
        """Return what a reader finds on the page, read once and shared by other readers."""
        known = self._known
        if read not in known:
            known[read] = read(self)
        value: Value = known[read]
        return value

    @lazy
    def base(self) -> str:
        """The base URL of links."""
        for element in self.document.select("base[href]")[:8]:
            found = parse(element.attr("href") or "", self.url)
            return found.href if found else self.url
        return self.url

    @lazy
    def metas(self) -> dict[str, list[Element]]:
        """Meta elements by lower-case name or property."""
        found: dict[str, list[Element]] = {}
        for meta in self.document.select("meta[content]")[:MAX_METAS]:
            name = meta.attr("property") or meta.attr("name") or meta.attr("itemprop") or ""
            if not name:
                name = meta.attr("http-equiv") or ""
            found.setdefault(name.strip().lower(), []).append(meta)
        return found

    def has_meta(self, *names: str) -> bool:
        """Whether any of these meta elements has content."""
        return any(
            (element.attr("content") or "").strip()
            for name in names
            for element in self.metas.get(name, ())
        )

    def meta_text(self, *names: str) -> str:
        """Return the content of the first of these meta elements that has any; else empty."""
        for name in names:
            for element in self.metas.get(name, ()):
                value = element.attr("content") or ""
                if value.strip():
                    # Without escapes, the source need not be consulted.
                    if value.isprintable() and not _is_escaped(value):
                        return one_space(value)
                    return Passage("meta", self.source.attribute(element, "content")).text
        return ""

    @lazy
    def items(self) -> list[PageItem]:
        """All schema.org items, JSON-LD first."""
        return json_items(self.page) + tree_items(self.page)

    def items_of(self, types: frozenset[str]) -> list[PageItem]:
        return [item for item in self.items if item.is_a(types)]

    @lazy
    def types(self) -> frozenset[str]:
        """The types of all items."""
        return frozenset().union(*[item.types for item in self.items])

    @lazy
    def visible_lines(self) -> VisibleLines:
        """The visible text as columns, without line objects."""
        return read_visible_lines(self.document, self.lists)

    @lazy
    def body(self) -> BodyLines:
        """The lines outside navigation and footer."""
        return BodyLines(self.visible_lines)

    @lazy
    def lines(self) -> list[Line]:
        """The visible text as line objects."""
        return lines_of(self.visible_lines)

    @lazy
    def marks(self) -> list[str]:
        """The digits, @ and brackets of each line."""
        return read_marks(self.visible_lines.texts)

    @lazy
    def folded(self) -> str:
        """The visible text in lower case without accents, for word searches."""
        texts = self.visible_lines.texts
        whole = "\n".join(texts)
        # Otherwise line by line: ASCII lines cost next to nothing.
        return fold(whole) if whole.isascii() else "\n".join(map(fold, texts))

    @lazy
    def anchors(self) -> list[Element]:
        return self.document.select("a[href]")[:MAX_ANCHORS]

    @lazy
    def links(self) -> list[tuple[Element, str]]:
        """Anchors with their URLs as written."""
        return [(anchor, anchor.attr("href") or "") for anchor in self.anchors]

    def passage(self, line: Line, text: str | None = None) -> Passage:
        """Return a line, or a text within it, as a passage."""
        return Passage("html", line.quote(self.source, text), line.element.tag)

    def between(self, first: Line, last: Line) -> Passage:
        """Return consecutive lines as one passage; empty if the tags around them are missing."""
        begin, end = first.span(self.source)[0], last.span(self.source)[1]
        known = begin is not None and end is not None and begin < end
        return Passage("html", self.source.text[begin:end] if known else "", first.element.tag)

    def attribute(self, element: Element, name: str) -> Passage:
        """Return an attribute's value as a passage."""
        return Passage("html", self.source.attribute(element, name), f"{element.tag}@{name}")

    def inside(self, element: Element) -> Passage:
        """Return an element's content as a passage."""
        return Passage("html", self.source.inside(element), element.tag)


def host_of(url: str) -> str:
    """Return the host of an absolute URL, without its port."""
    return url.split("/", 3)[2].rpartition("@")[2].partition(":")[0] if "//" in url else ""


def _path_of(url: str) -> str:
    split = url.split("/", 3)
    return "/" + split[3].partition("#")[0] if len(split) > 3 else "/"


def _is_escaped(value: str) -> bool:
    """Whether the parser may have changed a text, or a reader would decode it."""
    return "&" in value or "<" in value or "\ufffd" in value
