"""Kept blocks as plain text and as markdown: headings, lists, quotes, code and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress, groupby
from typing import NamedTuple

from messor.extract.main.blocks import Block, Box, Layout
from messor.extract.main.inline import Inline, fence_for

_LEVELS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_PLACED = _LISTS | {"li", "blockquote", "table", "tr", "td", "th"}
# A cell with more than this makes a table a means of layout.
_MAX_CELL = 400
_MAX_COLUMNS = 30
_MAX_DEPTH = 6


class _Place(NamedTuple):
    """Where a box stands: the numbers are those of boxes, -1 for none."""

    quotes: int = 0
    depth: int = 0  # of lists within each other
    list_: int = -1
    item: int = -1
    table: int = -1
    row: int = -1
    cell: int = -1


_OUTSIDE = _Place()


class Places:
    """The places of boxes, found when asked for: most boxes hold nothing that is kept."""

    def __init__(self, layout: Layout) -> None:
        self._boxes = layout.boxes
        self._known = {-1: _OUTSIDE}

    def of(self, number: int) -> _Place:
        above = []
        while number not in self._known:
            above.append(number)
            number = self._boxes[number].parent
        place = self._known[number]
        while above:
            number = above.pop()
            box = self._boxes[number]
            if box.tag in _PLACED:
                place = _placed(place, box, number)
            self._known[number] = place
        return place


def _placed(place: _Place, box: Box, number: int) -> _Place:
    if box.tag in _LISTS:
        return place._replace(depth=min(place.depth + 1, _MAX_DEPTH), list_=number, item=-1)
    if box.tag == "li":
        return place._replace(depth=max(place.depth, 1), item=number)
    if box.tag == "blockquote":
        return place._replace(quotes=min(place.quotes + 1, _MAX_DEPTH))
    if box.tag == "table":
        return _Place(quotes=place.quotes, table=number)
    if box.tag == "tr":
        return place._replace(row=number, cell=-1)
    return place._replace(cell=number)


def render_text(layout: Layout, kept: Sequence[int], places: Places) -> str:
    """One block a line; the cells of a row share one."""
    lines: list[str] = []
    last = _OUTSIDE
    for number in kept:
        block = layout.blocks[number]
        place = places.of(block.box)
        if place.row >= 0 and place.row == last.row and place.table == last.table:
            lines[-1] += ("\t" if place.cell != last.cell else " ") + block.text
        else:
            lines.append(block.text)
        last = place
    return "\n".join(lines)


def render_markdown(layout: Layout, kept: Sequence[int], places: Places, url: str) -> str:
    """The same as markdown; addresses are made absolute against `url`."""
    writer = _Writer(layout, places, Inline(url))
    for table, numbers in groupby(kept, lambda number: writer.place_of(number).table):
        blocks = [layout.blocks[number] for number in numbers]
        if table < 0 or not writer.write_table(table, blocks):
            for block in blocks:
                writer.write(block)
    return writer.finish()


class _Writer:
    def __init__(self, layout: Layout, places: Places, inline: Inline) -> None:
        self._layout = layout
        self._inline = inline
        self._places = places
        self._parts: list[str] = []
        self._last = _OUTSIDE
        self._numbers: dict[int, int] = {}  # of the last item in each ordered list

    def place_of(self, number: int) -> _Place:
        return self._places.of(self._layout.blocks[number].box)

    def finish(self) -> str:
        return "".join(self._parts).strip("\n")

    def write(self, block: Block) -> None:
        place = self._places.of(block.box)
        level = _LEVELS.get(block.kind, 0)
        if block.kind == "pre":
            text = _fenced(block.text)
        else:
            text = self._inline.render(block, emphasis=not level)
            if block.kind == "dt":
                text = f"**{text}**"
        if not text:
            return
        if place.item >= 0:
            self._write_item(place, f"**{text}**" if level else text)
        else:
            if level:
                text = f"{'#' * level} " + text.replace("\n", " ")
            self._put(place, text, "")
        self._last = place

    def _write_item(self, place: _Place, text: str) -> None:
        indent = "    " * (place.depth - 1)
        if place.item == self._last.item:
            self._put(place, text, indent + "    ")
            return
        marker = self._marker(place)
        lines = text.split("\n")
        first = f"{indent}{marker}{lines[0]}"
        body = "\n".join([first, *(f"{indent}    {line}" for line in lines[1:])])
        self._put(place, body, "", close=self._last.item >= 0)

    def _marker(self, place: _Place) -> str:
        if place.list_ >= 0 and self._layout.boxes[place.list_].tag == "ol":
            number = self._numbers[place.list_] = self._numbers.get(place.list_, 0) + 1
            return f"{number}. "
        return "- "

    def _put(self, place: _Place, text: str, indent: str, *, close: bool = False) -> None:
        quote = "> " * place.quotes
        lines = [f"{quote}{indent}{line}".rstrip() for line in text.split("\n")]
        if self._parts:
            # A quote that goes on is one quote: its paragraphs are parted within it.
            shared = "> " * min(place.quotes, self._last.quotes)
            self._parts.append("\n" if close else f"\n{shared.rstrip()}\n")
        self._parts.append("\n".join(lines))

    def write_table(self, table: int, blocks: Sequence[Block]) -> bool:
        """Write a table that holds data; False for one that lays out the page."""
        held: dict[int, list[Block]] = {}
        for block in blocks:
            held.setdefault(self._places.of(block.box).cell, []).append(block)
        if any(sum(len(block.text) for block in cell) > _MAX_CELL for cell in held.values()):
            return False
        rows = [cells for cells in self._cells(table) if any(cell in held for cell in cells)]
        width = max(map(len, rows), default=0)
        if len(rows) < 2 or not 2 <= width <= _MAX_COLUMNS or -1 in held:
            return False
        cells = [[self._cell(held.get(cell, [])) for cell in row] for row in rows]
        full = _full_columns(cells, width)
        full.insert(1, ["---"] * len(full[0]))
        lines = [_table_row(row) for row in full]
        place = self._places.of(blocks[0].box)
        self._put(place, "\n".join(lines), "")
        self._last = place
        return True

    def _cells(self, table: int) -> list[list[int]]:
        """The cells of each row, empty ones too; none for a table around another."""
        boxes = self._layout.boxes
        rows: dict[int, list[int]] = {}
        for number in range(table + 1, len(boxes)):
            box = boxes[number]
            if box.parent < table:
                break
            if box.tag == "table":
                return []
            if box.tag in ("td", "th"):
                rows.setdefault(box.parent, []).append(number)
        return list(rows.values())

    def _cell(self, blocks: Sequence[Block]) -> str:
        return " ".join(self._inline.render(block).replace("\n", " ") for block in blocks)


def _full_columns(rows: Sequence[list[str]], width: int) -> list[list[str]]:
    """Rows of one length, without the columns that are empty in all of them."""
    padded = [row + [""] * (width - len(row)) for row in rows]
    full = [any(row[column] for row in padded) for column in range(width)]
    return [list(compress(row, full)) for row in padded]


def _table_row(cells: Iterable[str]) -> str:
    inner = " | ".join(cell.replace("|", "\\|") for cell in cells)
    return f"| {inner} |"


def _fenced(text: str) -> str:
    fence = fence_for(text, 3)
    return f"{fence}\n{text}\n{fence}"
