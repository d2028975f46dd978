"""The single walk over a page's tree that finds its boxes and blocks.

It visits every node of every page, so its loop is written for speed: everything it needs is in
locals, an element's tag is looked up once, and an element that holds only a text is read on the
spot. It does not decide what is content.
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
_PASSED_OVER: Final = 0
_BREAKS: Final = 1
_HOLDS_ALL: Final = 2
_BOX: Final = 3
_INLINE: Final = 4
_MARK: Final = 5

_Role = tuple[int, str, int]  # effect; kind of block or mark; hints
_CUSTOM: _Role = (_BOX, "", 0)
_PLAIN: _Role = (_INLINE, "", 0)
_WHOLE: dict[str, _Role] = {
    **{tag: (_BOX, tag if tag in KINDS else "", BY_TAG.get(tag, 0)) for tag in _BOXES},
    **dict.fromkeys(_ALL, (_HOLDS_ALL, "", 0)),
    **dict.fromkeys(_UNSEEN, (_PASSED_OVER, "", 0)),
    **{tag: (_MARK, mark, 0) for tag, mark in _MARKS.items()},
    "br": (_BREAKS, "", 0),
}
_FRAMED: dict[str, _Role] = _WHOLE | dict.fromkeys(_FRAME, (_PASSED_OVER, "", 0))
_LAST_BOX = MAX_BOXES - 1


def read_layout(
    root: Document | Element, lists: Lists | None = None, *, whole: bool = False
) -> Layout:
    """Return the boxes and blocks of a page or part of it; `whole` includes its frame."""
    lists = lists or Lists()
    walk = _Walk(lists.memory.part(Names))
    if whole:
        walk.run(root, _WHOLE, None)  # items are remembered without any frame inside them
    else:
        walk.run(root, _FRAMED, lists)
    walk.layout.blocks.sizes = list(map(len, walk.layout.blocks.texts))
    return walk.layout


class _Walk:
    """The state of a walk; what the loop changes at every node is local to it."""

    __slots__ = ("_begun", "_blocks", "_names", "_open", "_within", "layout")

    def __init__(self, names: Names) -> None:
        self._names = names
        self.layout = Layout()
        self._blocks = self.layout.blocks
        self._open: list[tuple[str, str]] = []  # open marks, outermost first
        self._begun: list[int] = []  # the pieces they start with
        self._within = dict.fromkeys(_MARKS.values(), 0)  # number of open marks of each kind

    def run(self, root: Document | Element, roles: dict[str, _Role], lists: Lists | None) -> None:  # noqa: C901, PLR0912, PLR0915 - a call per node would cost more than the work itself
        """Visit all nodes without recursion, so that depth uses no stack."""
        declared, box_hints, spanned = declared_hints(root, self._names)
        boxes, blocks = self.layout.boxes, self.layout.blocks
        tags, parents, starts, ends = boxes.tags, boxes.parents, boxes.starts, boxes.ends
        hints_of, texts, add = boxes.hints, blocks.texts, self._add
        kinds_of, boxes_of, linked_of = blocks.kinds, blocks.boxes, blocks.linked
        open_, within, names, role_of = self._open, self._within, self._names, roles.get
        items = Items(self.layout, lists)
        reading = items.reading
        box, kind = 0, ""
        pieces: list[str] = []
        marks: list[Mark] = []
        linked = 0
        broken = False  # whether the last node was a line break
        full = False
        nodes: Iterator[Any] = iter([root]) if isinstance(root, Element) else iter(root)
        above: list[tuple[Iterator[Any], int, str]] = []
        while not full:
            for node in nodes:
                type_ = type(node)  # final classes: `type() is` is faster than isinstance()
                if type_ is Text:
                    data = node.data
                elif type_ is Element:
                    tag = node.tag
                    role, made, hints = role_of(tag) or (_CUSTOM if "-" in tag else _PLAIN)
                    if role <= _BREAKS:
                        if role == _PASSED_OVER:
                            continue
                        # One ends a line, two in a row end a paragraph.
                        if broken:
                            add(box, kind, pieces, linked, marks)
                            pieces, linked, marks, broken = [], 0, [], False
                            if len(texts) >= MAX_BLOCKS:
                                full = True
                                break
                        elif pieces:
                            pieces.append(BREAK)
                            broken = True
                        continue
                    size = len(node)
                    if size == 1:
                        only = node[0]
                        # From here on, 1 marks elements that hold only a text.
                        if type(only) is not Text:
                            size = 2
                    if role <= _BOX:
                        if pieces:
                            add(box, kind, pieces, linked, marks)
                            pieces, linked, marks, broken = [], 0, [], False
                        is_plain = not (open_ or marks)  # no mark continues inside it
                        if role == _BOX:
                            if tag == "li" and reading:
                                if is_plain:
                                    passed = items.recall(node, box)
                                    if passed:
                                        next(islice(nodes, passed - 1, passed - 1), None)
                                        continue
                                else:
                                    reading.clear()  # text before an item changes how it is read
                            name = node.attr("class")
                            if name:
                                hints |= names[name]
                            if node in box_hints:
                                hints |= box_hints[node]
                    elif role == _INLINE:
                        hints = names[node.attr("class")]
                        if node in declared:
                            hints |= declared[node]
                        if hints & APART:
                            role = _BOX
                            if pieces:
                                add(box, kind, pieces, linked, marks)
                                pieces, linked, marks, broken = [], 0, [], False
                            is_plain = not (open_ or marks)
                    if role <= _BOX:
                        number, start = len(tags), len(texts)
                        tags.append(tag)
                        parents.append(box)
                        starts.append(start)
                        if hints:
                            hints_of[number] = hints
                        if spanned and node in spanned:
                            boxes.spans[number] = spanned[node]
                        full = number >= _LAST_BOX or start >= MAX_BLOCKS
                        if size <= 1 and not full:
                            data = only.data if size else ""
                            if not data or data.isspace():
                                ends.append(start)
                                continue
                            ends.append(start + 1)
                            if is_plain and made != "pre" and kind != "pre":
                                # Same as adding it, with nothing to join.
                                kinds_of.append(made or kind)
                                boxes_of.append(number)
                                linked_of.append(0)
                                texts.append(
                                    collapsed(data) if len(data) >= LONG else " ".join(data.split())
                                )
                            else:
                                size = len(data) if within["a"] else 0
                                add(number, made or kind, [data], size, marks)
                                marks = []
                            if start + 1 >= MAX_BLOCKS:
                                full = True
                                break
                            continue
                        ends.append(start)
                        if tag in LISTS and is_plain and items.recall_list(node, number):
                            ends[number] = len(texts)
                            continue
                        above.append((nodes, _BOX, kind))
                        nodes = iter(node)
                        box, kind = number, made or kind
                        break
                    if size > 1:
                        if role == _MARK:
                            self._begin(made, len(pieces), node)
                        above.append((nodes, role, made))
                        nodes = iter(node)
                        break
                    data = only.data if size else ""
                    if role == _MARK and not within[made]:
                        place = len(pieces)
                        if data and not data.isspace():
                            pieces.append(data)
                            broken = False
                            if made == "a" or within["a"]:
                                linked += len(data)
                        elif data and pieces:
                            pieces.append(" ")
                        marks.append((place, len(pieces), made, _value(made, node)))
                        continue
                    if not size:
                        continue
                else:
                    continue
                if not data.isspace():
                    pieces.append(data)
                    broken = False
                    if within["a"]:
                        linked += len(data)
                elif pieces:
                    pieces.append(" ")
            else:
                if not above:
                    break
                nodes, role, made = above.pop()
                if role == _BOX:
                    if pieces:
                        add(box, kind, pieces, linked, marks)
                        pieces, linked, marks, broken = [], 0, [], False
                    ends[box] = len(texts)
                    if reading and reading[-1][0] == box:
                        if marks:
                            reading.clear()  # later blocks would miss them
                        else:
                            items.remember()
                    box, kind = parents[box], made
                    full = len(texts) >= MAX_BLOCKS
                elif role == _MARK:
                    self._end(made, len(pieces), marks)
        if pieces:
            add(box, kind, pieces, linked, marks)
        while box >= 0:
            ends[box] = len(texts)
            box = parents[box]

    def _begin(self, mark: str, place: int, element: Element) -> None:
        if not self._within[mark]:  # a nested mark of the same kind adds nothing
            self._open.append((mark, _value(mark, element)))
            self._begun.append(place)
        self._within[mark] += 1

    def _end(self, mark: str, place: int, marks: list[Mark]) -> None:
        self._within[mark] -= 1
        if not self._within[mark]:
            marks.append((self._begun.pop(), place, *self._open.pop()))

    def _add(self, box: int, kind: str, pieces: list[str], linked: int, marks: list[Mark]) -> None:
        """End the block and start the next with the marks still open."""
        joined = "".join(pieces)
        text = _as_written(joined) if kind == "pre" else collapsed(joined)
        if self._open:
            for mark, start in zip(reversed(self._open), reversed(self._begun), strict=True):
                marks.append((start, len(pieces), *mark))
            self._begun = [0] * len(self._open)
        if text:
            blocks = self._blocks
            if marks:
                blocks.markup[len(blocks.texts)] = (pieces, marks)
            blocks.kinds.append(kind)
            blocks.boxes.append(box)
            blocks.texts.append(text)
            blocks.linked.append(min(linked, len(text)) if linked else 0)


def _value(mark: str, element: Element) -> str:
    return (element.attr("href") or "") if mark == "a" else ""


def _as_written(joined: str) -> str:
    text = joined.replace(BREAK, "\n").strip("\n")
    return text if text.strip() else ""
