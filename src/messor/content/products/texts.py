"""The short texts of a page's body, read lazily.

A text is visible if the last element that starts before it displays its text. All texts together
are cheap, visible or not; their nodes are inspected only if that matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import chain, islice

from turbohtml import Element, Node, Text

from messor.content.amounts import MONEY
from messor.content.products.words import mentions
from messor.core.lazy import lazy

MAX_LINES = 20_000
MAX_LINE = 300
MAX_SAID = 120

_UNSEEN = frozenset(("script", "style", "noscript", "template", "option", "textarea", "iframe"))
# Every amount of money has one of these.
_SIGN = re.compile(
    r"[$€£¥₹₽₺₴₩₪円元원]|[A-Z]{3}|kr|zł|Kč|Ft|lei|R[spM]|[Ee]uro|\u0440\u0443\u0431|грн"
)
_HEADINGS = frozenset(("h1", "h2"))

Line = tuple[str, Text]  # a short visible text and its node


class Texts:
    """The texts of a page's body, up to the maximum number of lines read."""

    def __init__(self, body: Element | None) -> None:
        self._body = body
        self._cut: list[Node] | None = None  # the nodes of a page that is not read to its end
        self._seen: dict[Node, bool] = {}
        self._coming: dict[Element | None, tuple[list[Line], Iterator[Line]]] = {}
        # Stripped, without the many that are only white space.
        self._stripped = [] if body is None else list(body.stripped_strings)
        if body is not None and len(self._stripped) >= MAX_LINES:
            self._cut = _up_to(MAX_LINES, list(body.descendants))
            self._stripped = self._strings()

    @lazy
    def all(self) -> list[str]:
        """All texts as written, visible or not; a space for those too long to be a line."""
        return [text if len(text) <= MAX_LINE else " " for text in self._strings()]

    def _strings(self) -> list[str]:
        if self._cut is not None:
            return [node.data for node in self._nodes]
        return [] if self._body is None else list(self._body.strings)

    @lazy
    def distinct(self) -> AbstractSet[str]:
        """The distinct short texts, visible or not, possibly with surrounding white space."""
        short = [
            text
            for text in self._stripped
            if len(text) <= MAX_SAID or (len(text) <= MAX_LINE and _is_loose(text))
        ]
        return set(short)  # a set is built from a list in half the time

    def times(self, texts: Iterable[str]) -> int:
        """Count the page's texts that are one of these, which are from `distinct`."""
        return sum(map(self._stripped.count, texts))

    @lazy
    def _nodes(self) -> list[Text]:
        """The text nodes."""
        if self._cut is not None:
            return [node for node in self._cut if type(node) is Text]
        if self._body is None:
            return []
        return [node for node in self._body.descendants if type(node) is Text]

    @lazy
    def amounts(self) -> AbstractSet[str]:
        """The distinct short texts with an amount of money, visible or not."""
        if not _SIGN.search("\n".join(self.distinct)):  # most pages
            return set()
        return {text.strip() for text in self.distinct if MONEY.search(text)}

    def money(self) -> list[Text]:
        """The nodes of visible short texts with an amount of money."""
        wanted = self.amounts
        if not wanted:
            return []
        return [n for n in self._nodes if n.data.strip() in wanted and self._is_seen(n)]

    def headings(self) -> list[Element]:
        """The h1 and h2 headings."""
        if self._body is None:
            return []
        if self._cut is None:
            return self._body.select("h1,h2")
        return [node for node in self._cut if type(node) is Element and node.tag in _HEADINGS]

    def hold(self, heading: Element) -> bool:
        """Whether a heading is within the texts read here."""
        body = self._body
        return body is not None and self._cut is None and body in heading.ancestors

    def after(self, heading: Element | None, limit: int) -> list[Line]:
        """Return the first lines from a heading on, or of the page; read further on demand."""
        if heading not in self._coming:
            self._coming[heading] = [], _lines(self._from(heading))
        lines, more = self._coming[heading]
        lines.extend(islice(more, max(0, limit - len(lines))))
        return lines[:limit]

    def _from(self, heading: Element | None) -> Iterable[Node]:
        if self._cut is not None:
            return self._cut[0 if heading is None else self._cut.index(heading) :]
        if heading is None:
            return () if self._body is None else self._body.descendants
        return chain(heading.descendants, heading.following)

    def before(self, heading: Element | None, limit: int) -> list[Line]:
        """Return the last lines before a heading."""
        found: list[Line] = []
        waiting: list[Line] = []  # for the element that starts before them
        for node in _backward(heading, self._body):
            if type(node) is Text:
                data = node.data
                if len(data) <= MAX_LINE and not data.isspace():
                    waiting.append((data.strip(), node))
            elif waiting and type(node) is Element:
                found += waiting if node.tag not in _UNSEEN else ()
                waiting = []
                if len(found) >= limit:
                    break
        return (found + waiting)[:limit][::-1]

    def is_seen(self, place: int) -> bool:
        """Whether the text at this index is visible."""
        return self._is_seen(self._nodes[place])

    def _is_seen(self, text: Text) -> bool:
        """Check visibility; the result is cached for the following texts up to the next element."""
        known = self._seen.get(text)
        for node in () if known is not None else _backward(text, self._body):
            known = node.tag not in _UNSEEN if type(node) is Element else self._seen.get(node)
            if known is not None:
                break
        self._seen[text] = known is not False
        return known is not False

    def following(self, place: int) -> str:
        """Return the line after a text; empty at the end."""
        texts = self.all
        for later in range(place + 1, len(texts)):
            text = texts[later].strip()
            if text and self.is_seen(later):
                return text
        return ""

    def mention(self, words: tuple[str, ...]) -> bool:
        """Whether a line contains one of these lower-case words."""
        low = "\n".join([text for text in self._stripped if len(text) <= MAX_LINE]).lower()
        present = [word for word in words if word in low]
        if not present:
            return False
        return any(
            mentions(text.lower(), present) and self.is_seen(place)
            for place, text in enumerate(self.all)
        )


def _is_loose(text: str) -> bool:
    """Whether a text has surrounding white space, so that its line is shorter."""
    return text[:1].isspace() or text[-1:].isspace()


def _up_to(limit: int, nodes: list[Node]) -> list[Node]:
    """Return the nodes up to the one with the last line within a limit."""
    last = next(islice(_lines(nodes), limit - 1, None), None)
    return nodes if last is None else nodes[: nodes.index(last[1]) + 1]


def _lines(nodes: Iterable[Node]) -> Iterator[Line]:
    """Yield the visible lines among nodes in page order."""
    unseen = False
    last: Element | None = None  # its tag is checked if a text follows
    for node in nodes:
        if type(node) is Text:
            if last is not None:
                unseen = last.tag in _UNSEEN
                last = None
            if not unseen:
                data = node.data
                line = data.strip()
                if line and len(data) <= MAX_LINE:
                    yield line, node
        elif type(node) is Element:
            last = node


def _backward(node: Node | None, root: Element | None) -> Iterator[Node]:
    """Yield the nodes before one within a root, nearest first."""
    while node is not None and node != root:
        before = node.previous_sibling
        if before is None:
            node = node.parent
        else:
            node = before
            while children := node.children:
                node = children[-1]
        if node is not None and node != root:
            yield node
