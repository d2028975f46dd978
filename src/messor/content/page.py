"""A parsed page: its decoded text, its tree, and the source location of each node.

A node without a source location (made up by the parser) has no quote. Offsets are computed by
`spans`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from turbohtml import Document, Element

from messor.content.memory import Memory
from messor.content.spans import SourceText
from messor.content.structured.items import MICRODATA, RDFA, StructuredItem, Syntax, marked_items
from messor.content.structured.json_ld import JsonLdScript, read_json_ld
from messor.web.html import check_depth, check_size, parse_in_time

_CHUNK = 32_768
_PARSE_BUDGET_SECONDS = 0.25

# One walk over the tree for all of these. RDFa properties are on most pages, its items on few.
_MARKED = f"[{MICRODATA.scope}], [{RDFA.scope}], [{MICRODATA.property}]"


@dataclass(slots=True)
class ParsedPage:
    """One page: `html` is the decoded text, `document` its tree with source locations."""

    html: str
    url: str
    document: Document
    memory: Memory = field(default_factory=Memory, repr=False)
    source: SourceText = field(init=False, repr=False)
    _scripts: list[JsonLdScript] | None = field(default=None, init=False, repr=False)
    _marked: list[Element] | None = field(default=None, init=False, repr=False)
    _items: dict[str, list[StructuredItem]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.source = SourceText(self.html)

    @classmethod
    def read(
        cls, html: str, url: str = "", *, may_die: bool = False, memory: Memory | None = None
    ) -> ParsedPage:
        """Parse a page; raises TooComplexError if it is disproportionate.

        The nesting depth is not checked if this process `may_die`: its parent then knows the
        culprit and continues with other pages.
        """
        return cls(html, url, _parse(html, may_die=may_die), memory or Memory())

    @property
    def scripts(self) -> list[JsonLdScript]:
        """Return the page's JSON-LD, numbers as written; read once per page."""
        if self._scripts is None:
            self._scripts = read_json_ld(self.document)
        return self._scripts

    def items(self, syntax: Syntax) -> list[StructuredItem]:
        """Return the page's microdata or RDFa in page order; read once per page."""
        if syntax.name not in self._items:
            if self._marked is None:
                self._marked = self.document.select(_MARKED)
            scopes = [each for each in self._marked if each.attr(syntax.scope) is not None]
            named = None
            if syntax is MICRODATA:
                named = [each for each in self._marked if each.attr(syntax.property) is not None]
            self._items[syntax.name] = marked_items(self.document, "", syntax, scopes, named)
        return self._items[syntax.name]

    def inner(self, element: Element) -> str:
        """Return the source between an element's tags; empty if unknown."""
        return self.source.inside(element) or self._unclosed(element)

    def attribute(self, element: Element, name: str) -> str:
        """Return the source of an attribute's value; empty if there is none."""
        return self.source.attribute(element, name)

    def start(self, element: Element) -> int:
        """Return the offset of an element's start tag, -1 if it has none."""
        at = self.source.before(element, closing=False)
        return -1 if at is None else at

    def _unclosed(self, element: Element) -> str:
        """Return the text of an element without end tag, if it is contiguous in the source."""
        start = self.source.after(element, closing=False)
        text = element.text.strip()
        if start is None or not text:
            return ""
        return text if self.html.startswith(text, self._skip_space(start)) else ""

    def _skip_space(self, at: int) -> int:
        end = min(len(self.html), at + 200)
        while at < end and self.html[at].isspace():
            at += 1
        return at


def _parse(html: str, *, may_die: bool) -> Document:
    """Parse with source locations, within limits like those of `web.html.parse_document`."""
    check_size(html)
    if not may_die:
        check_depth(html)
    return parse_in_time(html, _PARSE_BUDGET_SECONDS, _CHUNK, source_locations=True)
