"""One page as the readers of records see it: parsed once, everything else made when asked for.

The tree has to be parsed with source locations; where they are missing a quote is looked for in
the whole source. What the parts mean is left to those who read them.
"""

from __future__ import annotations

from turbohtml import Element

from messor.content.dates import fold
from messor.content.items import PageItem, json_items, tree_items
from messor.content.lines import Line, lines_of, read_marks
from messor.content.lists import Lists
from messor.content.page import ParsedPage
from messor.content.passages import Passage
from messor.content.plain import one_space
from messor.content.visible_lines import VisibleLines, read_visible_lines
from messor.core.lazy import lazy
from messor.web.urls import parse

MAX_METAS = 1_000
MAX_ANCHORS = 5_000


class PageView:
    """A page: where it is, its decoded source, its tree, and what is read from them on demand."""

    def __init__(self, page: ParsedPage) -> None:
        self.page = page
        self.url = page.url
        self.path = _path_of(page.url)  # with its query
        self.source = page.source
        self.document = page.document
        self.lists = Lists(page.source)
        self.notes: dict[str, object] = {}  # what readers found and share with others

    @classmethod
    def of(cls, source: str, url: str, *, may_die: bool = False) -> PageView:
        """The view of a page that is parsed here, in a process that may or may not die of it."""
        return cls(ParsedPage.read(source, url, may_die=may_die))

    @lazy
    def base(self) -> str:
        """What links are relative to."""
        for element in self.document.select("base[href]")[:8]:
            found = parse(element.attr("href") or "", self.url)
            return found.href if found else self.url
        return self.url

    @lazy
    def metas(self) -> dict[str, list[Element]]:
        """Meta elements by name or property, in lower case."""
        found: dict[str, list[Element]] = {}
        for meta in self.document.select("meta[content]")[:MAX_METAS]:
            name = meta.attr("property") or meta.attr("name") or meta.attr("itemprop") or ""
            if not name:
                name = meta.attr("http-equiv") or ""
            found.setdefault(name.strip().lower(), []).append(meta)
        return found

    def has_meta(self, *names: str) -> bool:
        """Whether any of these meta elements says anything."""
        return any(
            (element.attr("content") or "").strip()
            for name in names
            for element in self.metas.get(name, ())
        )

    def meta_text(self, *names: str) -> str:
        """What the first of these meta elements says that says anything; nothing when none does."""
        for name in names:
            for element in self.metas.get(name, ()):
                value = element.attr("content") or ""
                if value.strip():
                    # Where nothing was or is escaped, the source need not be asked.
                    if value.isprintable() and not _is_escaped(value):
                        return one_space(value)
                    return Passage("meta", self.source.attribute(element, "content")).text
        return ""

    @lazy
    def items(self) -> list[PageItem]:
        """All items of schema.org, JSON-LD first."""
        return json_items(self.page) + tree_items(self.page)

    def items_of(self, types: frozenset[str]) -> list[PageItem]:
        return [item for item in self.items if item.is_a(types)]

    @lazy
    def types(self) -> frozenset[str]:
        """The types of all items."""
        return frozenset().union(*[item.types for item in self.items])

    @lazy
    def visible_lines(self) -> VisibleLines:
        """The visible text, for those who need no line as an object."""
        return read_visible_lines(self.document, self.lists)

    @lazy
    def lines(self) -> list[Line]:
        """The visible text."""
        return lines_of(self.visible_lines)

    @lazy
    def marks(self) -> list[str]:
        """Which digits, @ and brackets the lines hold."""
        return read_marks(self.visible_lines.texts)

    @lazy
    def folded(self) -> str:
        """The visible text in lower case without accents, for words to be looked for in."""
        texts = self.visible_lines.texts
        whole = "\n".join(texts)
        # Else line by line: those of plain letters cost next to nothing.
        return fold(whole) if whole.isascii() else "\n".join(map(fold, texts))

    @lazy
    def anchors(self) -> list[Element]:
        return self.document.select("a[href]")[:MAX_ANCHORS]

    @lazy
    def links(self) -> list[tuple[Element, str]]:
        """Anchors with their addresses as written."""
        return [(anchor, anchor.attr("href") or "") for anchor in self.anchors]

    def passage(self, line: Line, text: str | None = None) -> Passage:
        """A line, or a text within it, as a passage."""
        return Passage("html", line.quote(self.source, text), line.element.tag)

    def between(self, first: Line, last: Line) -> Passage:
        """Several lines in a row as one passage; nothing where the tags around them are missing."""
        begin, end = first.span(self.source)[0], last.span(self.source)[1]
        known = begin is not None and end is not None and begin < end
        return Passage("html", self.source.text[begin:end] if known else "", first.element.tag)

    def attribute(self, element: Element, name: str) -> Passage:
        """An attribute's value as a passage."""
        return Passage("html", self.source.attribute(element, name), f"{element.tag}@{name}")

    def inside(self, element: Element) -> Passage:
        """What an element holds, as a passage."""
        return Passage("html", self.source.inside(element), element.tag)


def _path_of(url: str) -> str:
    split = url.split("/", 3)
    return "/" + split[3].partition("#")[0] if len(split) > 3 else "/"


def _is_escaped(value: str) -> bool:
    """Whether the parser may have made a text of another, or a reader would make another of it."""
    return "&" in value or "<" in value or "\ufffd" in value
