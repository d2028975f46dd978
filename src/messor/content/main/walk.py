"""The single walk over a page's tree that finds its boxes and blocks.

It visits every node of every page, so its loop is written for speed: everything it needs is in
locals, an element's tag is looked up once, and an element that holds only a text is read on the
spot. What happens less often than once per node is left to methods. It does not decide what is
content.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from turbohtml import Document, Element, Text

from messor.content.lists import TAGS as LISTS
from messor.content.lists import Lists
from messor.content.main.blocks import (
    BREAK,
    KINDS,
    LONG,
    MAX_BLOCKS,
    MAX_BOXES,
    Layout,
    Mark,
    collapsed,
)
from messor.content.main.hints import APART, BY_TAG, Names, declared_hints
from messor.content.main.items import Items
from messor.web.elements import BLOCKS, CELLS, SECTIONS

# Elements without visible text inside.
_UNSEEN = (
    "audio", "button", "canvas", "datalist", "embed", "head", "iframe", "input", "link",
    "map", "meta", "noembed", "noframes", "noscript", "object", "script", "select", "source",
    "style", "svg", "template", "textarea", "title", "track", "video", "wbr",
)  # fmt: skip
# The frame of a site, without content.
_FRAME = ("nav", "footer")
# Their names describe the type of page, not a part of it.
_ALL = ("html", "body")
_BOXES = (*BLOCKS, *CELLS, *SECTIONS, "dd", "dt", "hr", "legend", "li", "table", "tr")
_MARKS = {
    "a": "a", "b": "strong", "strong": "strong", "em": "em", "i": "em", "code": "code",
    "kbd": "code", "samp": "code", "tt": "code",
}  # fmt: skip

# Effect of an element on the text around it.
_IMAGE: Final = -1  # noted, for the renderer
_PASSED_OVER: Final = 0
_BREAKS: Final = 1
_HOLDS_ALL: Final = 2
_APART: Final = 3  # an inline element that is a box because of its hints
_BOX: Final = 4
_INLINE: Final = 5
_MARK: Final = 6
# How a box was opened; positive numbers count the nodes that were read with it.
_READ: Final = 0
_ENTERED: Final = -1
_LAST: Final = -2

_Role = tuple[int, str, int]  # effect; kind of block or mark; hints
_CUSTOM: _Role = (_BOX, "", 0)
_PLAIN: _Role = (_INLINE, "", 0)
_WHOLE: dict[str, _Role] = {
    **{tag: (_BOX, tag if tag in KINDS else "", BY_TAG.get(tag, 0)) for tag in _BOXES},
    **dict.fromkeys(_ALL, (_HOLDS_ALL, "", 0)),
    **dict.fromkeys(_UNSEEN, (_PASSED_OVER, "", 0)),
    **{tag: (_MARK, mark, 0) for tag, mark in _MARKS.items()},
    "br": (_BREAKS, "", 0),
    "img": (_IMAGE, "", 0),
    "amp-img": (_IMAGE, "", 0),
}
_FRAMED: dict[str, _Role] = _WHOLE | dict.fromkeys(_FRAME, (_PASSED_OVER, "", 0))
_LAST_BOX = MAX_BOXES - 1


def read_layout(
    root: Document | Element, lists: Lists | None = None, *, whole: bool = False
) -> Layout:
    """Return the boxes and blocks of a page or part of it; `whole` includes its frame."""
    lists = lists or Lists()
    roles, known = (_WHOLE, None) if whole else (_FRAMED, lists)  # items hold no frame
    walk = _Walk(root, roles, lists.memory.part(Names), known)
    walk.run(root)
    walk.layout.blocks.sizes = list(map(len, walk.layout.blocks.texts))
    return walk.layout


class _Walk:
    """The state of a walk: the layout so far, and the block that is being read."""

    __slots__ = (
        "_begun", "_box_hints", "_boxes", "_declared", "_items", "_linked", "_marks", "_names", "_numbers",
        "_open", "_pieces", "_roles", "_spans", "_texts", "_within", "is_full", "layout",
    )  # fmt: skip

    def __init__(
        self,
        root: Document | Element,
        roles: dict[str, _Role],
        names: Names,
        lists: Lists | None,
    ) -> None:
        self.layout = Layout()
        self.is_full = False
        self._boxes = self.layout.boxes
        self._texts = self.layout.blocks.texts
        self._roles = roles
        self._names = names
        self._declared, self._box_hints, self._spans, self._numbers = declared_hints(root, names)
        self._items = Items(self.layout, lists)
        self._open: list[tuple[str, str]] = []  # open marks, outermost first
        self._begun: list[int] = []  # the pieces they start with
        self._within = dict.fromkeys(_MARKS.values(), 0)  # number of open marks of each kind
        self._pieces: list[str] = []
        self._linked = 0  # characters of them inside links
        self._marks: list[Mark] = []

    def run(self, root: Document | Element) -> None:  # noqa: C901, PLR0912, PLR0915 - a page's innermost loop
        """Visit all nodes without recursion, so that depth uses no stack."""
        role_of, names, declared = self._roles.get, self._names, self._declared
        within, reading, end_block = self._within, self._items.reading, self._end_block
        boxes, texts, images = self._boxes, self._texts, self.layout.images
        tags, parents, ends, pieces = boxes.tags, boxes.parents, boxes.ends, self._pieces
        box, kind = 0, ""
        nodes: Iterator[Any] = iter([root]) if isinstance(root, Element) else iter(root)
        above: list[tuple[Iterator[Any], int, str]] = []
        while not self.is_full:
            for node in nodes:
                type_ = type(node)  # final classes: `type() is` is faster than isinstance()
                if type_ is Text:
                    data = node.data
                elif type_ is Element:
                    tag = node.tag
                    role, made, hints = role_of(tag) or (_CUSTOM if "-" in tag else _PLAIN)
                    if role <= _BREAKS:
                        if role == _IMAGE:
                            images.append((len(texts) + bool(pieces), box, node))
                        elif role == _BREAKS and pieces:
                            pieces = self._break(box, kind)
                            if len(texts) >= MAX_BLOCKS:
                                break
                        continue
                    if role == _INLINE:
                        hints = names[node.attr("class")]
                        if node in declared:
                            hints |= declared[node]
                        if hints & APART:
                            role = _APART
                    if role <= _BOX:
                        if pieces:
                            pieces = end_block(box, kind)
                        passed = self._open_box(node, tag, role, made or kind, box, hints)
                        if passed == _READ:
                            continue
                        if passed > 0:
                            next(islice(nodes, passed - 1, passed - 1), None)
                            continue
                        if passed == _ENTERED:
                            above.append((nodes, _BOX, kind))
                            nodes = iter(node)
                            box, kind = len(tags) - 1, made or kind
                        break
                    size = len(node)
                    if size > 1 or (size and type(only := node[0]) is not Text):
                        if role == _MARK:
                            self._begin(made, len(pieces), node)
                        above.append((nodes, role, made))
                        nodes = iter(node)
                        break
                    data = only.data if size else ""
                    if role == _MARK and not within[made]:
                        self._add_marked(made, data, node)
                        continue
                    if not size:
                        continue
                else:
                    continue
                if not data.isspace():
                    pieces.append(data)
                    if within["a"]:
                        self._linked += len(data)
                elif pieces:
                    pieces.append(" ")
            else:
                if not above:
                    break
                nodes, role, made = above.pop()
                if role == _BOX:
                    if pieces:
                        pieces = end_block(box, kind)
                    ends[box] = len(texts)
                    if reading and reading[-1][0] == box:
                        self._end_list()
                    box, kind = parents[box], made
                elif role == _MARK:
                    self._end(made, len(pieces))
        self._finish(box, kind)

    def _open_box(  # noqa: C901, PLR0912, PLR0917 - called for every box
        self, node: Element, tag: str, role: int, kind: str, parent: int, hints: int
    ) -> int:
        """Add a box and, if it holds only a text, its block.

        Returns whether it was _READ, was _ENTERED or is the _LAST, or the number of nodes that were
        read with it.
        """
        boxes, texts = self._boxes, self._texts
        is_plain = not (self._open or self._marks)  # no mark continues inside it
        name: str | None = None
        if role == _BOX:
            if tag == "li" and self._items.reading:
                if not is_plain:
                    self._items.reading.clear()  # text before an item changes how it is read
                elif passed := self._items.recall(node, parent):
                    return passed
            name = node.attr("class")
            if name:
                hints |= self._names[name]
            if node in self._box_hints:
                hints |= self._box_hints[node]
        number, start = len(boxes.tags), len(texts)
        boxes.tags.append(tag)
        boxes.parents.append(parent)
        boxes.starts.append(start)
        boxes.ends.append(start)
        if hints:
            boxes.hints[number] = hints
        if name:
            boxes.names[number] = name
        if self._spans and node in self._spans:
            boxes.spans[number] = self._spans[node]
        if self._numbers and node in self._numbers:
            boxes.numbers[number] = self._numbers[node]
        if number >= _LAST_BOX or start >= MAX_BLOCKS:
            self.is_full = True
            return _ENTERED
        size = len(node)
        if size > 1 or (size and type(only := node[0]) is not Text):
            if tag in LISTS and is_plain and self._items.recall_list(node, number):
                boxes.ends[number] = len(texts)
                return _READ
            return _ENTERED
        data = only.data if size else ""  # type: ignore[attr-defined]
        if not data or data.isspace():
            return _READ
        boxes.ends[number] = start + 1
        self._add_only(number, kind, data, is_plain=is_plain)
        self.is_full = start + 1 >= MAX_BLOCKS
        return _LAST if self.is_full else _READ

    def _add_only(self, box: int, kind: str, data: str, *, is_plain: bool) -> None:
        """Add the only text of a box as a block."""
        if not is_plain or kind == "pre":
            self._add(box, kind, [data], len(data) if self._within["a"] else 0, self._marks)
            self._marks = []
            return
        blocks = self.layout.blocks  # the same, with nothing to join
        blocks.kinds.append(kind)
        blocks.boxes.append(box)
        blocks.linked.append(0)
        blocks.texts.append(collapsed(data) if len(data) >= LONG else " ".join(data.split()))

    def _end_list(self) -> None:
        """Remember the items of a list, unless a mark continues behind it."""
        if self._marks:
            self._items.reading.clear()  # later blocks would miss them
        else:
            self._items.remember()

    def _break(self, box: int, kind: str) -> list[str]:
        """Read a line break: one ends a line, two in a row end a paragraph."""
        pieces = self._pieces
        last = next((piece for piece in reversed(pieces) if piece != " "), "")
        if last != BREAK:
            pieces.append(BREAK)
            return pieces
        return self._end_block(box, kind)

    def _add_marked(self, mark: str, data: str, element: Element) -> None:
        """Add the only text of an element that marks it."""
        pieces = self._pieces
        place = len(pieces)
        if data and not data.isspace():
            pieces.append(data)
            if mark == "a" or self._within["a"]:
                self._linked += len(data)
        elif data and pieces:
            pieces.append(" ")
        self._marks.append((place, len(pieces), mark, _value(mark, element)))

    def _begin(self, mark: str, place: int, element: Element) -> None:
        if not self._within[mark]:  # a nested mark of the same kind adds nothing
            self._open.append((mark, _value(mark, element)))
            self._begun.append(place)
        self._within[mark] += 1

    def _end(self, mark: str, place: int) -> None:
        self._within[mark] -= 1
        if not self._within[mark]:
            self._marks.append((self._begun.pop(), place, *self._open.pop()))

    def _end_block(self, box: int, kind: str) -> list[str]:
        """Add the block that was read; returns the pieces of the next one."""
        self._add(box, kind, self._pieces, self._linked, self._marks)
        self._pieces, self._linked, self._marks = [], 0, []
        self.is_full = len(self._texts) >= MAX_BLOCKS
        return self._pieces

    def _add(self, box: int, kind: str, pieces: list[str], linked: int, marks: list[Mark]) -> None:
        """Add a block; marks still open continue in the next one."""
        joined = "".join(pieces)
        text = _as_written(joined) if kind == "pre" else collapsed(joined)
        if self._open:
            for mark, start in zip(reversed(self._open), reversed(self._begun), strict=True):
                marks.append((start, len(pieces), *mark))
            self._begun = [0] * len(self._open)
        if text:
            blocks = self.layout.blocks
            if marks:
                blocks.markup[len(blocks.texts)] = (pieces, marks)
            blocks.kinds.append(kind)
            blocks.boxes.append(box)
            blocks.texts.append(text)
            blocks.linked.append(min(linked, len(text)) if linked else 0)

    def _finish(self, box: int, kind: str) -> None:
        """End the last block and all boxes that are still open."""
        if self._pieces:
            self._end_block(box, kind)
        boxes, end = self.layout.boxes, len(self.layout.blocks.texts)
        while box >= 0:
            boxes.ends[box] = end
            box = boxes.parents[box]


def _value(mark: str, element: Element) -> str:
    if mark == "a":
        return element.attr("href") or ""
    return (element.attr("class") or element.attr("data-lang") or "") if mark == "code" else ""


def _as_written(joined: str) -> str:
    text = joined.replace(BREAK, "\n").strip("\n")
    return text if text.strip() else ""
